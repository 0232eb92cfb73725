"""Python: how its source becomes facts, and where its imports lead."""

import sys
from collections.abc import Iterator

from belayer.codegraph.facts import Definition, Facts, Shape
from belayer.codegraph.languages.language import Project
from belayer.codegraph.languages.python_reader import read

_STANDARD = frozenset(sys.stdlib_module_names)
_PACKAGE_FILE = "__init__.py"
_PROJECT_FILES = ("pyproject.toml", "setup.cfg")
_SOURCE_FOLDERS = ("src", "lib", "python")


class Python:
    """The Python language."""

    name = "python"
    suffixes: tuple[str, ...] = (".py", ".pyi")
    manifests: tuple[str, ...] = _PROJECT_FILES
    names_see_members = False

    def read(self, path: str, source: bytes) -> Facts:
        """The facts of a file; broken ones if it is beyond reading."""
        try:
            return read(path, source)
        except RecursionError:
            return Facts(path, self.name, (Definition(Shape.MODULE, "", -1, 1, 1),), is_broken=True)

    def module_name(self, path: str, project: Project) -> str:
        """The dotted name from the topmost package on; outside of packages, from the source folder on."""
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        root = _outside_packages(folder, project)
        if root == folder:
            root = next((f"{top}" for top in _SOURCE_FOLDERS if f"{folder}/".startswith(f"{top}/")), "")
        inside = folder[len(root) :].strip("/") if root else folder
        parts = [*(inside.split("/") if inside else []), *([] if stem == "__init__" else [stem])]
        return ".".join(parts) or stem

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        """The file of a module, or the folder of a package without one (with a slash at its end)."""
        folder = importer.rpartition("/")[0]
        name = spec.lstrip(".")
        if len(name) != len(spec):
            for _ in range(len(spec) - len(name) - 1):
                folder = folder.rpartition("/")[0]
            return tuple(_at(folder, name, project))
        for root in _roots(folder, name, project):
            found = tuple(_at(root, name, project))
            if found:
                return found
        return ()

    def visible(self, facts: Facts, project: Project) -> tuple[str, ...]:  # noqa: ARG002 - a language may need both
        """Nothing is known in a file that it does not import."""
        return ()


def _at(root: str, name: str, project: Project) -> Iterator[str]:
    """The module of a dotted name below a folder."""
    path = "/".join(part for part in (root, *name.split(".")) if part)
    files = (f"{path}.py", f"{path}/{_PACKAGE_FILE}", f"{path}.pyi", f"{path}/{_PACKAGE_FILE}i")
    if not name:
        files = (f"{path}/{_PACKAGE_FILE}".lstrip("/"),)
    found = next((file for file in files if project.has(file)), None)
    if found is not None:
        yield found
    elif project.folder(path):
        yield f"{path}/"


def _roots(folder: str, name: str, project: Project) -> Iterator[str]:
    """The folders that a program may have on its path, likeliest first.

    Folders inside of packages are not among them, so that `import logging` beside a logging.py means Python's own; only
    a name that is nothing of Python's is looked for there in the end, for programs that are started in their folder.
    """
    above = list(_upwards(folder))
    packages = [each for each in above if each and project.has(f"{each}/{_PACKAGE_FILE}")]
    plain = [each for each in above if each not in packages]
    yield from plain
    for each in reversed(plain):
        yield from (f"{each}/{top}".lstrip("/") for top in _SOURCE_FOLDERS)
    for manifest in _PROJECT_FILES:
        for path in project.manifest(manifest):
            home = path.rpartition("/")[0]
            yield from (home, f"{home}/src".lstrip("/"))
    if name.partition(".")[0] not in _STANDARD:
        yield from packages


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _outside_packages(folder: str, project: Project) -> str:
    while folder and project.has(f"{folder}/{_PACKAGE_FILE}"):
        folder = folder.rpartition("/")[0]
    return folder


PYTHON = Python()
