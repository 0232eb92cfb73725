"""A plan that lies in a file: read and checked with its lines before anything is started."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import UnfitInput
from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.check import CheckedPlan, check
from belayer.workflows.plan.source import Source, read_plan

_ENDINGS = (".yaml", ".yml", ".json")
# One more than a plan may have: then it is refused as too large, without reading what may be gigabytes.
_MOST_BYTES = 1_000_001
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What a plan's file says."""

    name: str
    source: Source

    def checked(self, tools: Toolbox, inputs: Mapping[str, Json]) -> CheckedPlan:
        """The plan ready to be carried out; UnfitPlan with every problem and its line."""
        return check(self.source, tools, inputs)

    def title(self, plan: CheckedPlan) -> str:
        return plan.plan.title or self.name[:_LONGEST_TITLE]

    def input(self, inputs: Mapping[str, Json]) -> Json:
        """What the workflow for plans takes."""
        return {"plan": self.source.data, "inputs": dict(inputs)}


def is_plan_file(target: str) -> bool:
    return target.lower().endswith(_ENDINGS)


def open_plan(path: Path) -> PlanFile:
    """Read the file; UnfitPlan with the line that cannot be taken."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as error:
        raise UnfitInput(
            f"The plan {path} cannot be read ({error.strerror}). Nothing was run.",
            "Give the path of a plan: a .yaml or .json file.",
        ) from error
    return PlanFile(path.stem, read_plan(_text(content, path), path.name))


def _text(content: bytes, path: Path) -> str:
    if len(content) == _MOST_BYTES:
        return content.decode(errors="replace")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnfitInput(
            f"The plan {path} is not a text in UTF-8 (line {line}). Nothing was run.", "Save it as UTF-8."
        ) from error
