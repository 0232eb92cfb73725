"""The tools an engine has, by name. `files` with an `action` is the same as `files.<action>`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from pydantic import ValidationError

from belayer.tools.tool import AnyTool, Given
from belayer.vocabulary.errors import UnknownTool
from belayer.vocabulary.events.event import Json

Path = tuple[str | int, ...]


class Toolbox:
    """Knows every tool, and what each takes."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def names(self) -> list[str]:
        return sorted(self._tools)

    def tools(self) -> list[AnyTool]:
        return [self._tools[name] for name in self.names()]

    def named(self, name: str) -> AnyTool:
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(f"There is no tool {name!r} here.", self._instead_of(name))
        return tool

    def resolve(self, name: str, params: Mapping[str, Json]) -> tuple[AnyTool, Given]:
        """The tool that a call means, and its parameters."""
        action = params.get("action")
        if name not in self._tools and isinstance(action, str) and f"{name}.{action}" in self._tools:
            return self._tools[f"{name}.{action}"], {
                key: value for key, value in params.items() if key != "action"
            }
        return self.named(name), dict(params)

    def _instead_of(self, name: str) -> str:
        actions = [known for known in self.names() if known.startswith(f"{name}.")]
        close = get_close_matches(name, self.names(), 1)
        if close and not actions:
            return f"Did you mean {close[0]}?"
        return f"There are: {', '.join(actions or self.names())}."

    def knows(self, name: str, params: Mapping[str, Json]) -> bool:
        try:
            self.resolve(name, params)
        except UnknownTool:
            return False
        return True

    def problems(
        self, name: str, params: Mapping[str, Json], templated: Collection[Path] = ()
    ) -> list[tuple[Path, str]]:
        """What is wrong with a call's parameters, and where; nothing is said of what only a template will fill in."""
        tool, given = self.resolve(name, params)
        try:
            tool.params.model_validate(given)
        except ValidationError as error:
            found = [(_place(item["loc"], given), item["msg"]) for item in error.errors(include_url=False)]
            return [(place, what) for place, what in found if not _is_templated(place, templated)]
        return []


def _place(loc: Sequence[str | int], given: Given) -> Path:
    """The part of an error's location that leads into what was given: pydantic adds names of its own to it."""
    place: list[str | int] = []
    value: Json = {**given}
    for part in loc:
        match value, part:
            case dict(), str() if part in value or not place:
                value = value.get(part)
            case list(), int() if part < len(value):
                value = value[part]
            case _:
                continue
        place.append(part)
    return tuple(place)


def _is_templated(place: Path, templated: Collection[Path]) -> bool:
    """Whether a template stands at this place, above it or below it."""
    if not place:
        return bool(templated)
    return any(path[: len(place)] == place or place[: len(path)] == path for path in templated)
