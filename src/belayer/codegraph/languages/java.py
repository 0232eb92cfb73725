"""Java: how to read it, and where its packages and imports lead."""

import re
from collections.abc import Iterable

import tree_sitter_java

from belayer.codegraph.facts import Facts, Route, Shape
from belayer.codegraph.languages import ordinary
from belayer.codegraph.languages.draft import Draft, nearest
from belayer.codegraph.languages.java_annotations import routes
from belayer.codegraph.languages.java_declarations import DECLARATIONS
from belayer.codegraph.languages.java_expressions import EXPRESSIONS
from belayer.codegraph.languages.java_statements import STATEMENTS
from belayer.codegraph.languages.java_types import COMMENTS, PRIMITIVES, JavaNotes, JavaWalk
from belayer.codegraph.languages.language import Project
from belayer.codegraph.languages.walk import Parsing, Walk

# Kinds below which nothing is called, named or declared.
IDLE = frozenset(
    {
        "string_fragment",
        "escape_sequence",
        "multiline_string_fragment",
        "asterisk",
        "null_literal",
        "modifiers",
    }
    | {"break_statement", "continue_statement", "dimensions", "permits", "throws", "underscore_pattern"}
    | {"module_declaration", "marker_annotation", "annotation", "catch_type"}
    | {"type_parameters", "type_arguments", "superclass", "super_interfaces", "extends_interfaces"}
    | {"type_identifier", "scoped_type_identifier", "generic_type", "array_type", *PRIMITIVES, *COMMENTS}
)
PARSING = Parsing(tree_sitter_java.language, {**DECLARATIONS, **STATEMENTS, **EXPRESSIONS}, IDLE)
CLASSES = (Shape.CLASS, Shape.INTERFACE)
ROOT = re.compile(r"^(?:.*?/)?(?:src/(?:main|test)/java/|src/|java/)")


class Java:
    """The Java language."""

    name = "java"
    suffixes = (".java",)
    manifests: tuple[str, ...] = ()
    names_see_members = True
    ordinary = ordinary.JAVA

    def read(self, path: str, source: bytes) -> Facts:
        root = PARSING.parser.parse(source).root_node
        walk: JavaWalk = Walk(Draft(path, self.name, source), PARSING.table, JavaNotes())
        walk.each(root.children)
        walk.draft.is_broken |= root.has_error
        walk.draft.routes.extend(_routes(walk))
        _call_no_variables(walk.draft)
        return walk.draft.facts(walk.namespace)

    def module_name(self, path: str, project: Project) -> str:
        del project
        return ROOT.sub("", path).removesuffix(".java").replace("/", ".")

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        return nearest(project.in_package(spec), importer)

    def visible(self, facts: Facts, project: Project) -> Iterable[str]:
        return nearest(project.in_package(facts.package), facts.path)


def _call_no_variables(draft: Draft) -> None:
    """A bare name that is called is a method, also where a variable of that name is known."""
    for place, call in enumerate(draft.calls):
        if call.callee[0] == "name" and not call.new:
            word = str(call.callee[1])
            around = list(draft.around(call.scope))
            if any(draft.is_declared(scope, word) for scope in around):
                owners = [scope for scope in around if draft.definitions[scope].shape in CLASSES]
                callee = ("any", tuple(("attr", ("new", ("def", owner)), word) for owner in owners))
                draft.calls[place] = call._replace(callee=callee)


def _routes(walk: JavaWalk) -> Iterable[Route]:
    """The requests that annotated methods serve; only now are all constants known."""
    for outer, inner, number in walk.own.mapped:
        line = walk.draft.definitions[number].line
        for methods, path, framework in routes(outer, inner, walk.own.constants):
            yield Route(methods, path, ("def", number), None, framework, 0, line)


JAVA = Java()
