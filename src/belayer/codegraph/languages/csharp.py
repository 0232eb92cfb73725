"""C#: how to read it, and where its namespaces lead."""

import re
from collections.abc import Iterable
from functools import lru_cache

import tree_sitter_c_sharp

from belayer.codegraph.facts import Export, Facts
from belayer.codegraph.languages import ordinary
from belayer.codegraph.languages.csharp_declarations import DECLARATIONS
from belayer.codegraph.languages.csharp_expressions import EXPRESSIONS
from belayer.codegraph.languages.csharp_operators import OPERATORS
from belayer.codegraph.languages.csharp_routes import Routes
from belayer.codegraph.languages.csharp_statements import STATEMENTS
from belayer.codegraph.languages.csharp_types import CSharpNotes, CSharpWalk
from belayer.codegraph.languages.draft import Draft, nearest
from belayer.codegraph.languages.language import Project
from belayer.codegraph.languages.walk import Parsing, Walk

# Kinds below which nothing is called, named or declared.
IDLE = frozenset(
    {"comment", "modifier", "null_literal", "escape_sequence", "string_literal_content", "string_content"}
    | {"break_statement", "continue_statement", "goto_statement", "empty_statement", "discard"}
    | {"predefined_type", "implicit_type", "type_parameter_list", "type_argument_list", "base_list"}
    | {"interpolation_start", "interpolation_quote", "interpolation_brace", "interpolation_format_clause"}
    | {
        "type_parameter_constraints_clause",
        "attribute_list",
        "preproc_region",
        "preproc_endregion",
        "preproc_arg",
    }
    | {
        "preproc_pragma",
        "preproc_nullable",
        "preproc_line",
        "preproc_define",
        "preproc_undef",
        "global_attribute",
    }
    | {"nullable_type", "array_type", "pointer_type", "tuple_type", "extern_alias_directive", "ref_type"}
    | {"explicit_interface_specifier", "parameter_list", "bracketed_parameter_list"}
)
PARSING = Parsing(
    tree_sitter_c_sharp.language, {**DECLARATIONS, **STATEMENTS, **EXPRESSIONS, **OPERATORS}, IDLE
)
GLOBAL = "<global>"  # the package of files with global usings: they are known everywhere
PROJECT = "*.csproj"
SHARED_BY_PROJECTS = ("Directory.Build.props", "Directory.Build.targets")
USING = re.compile(r'<Using\s[^<>]{0,200}?Include="([\w.; ]{1,400})"[^<>]{0,200}>')


class CSharp:
    """The C# language."""

    name = "csharp"
    suffixes = (".cs",)
    manifests = (PROJECT, *SHARED_BY_PROJECTS)
    names_see_members = True
    ordinary = ordinary.CSHARP

    def read(self, path: str, source: bytes) -> Facts:
        root = PARSING.parser.parse(source).root_node
        draft = Draft(path, self.name, source)
        walk: CSharpWalk = Walk(draft, PARSING.table, CSharpNotes(Routes(draft)))
        walk.each(root.children)
        draft.is_broken |= root.has_error
        packages = list(dict.fromkeys(walk.own.namespaces))
        if walk.own.shared:
            packages = [*packages, GLOBAL] if packages else ["", GLOBAL]
            draft.exports = _exports(walk)
        facts = draft.facts(packages[0] if packages else "")
        return facts._replace(packages=tuple(packages)) if len(packages) > 1 else facts

    def module_name(self, path: str, project: Project) -> str:
        del project
        return path.removesuffix(".cs").removeprefix("src/").replace("/", ".")

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        """The files of a namespace; `A.B|C` is C as A.B sees it: A.B.C, A.C or C."""
        around, _, name = spec.rpartition("|")
        for outer in _around(around):
            files = project.in_package(f"{outer}.{name}" if outer and name else outer or name)
            if files:
                return nearest(files, importer)
        return ()

    def visible(self, facts: Facts, project: Project) -> Iterable[str]:
        """The files of the same namespaces, of those around them, of none, and what a project uses everywhere."""
        seen: dict[str, None] = {}
        for namespace in facts.packages or (facts.package,):
            for outer in _around(namespace):
                seen.update(dict.fromkeys(nearest(project.in_package(outer), facts.path)))
        seen.update(dict.fromkeys(nearest(project.in_package(GLOBAL), facts.path)))
        for namespace in _used_by_all(facts.path, project):
            seen.update(dict.fromkeys(nearest(project.in_package(namespace), facts.path)))
        return tuple(seen)


def _used_by_all(path: str, project: Project) -> Iterable[str]:
    """The namespaces that a file's project uses everywhere: its own, and those of the folders around."""
    own = [place for place in project.manifest(PROJECT) if path.startswith(_folder(place))]
    if own:
        yield from _usings(project.manifest(PROJECT)[max(own, key=len)])
    for name in SHARED_BY_PROJECTS:
        for place, text in project.manifest(name).items():
            if path.startswith(_folder(place)):
                yield from _usings(text)


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


@lru_cache(maxsize=1_024)
def _usings(text: str) -> tuple[str, ...]:
    """`<Using Include="Shop.Carts;Shop.Orders" />`; a class whose members are used is left out."""
    found = (match[1] for match in USING.finditer(text) if "Static=" not in match[0])
    return tuple(name.strip() for names in found for name in names.split(";"))


def _exports(walk: CSharpWalk) -> list[Export]:
    """A file with global usings passes their names on, besides its own."""
    passed = [Export("*", ("import", spec, None)) for spec in walk.own.shared]
    own = enumerate(walk.draft.definitions)
    return passed + [Export(each.name, ("def", number)) for number, each in own if each.parent == 0]


def _around(namespace: str) -> Iterable[str]:
    """A namespace and those around it, the nearest first and none at last."""
    while namespace:
        yield namespace
        namespace = namespace.rpartition(".")[0]
    yield ""


CSHARP = CSharp()
