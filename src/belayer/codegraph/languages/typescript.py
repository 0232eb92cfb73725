"""TypeScript and JavaScript: which grammar reads a file, and where its imports lead."""

from collections.abc import Iterable
from functools import lru_cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language as Grammar
from tree_sitter import Parser

from belayer.codegraph.facts import Definition, Facts, Shape
from belayer.codegraph.languages import typescript_calls as calls
from belayer.codegraph.languages import typescript_classes as classes
from belayer.codegraph.languages import typescript_expressions as expressions
from belayer.codegraph.languages import typescript_functions as functions
from belayer.codegraph.languages import typescript_imports as imports
from belayer.codegraph.languages import typescript_objects as objects
from belayer.codegraph.languages import typescript_statements as statements
from belayer.codegraph.languages.language import Project
from belayer.codegraph.languages.typescript_frameworks import is_test_path, module_tags, next_routes
from belayer.codegraph.languages.typescript_modules import resolve
from belayer.codegraph.languages.typescript_reading import Act, Reading
from belayer.codegraph.languages.typescript_repairs import parsed
from belayer.codegraph.languages.typescript_words import ORDINARY

_TYPED, _TYPED_JSX, _PLAIN = "typescript", "tsx", "javascript"
_GRAMMAR_OF = {".ts": _TYPED, ".mts": _TYPED, ".cts": _TYPED, ".tsx": _TYPED_JSX}


class TypeScript:
    """TypeScript and JavaScript are one language here: they import each other, and one set of rules reads both."""

    name = "typescript"
    suffixes = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
    manifests = ("tsconfig*.json", "jsconfig*.json", "package.json")
    names_see_members = False
    ordinary = ORDINARY

    def read(self, path: str, source: bytes) -> Facts:
        """The facts of a file."""
        grammar = _GRAMMAR_OF.get(path[path.rfind(".") :].lower(), _PLAIN)
        parser, table = _parser(grammar)
        root = parsed(parser, source)
        reading = Reading(path, source, table, root.end_point[0] + 1)
        reading.is_test = is_test_path(path)
        try:
            reading.visit_all(root.named_children)
            reading.finish_later()
            next_routes(reading)
            module_tags(reading)
            return reading.facts(is_broken=root.has_error)
        except Exception:  # noqa: BLE001 - a tree of a shape that nobody foresaw must not stop the build
            return Facts(
                path, self.name, (Definition(Shape.MODULE, "", -1, 1, root.end_point[0] + 1),), is_broken=True
            )

    def module_name(self, path: str, project: Project) -> str:
        """`shop.cart` for src/shop/cart.ts; an index is its folder."""
        del project
        parts = path[: path.rfind(".")].removesuffix(".d").split("/")
        if len(parts) > 1 and parts[0] == "src":
            parts = parts[1:]
        if len(parts) > 1 and parts[-1] == "index":
            parts = parts[:-1]
        return ".".join(parts)

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        """The file that an import leads to, if it is ours."""
        return resolve(spec, importer, project)

    def visible(self, facts: Facts, project: Project) -> Iterable[str]:
        """Nothing is known without an import."""
        del facts, project
        return ()


TYPESCRIPT = TypeScript()


@lru_cache(maxsize=3)
def _parser(name: str) -> tuple[Parser, list[Act | None]]:
    """A grammar's parser, and what to do with each of its kinds of nodes."""
    if name == _PLAIN:
        grammar = Grammar(tree_sitter_javascript.language())
    elif name == _TYPED:
        grammar = Grammar(tree_sitter_typescript.language_typescript())
    else:
        grammar = Grammar(tree_sitter_typescript.language_tsx())
    table: list[Act | None] = [None] * 65_536  # an ERROR node's kind is 65,535
    for number in range(grammar.node_kind_count):
        if grammar.node_kind_is_named(number):
            table[number] = _ACTS.get(grammar.node_kind_for_id(number) or "")
    table[65_535] = expressions.operand
    return Parser(grammar), table


_ACTS: dict[str, Act] = {
    "identifier": expressions.identifier,
    "shorthand_property_identifier": expressions.identifier,
    "this": expressions.this,
    "super": expressions.super_,
    "string": expressions.string,
    "number": expressions.number,
    "true": expressions.literal,
    "false": expressions.literal,
    "regex": expressions.literal,
    "template_string": expressions.template_string,
    "member_expression": expressions.member_expression,
    "subscript_expression": expressions.subscript_expression,
    "parenthesized_expression": expressions.through,
    "await_expression": expressions.through,
    "non_null_expression": expressions.through,
    "instantiation_expression": expressions.through,
    "spread_element": expressions.through,
    "sequence_expression": expressions.sequence,
    "as_expression": expressions.as_expression,
    "satisfies_expression": expressions.as_expression,
    "type_assertion": expressions.type_assertion,
    "binary_expression": expressions.binary_expression,
    "ternary_expression": expressions.ternary_expression,
    "unary_expression": expressions.operand,
    "update_expression": expressions.operand,
    "assignment_expression": objects.assignment_expression,
    "augmented_assignment_expression": objects.augmented_assignment,
    "arrow_function": expressions.function_value,
    "function_expression": expressions.function_value,
    "generator_function": expressions.function_value,
    "class": expressions.class_value,
    "array": expressions.array,
    "object": objects.object_,
    "call_expression": calls.call_expression,
    "new_expression": calls.new_expression,
    "yield_expression": expressions.yield_expression,
    "jsx_element": calls.jsx_element,
    "jsx_self_closing_element": calls.jsx_self_closing,
    "jsx_expression": calls.jsx_expression,
    "decorator": expressions.operand,
    "expression_statement": expressions.statement,
    "throw_statement": expressions.operand,
    "labeled_statement": expressions.operand,
    "with_statement": expressions.operand,
    "else_clause": expressions.operand,
    "lexical_declaration": statements.lexical_declaration,
    "variable_declaration": statements.variable_declaration,
    "using_declaration": statements.lexical_declaration,
    "statement_block": statements.block,
    "if_statement": statements.if_statement,
    "for_statement": statements.loop,
    "while_statement": statements.loop,
    "do_statement": statements.loop,
    "for_in_statement": statements.for_in_statement,
    "try_statement": statements.try_statement,
    "catch_clause": statements.catch_clause,
    "switch_statement": statements.switch_statement,
    "return_statement": statements.return_statement,
    "import_statement": imports.import_statement,
    "import_alias": imports.import_alias,
    "export_statement": imports.export_statement,
    "internal_module": imports.namespace,
    "module": imports.namespace,
    "ambient_declaration": imports.ambient,
    "function_declaration": functions.function_declaration,
    "generator_function_declaration": functions.function_declaration,
    "function_signature": functions.function_signature,
    "class_declaration": classes.class_declaration,
    "abstract_class_declaration": classes.class_declaration,
    "interface_declaration": classes.interface,
    "type_alias_declaration": classes.type_alias,
    "enum_declaration": classes.enum,
}
