"""Go: how to read it, and where its import paths lead (go.mod, nested modules, replaced modules)."""

import re
from collections.abc import Iterable
from functools import lru_cache

import tree_sitter_go
from tree_sitter import Node

from belayer.codegraph.facts import Facts
from belayer.codegraph.languages import ordinary
from belayer.codegraph.languages.draft import Draft, nearest
from belayer.codegraph.languages.go_declarations import DECLARATIONS
from belayer.codegraph.languages.go_expressions import EXPRESSIONS
from belayer.codegraph.languages.go_routes import Routes
from belayer.codegraph.languages.go_statements import STATEMENTS
from belayer.codegraph.languages.go_types import BODIES, OWN_PACKAGE, TYPES, GoNotes, GoWalk
from belayer.codegraph.languages.language import Project
from belayer.codegraph.languages.walk import Parsing, Walk

# Kinds below which nothing is called, named or declared.
IDLE = frozenset(
    {
        "comment",
        "escape_sequence",
        "interpreted_string_literal_content",
        "raw_string_literal_content",
        "nil",
        "iota",
    }
    | {"package_clause", "break_statement", "continue_statement", "goto_statement", "fallthrough_statement"}
    | {"label_name", "blank_identifier", "empty_statement", "field_identifier", "type_parameter_list"}
    | {"type_arguments", *BODIES, *TYPES}
)
PARSING = Parsing(tree_sitter_go.language, {**DECLARATIONS, **STATEMENTS, **EXPRESSIONS}, IDLE)

MODULE = re.compile(r'^\s*module\s+"?([^\s"]+)', re.MULTILINE)
REPLACED = re.compile(
    r'^\s*(?:replace\s+)?"?([^\s"()]+)"?(?:\s+v\S+)?\s+=>\s+"?(\.{1,2}(?:/[^\s"]*)?)"?', re.MULTILINE
)


FIRST = ("import_declaration", "type_declaration")  # so that methods find their types, wherever these stand


class Go:
    """The Go language."""

    name = "go"
    suffixes = (".go",)
    manifests = ("go.mod",)
    names_see_members = False
    ordinary = ordinary.GO

    def read(self, path: str, source: bytes) -> Facts:
        root = PARSING.parser.parse(source).root_node
        draft = Draft(path, self.name, source)
        notes = GoNotes(Routes(draft), is_test=path.endswith("_test.go"))
        walk: GoWalk = Walk(draft, PARSING.table, notes)
        first = [child for child in root.children if child.type in FIRST]
        walk.each(first)
        walk.each(child for child in root.children if child.type not in FIRST)
        draft.is_broken |= root.has_error
        return draft.facts(_package(draft, root))

    def module_name(self, path: str, project: Project) -> str:
        """The package's import path: `example.com/shop/cart`; a name in it is spoken of as `….cart.Add`."""
        folder = _folder(path)
        for root, module in _modules(project):
            if root in ("", folder) or folder.startswith(f"{root}/"):
                return _inside(module, folder[len(root) :])
        return folder

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        if spec == OWN_PACKAGE:
            return _own_package(importer, project)
        for folder in _folders(spec, importer, project):
            files = [path for path in project.in_package(folder) if not path.endswith("_test.go")]
            if files:
                return nearest(files, importer)
        return ()

    def visible(self, facts: Facts, project: Project) -> Iterable[str]:
        """The files of the same folder and package; a test's names are known to tests only."""
        files = project.in_package(facts.package)
        if not facts.path.endswith("_test.go"):
            files = tuple(path for path in files if not path.endswith("_test.go"))
        return nearest(files, facts.path)


def _own_package(path: str, project: Project) -> tuple[str, ...]:
    """All files of the package that a file belongs to, itself first."""
    folder = _folder(path)
    for package in (folder, f"{folder}:main", f"{folder}:test"):
        files = project.in_package(package)
        if path in files:
            return path, *nearest(files, path)
    return (path,)


def _package(draft: Draft, root: Node) -> str:
    """A package is its folder; programs and outside tests beside it are packages of their own."""
    clause = next((child for child in root.children if child.type == "package_clause"), None)
    name = draft.text(clause.named_children[-1]) if clause is not None and clause.named_child_count else ""
    folder = _folder(draft.path)
    if name == "main":
        return f"{folder}:main"
    return f"{folder}:test" if draft.path.endswith("_test.go") and name.endswith("_test") else folder


def _folders(spec: str, importer: str, project: Project) -> Iterable[str]:
    """The folders that an import path may mean: those of the module with the longest fitting path first."""
    found: list[tuple[int, str]] = []
    for root, module in _modules(project):
        if spec == module or spec.startswith(f"{module}/"):
            found.append((len(module), _inside(root, spec[len(module) :])))
    for path, text in project.manifest("go.mod").items():
        if _covers(_folder(path), importer):
            for name, target in _replaced(text):
                if spec == name or spec.startswith(f"{name}/"):
                    found.append((len(name), _inside(_resolved(_folder(path), target), spec[len(name) :])))
    yield from (folder for _, folder in sorted(found, key=lambda each: -each[0]))


def _modules(project: Project) -> list[tuple[str, str]]:
    """Each module's folder and path, the innermost folders first."""
    found = [(_folder(path), _module(text)) for path, text in project.manifest("go.mod").items()]
    return sorted(((root, name) for root, name in found if name), key=lambda each: (-len(each[0]), each))


@lru_cache(256)
def _module(text: str) -> str:
    found = MODULE.search(text)
    return found[1] if found is not None else ""


@lru_cache(256)
def _replaced(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((found[1], found[2]) for found in REPLACED.finditer(text))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _inside(root: str, rest: str) -> str:
    return "/".join(part for part in (root, rest.strip("/")) if part)


def _covers(root: str, path: str) -> bool:
    return root == "" or path.startswith(f"{root}/")


def _resolved(folder: str, target: str) -> str:
    """A relative path from a folder, never above the repository."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


GO = Go()
