"""An async function `(run, …)` as something that can be started by name with JSON, and refused with a reason."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from belayer.execution.run import Run
from belayer.vocabulary.errors import ConfigurationError, UnfitInput, UnknownWorkflow, Unrecordable
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.plain import plain

Call = Callable[..., Awaitable[Any]]
_WORKFLOWS_KNOWN = 1_000
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Workflow:
    """A named async function whose first parameter is its run."""

    name: str
    call: Call
    check: Callable[[Mapping[str, Any]], None] | None = None
    in_workspace: bool = False

    async def __call__(self, run: Run, given: Json) -> Any:
        return await self.call(run, **self.arguments(given))

    def bind(self, *args: Any, **kwargs: Any) -> Json:
        """Arguments as they are recorded: an object by name. Raises UnfitInput when they do not fit."""
        names = list(_parameters(self.call))
        twice = [name for name in names[: len(args)] if name in kwargs]
        if len(args) > len(names) or twice:
            what = (
                f"{', '.join(twice)} given twice"
                if twice
                else f"{len(args)} arguments given, {len(names)} taken"
            )
            raise self._unfit(what)
        try:
            given = plain({**dict(zip(names, args, strict=False)), **kwargs})
        except Unrecordable as error:
            raise self._unfit(error.detail) from error
        self.arguments(given)
        return given

    def arguments(self, given: Json) -> dict[str, Any]:
        """The arguments in the types the function asks for. Raises UnfitInput with every problem at once."""
        parameters = _parameters(self.call)
        values = {} if given is None else given
        if not isinstance(values, dict):
            raise self._unfit("the input must be an object with one member per parameter")
        problems = [f"{name} is unknown" for name in values if name not in parameters]
        arguments: dict[str, Any] = {}
        for name, (reader, required) in parameters.items():
            if name not in values:
                problems += [f"{name} is missing"] if required else []
                continue
            try:
                arguments[name] = reader.validate_python(values[name])
            except ValidationError as error:
                problems.append(f"{name}: {error.errors(include_url=False)[0]['msg']}")
        if problems:
            raise self._unfit("; ".join(problems))
        return arguments

    def refuse_unfit(self, given: Json) -> None:
        """Raise UnfitInput unless the workflow could be started with this."""
        arguments = self.arguments(given)
        if self.check is not None:
            self.check(arguments)

    def _unfit(self, what: str) -> UnfitInput:
        names = ", ".join(_parameters(self.call)) or "nothing"
        return UnfitInput(f"The input does not fit the workflow {self.name}: {what}.", f"It takes: {names}.")


@lru_cache(_WORKFLOWS_KNOWN)
def _signature(call: Call) -> inspect.Signature:
    return inspect.signature(call)


@lru_cache(_WORKFLOWS_KNOWN)
def _parameters(call: Call) -> dict[str, tuple[TypeAdapter[Any], bool]]:
    """What the function takes beside its run: how each is read, and whether it must be given."""
    hints = get_type_hints(call)
    _, *parameters = _signature(call).parameters.values()
    return {
        p.name: (TypeAdapter[Any](hints.get(p.name, Any)), p.default is inspect.Parameter.empty)
        for p in parameters
    }


class Workflows:
    """The workflows an engine knows, by name."""

    def __init__(self, known: Iterable[Workflow] = ()) -> None:
        self._known: dict[str, Workflow] = {workflow.name: workflow for workflow in known}

    def add(self, workflow: Workflow) -> None:
        self._known[workflow.name] = workflow

    def names(self) -> list[str]:
        return sorted(self._known)

    def named(self, name: str) -> Workflow:
        if name not in self._known:
            raise UnknownWorkflow(
                f"This engine does not know the workflow {name!r}.",
                f"It knows: {', '.join(self.names()) or 'none'}. Run the workflow's file once: `belayer run FILE`.",
            )
        return self._known[name]


def as_workflow(call: Call | Workflow) -> Workflow:
    """The function as a workflow, if it can be one."""
    if isinstance(call, Workflow):
        return call
    if not _is_workflow(call):
        raise ConfigurationError(
            f"{getattr(call, '__name__', call)!r} is not a workflow.",
            "A workflow is an async function whose first parameter is its run: async def hello(run, name: str).",
        )
    return Workflow(call.__name__, call)


def _is_workflow(call: object) -> bool:
    if not inspect.iscoroutinefunction(call):
        return False
    first = next(iter(_signature(call).parameters.values()), None)
    return first is not None and first.kind in _POSITIONAL


def workflows_in(names: Mapping[str, Any], module: str) -> list[Workflow]:
    """The public workflows that a module defines: async functions whose first parameter is called `run`."""
    return [
        Workflow(name, value)
        for name, value in names.items()
        if inspect.iscoroutinefunction(value)
        and value.__module__ == module
        and not name.startswith("_")
        and next(iter(inspect.signature(value).parameters), None) == "run"
    ]
