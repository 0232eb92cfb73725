"""Which code a session runs: a file that a person names, a workflow that comes with Belayer, or one run here before."""

import os
from collections.abc import Mapping
from pathlib import Path

from belayer.vocabulary.errors import ConfigurationError, UnknownWorkflow
from belayer.workflows.files import KnownFiles, load
from belayer.workflows.plan.workflow import NAME as PLAN
from belayer.workflows.survey import survey
from belayer.workflows.workflow import Workflow, as_workflow

BUILT_IN: Mapping[str, Workflow] = {workflow.name: workflow for workflow in [as_workflow(survey)]}

# What has to be loaded to drive a session. Nothing for a plan: every engine can carry those out.
Code = tuple[Workflow, ...]


def workflow_for(target: str, home: Path) -> Workflow:
    """The workflow that `path/file.py`, `path/file.py:function` or a name stands for; a file is remembered."""
    path, function = _parted(target)
    if path is None:
        return _started_by_name(target, home)
    workflow = load(path, function)
    if workflow.name in BUILT_IN or workflow.name == PLAN:
        raise ConfigurationError(
            f"{path} has a workflow called {workflow.name}, and so has Belayer itself.",
            "Rename the function, so that its sessions can be told apart.",
        )
    _known(home).remember(workflow.name, path)
    return workflow


def _started_by_name(name: str, home: Path) -> Workflow:
    try:
        return _named(name, home)
    except UnknownWorkflow as error:
        raise UnknownWorkflow(
            f"There is no workflow {name!r} here.",
            "Name a plan (belayer run plan.yaml), a Python file with a workflow (belayer run flow.py),"
            f" or one of: {', '.join(BUILT_IN)}.",
        ) from error


def code_named(name: str, home: Path) -> Code:
    """The code of sessions by the name that they know it by."""
    return () if name == PLAN else (_named(name, home),)


def known_names(home: Path) -> list[str]:
    """The workflows that come with Belayer, and those that were run here before."""
    return [*BUILT_IN, *_known(home).names()]


def _named(name: str, home: Path) -> Workflow:
    return BUILT_IN[name] if name in BUILT_IN else _known(home).load(name)


def _parted(target: str) -> tuple[Path | None, str | None]:
    path, colon, function = target.rpartition(":")
    if colon and path.endswith(".py"):
        return Path(path), function
    if target.endswith(".py") or os.sep in target:
        return Path(target), None
    return None, None


def _known(home: Path) -> KnownFiles:
    return KnownFiles(home / "workflows.json")
