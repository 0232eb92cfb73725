"""Workflows in Python files that a person has run here before.

A session names its workflow, never a file: so a session that was imported from elsewhere cannot choose what code runs.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import cast

from belayer.vocabulary.errors import ConfigurationError, UnknownWorkflow
from belayer.workflows.workflow import Workflow, workflows_in


def load(path: Path, name: str | None = None) -> Workflow:
    """The workflow of a file: the one that is named, or the only one there is."""
    found = {workflow.name: workflow for workflow in _workflows_of(path)}
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name is None or name not in found:
        wanted = f"no workflow {name!r}" if name else f"{len(found)} workflows"
        raise UnknownWorkflow(
            f"{path} has {wanted}.",
            f"Name one of: {', '.join(f'{path}:{known}' for known in found)}."
            if found
            else "A workflow is a public async function whose first parameter is called run.",
        )
    return found[name]


def _workflows_of(path: Path) -> list[Workflow]:
    module_name = f"belayer_workflow_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ConfigurationError(
            f"{path} is not a Python file.", "Give the path of a .py file with a workflow."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as for `python file.py`: it may import its neighbours
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"{path} cannot be loaded: {type(error).__name__}: {error}", "Correct the file, then try again."
        ) from error
    return workflows_in(vars(module), module_name)


class KnownFiles:
    """Which file a workflow's name stands for, as the last person to run it said."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def remember(self, workflow: str, file: Path) -> None:
        known = self._read()
        known[workflow] = str(file.resolve())
        self._path.parent.mkdir(parents=True, exist_ok=True)
        aside = self._path.with_suffix(".new")
        aside.write_text(json.dumps(known, indent=2), encoding="utf-8")
        aside.replace(self._path)

    def names(self) -> list[str]:
        """The workflows that were run here before."""
        return sorted(self._read())

    def load(self, workflow: str) -> Workflow:
        """Load a workflow that was run here before."""
        known = self._read()
        if workflow not in known:
            raise UnknownWorkflow(
                f"No file with the workflow {workflow!r} has been run here.",
                "Run it once with `belayer run FILE`, then resume this session.",
            )
        return load(Path(known[workflow]), workflow)

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise self._unreadable(str(error)) from error
        if not isinstance(known, dict):
            raise self._unreadable("it is no object")
        return {str(name): str(file) for name, file in cast("dict[object, object]", known).items()}

    def _unreadable(self, why: str) -> ConfigurationError:
        return ConfigurationError(
            f"{self._path} cannot be read: {why}.",
            "Remove it, then run each workflow's file once to name it again.",
        )
