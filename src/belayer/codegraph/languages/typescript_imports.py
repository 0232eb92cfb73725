"""What comes into a file and what goes out of it: imports, exports, and the namespaces in it."""

from tree_sitter import Node

from belayer.codegraph.facts import Binding, Expr, Import
from belayer.codegraph.languages.typescript_classes import class_of, named
from belayer.codegraph.languages.typescript_functions import function
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_types import type_name
from belayer.codegraph.languages.typescript_values import UNKNOWN, attr_of, pairs

# ---- what comes in


def import_statement(r: Reading, node: Node) -> Expr | None:
    r.is_module = True
    source = node.child_by_field_name("source")
    line = node.start_point[0] + 1
    is_type = any(child.type == "type" for child in node.children[:2])
    clause = next((child for child in node.named_children if child.type.startswith("import_")), None)
    if clause is not None and clause.type == "import_require_clause":
        inner = clause.child_by_field_name("source")
        name = clause.named_children[0]
        if inner is not None:
            _import(r, r.text(inner)[1:-1], None, r.text(name), line, is_type=is_type)
        return None
    if source is None:
        return None
    spec = r.text(source)[1:-1]
    if clause is None:
        r.imports.append(Import(r.scope, spec, None, None, line))
        return None
    for child in clause.named_children:
        _import_clause(r, child, spec, line, is_type=is_type)
    return None


def _import_clause(r: Reading, node: Node, spec: str, line: int, *, is_type: bool) -> None:
    if node.type == "identifier":
        _import(r, spec, "default", r.text(node), line, is_type=is_type)
    elif node.type == "namespace_import" and node.named_children:
        _import(r, spec, None, r.text(node.named_children[0]), line, is_type=is_type)
    elif node.type == "named_imports":
        for child in node.named_children:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is None:
                continue
            is_type_too = is_type or any(part.type == "type" for part in child.children[:1])
            word = _export_name(r, name)
            _import(r, spec, word, r.text(alias) if alias is not None else word, line, is_type=is_type_too)


def _import(r: Reading, spec: str, name: str | None, local: str, line: int, *, is_type: bool) -> None:
    r.imports.append(Import(r.scope, spec, name, local, line, is_type))
    r.declare(local)
    r.imported[local] = spec, name
    r.bindings.append(Binding(r.scope, local, ("import", spec, name), line))


def import_alias(r: Reading, node: Node) -> Expr | None:
    """`import A = B.C`."""
    parts = node.named_children
    value = type_name(r, parts[1]) if len(parts) > 1 else None
    if value is not None:
        r.bind(r.declare(r.text(parts[0])), value, node.start_point[0] + 1, is_followed=False)
    return ("name", r.text(parts[0])) if parts else None


# ---- what goes out


def export_statement(r: Reading, node: Node) -> Expr | None:
    r.is_module = True
    declaration, source = node.child_by_field_name("declaration"), node.child_by_field_name("source")
    value = node.child_by_field_name("value")
    tokens = {child.type for child in node.children}
    if "decorator" in tokens:
        r.decorators = [child for child in node.children if child.type == "decorator"]
    if value is not None:
        r.export("default", _default(r, value))
    elif declaration is not None:
        _export_declaration(r, declaration, is_default="default" in tokens)
    elif source is not None:
        _export_from(r, node, r.text(source)[1:-1], is_type="type" in tokens)
    elif "=" in tokens and node.named_children:
        held = r.visit(node.named_children[-1])
        if held is not None:
            r.export("=", held)
            r.export("default", held)
    else:
        _export_names(r, node)
    return None


def _default(r: Reading, node: Node) -> Expr:
    if node.type in ("function_expression", "arrow_function", "generator_function"):
        value = function(r, node, "default")
        own = node.child_by_field_name("name")
        if own is not None:
            r.bindings.append(Binding(r.scope, r.declare(r.text(own)), value, node.start_point[0] + 1))
        return value
    if node.type == "class":
        return class_of(r, node, "default")
    return named(r, node, "default") or UNKNOWN


def _export_declaration(r: Reading, node: Node, *, is_default: bool) -> None:
    names = (
        set(r.declared[r.scope])
        if node.type in ("lexical_declaration", "variable_declaration")
        else set[str]()
    )
    value = r.visit(node)
    if is_default:
        r.export("default", value or UNKNOWN)
    elif node.type in ("lexical_declaration", "variable_declaration"):
        for name in sorted(_pattern_names(r, node) or r.declared[r.scope] - names):
            r.export(name, _local(r, name))
    elif node.type == "ambient_declaration":
        for child in node.named_children:
            _export_own(r, child)
    else:
        _export_own(r, node)


def _export_own(r: Reading, node: Node) -> None:
    own = node.child_by_field_name("name") or (
        node.named_children[0] if node.type == "import_alias" else None
    )
    if own is not None and node.type not in ("module",):
        name = r.text(own).split(".")[0]
        if name not in r.exports or node.type not in ("interface_declaration", "type_alias_declaration"):
            r.export(name, _local(r, name))


def _local(r: Reading, name: str) -> Expr:
    return ("name", r.renames.get(name, name))


def _pattern_names(r: Reading, node: Node) -> list[str]:
    """The names that a declaration declares, patterns included."""
    names: list[str] = []
    waiting = [
        child for declarator in node.named_children if (child := declarator.child_by_field_name("name"))
    ]
    while waiting:
        child = waiting.pop()
        if child.type in ("identifier", "shorthand_property_identifier_pattern"):
            names.append(r.text(child))
        elif child.type == "pair_pattern":
            target = child.child_by_field_name("value")
            waiting.extend([target] if target is not None else [])
        elif child.type in ("assignment_pattern", "object_assignment_pattern"):
            target = child.child_by_field_name("left")
            waiting.extend([target] if target is not None else [])
        elif child.type in ("object_pattern", "array_pattern", "rest_pattern"):
            waiting.extend(child.named_children)
    return names


def _export_from(r: Reading, node: Node, spec: str, *, is_type: bool) -> None:
    line = node.start_point[0] + 1
    named_as = next((child for child in node.named_children if child.type == "namespace_export"), None)
    clause = next((child for child in node.named_children if child.type == "export_clause"), None)
    if named_as is not None and named_as.named_children:
        r.imports.append(Import(r.scope, spec, None, None, line, is_type))
        r.export(_export_name(r, named_as.named_children[0]), ("import", spec, None))
    elif clause is not None:
        for name, alias in _specifiers(r, clause):
            r.imports.append(Import(r.scope, spec, None, None, line, is_type))
            r.export(alias, ("import", spec, name))
    else:
        r.imports.append(Import(r.scope, spec, None, None, line, is_type))
        r.pass_on(spec)


def _export_names(r: Reading, node: Node) -> None:
    for clause in node.named_children:
        if clause.type == "export_clause":
            for name, alias in _specifiers(r, clause):
                r.export(alias, _local(r, name))


def _specifiers(r: Reading, clause: Node) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for child in clause.named_children:
        name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
        if name is not None:
            word = _export_name(r, name)
            pairs.append((word, _export_name(r, alias) if alias is not None else word))
    return pairs


def _export_name(r: Reading, node: Node) -> str:
    return r.text(node).strip("'\"") if node.type == "string" else r.text(node)


# ---- namespaces


def namespace(r: Reading, node: Node) -> Expr | None:
    """`namespace A.B { export … }`: an object of what it exports; its names are spelled `A.B.x` outside."""
    own, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if own is None or body is None or own.type == "string":
        return None
    parts = r.text(own).split(".")
    before = r.block, r.renames
    for child in body.named_children:
        inner = child.child_by_field_name("declaration") if child.type == "export_statement" else child
        for name in _names_of(r, inner) if inner is not None else ():
            r.renames = {**r.renames, name: f"{'.'.join(parts)}.{name}"}
    r.members.append({})
    outer = r.prefixes[-1][1] if r.prefixes and r.prefixes[-1][0] == r.scope else ""
    r.prefixes.append((r.scope, outer + ".".join(parts) + "."))
    r.visit_all(body.named_children)
    r.prefixes.pop()
    members = r.members.pop()
    r.block, r.renames = before
    _bind_namespace(r, parts, members, node.start_point[0] + 1)
    return None


def _names_of(r: Reading, node: Node) -> list[str]:
    if node.type in ("lexical_declaration", "variable_declaration"):
        return _pattern_names(r, node)
    own = node.child_by_field_name("name")
    return [r.text(own)] if own is not None and own.type in ("identifier", "type_identifier") else []


def _bind_namespace(r: Reading, parts: list[str], members: dict[str, Expr], line: int) -> None:
    value: Expr = ("dict", tuple(members.items()))
    for part in reversed(parts[1:]):
        value = ("dict", ((part, value),))
    name = parts[0]
    spelled = r.renames.get(name, name)
    if spelled in r.declared[r.scope] or any(d.name == name and d.parent == r.scope for d in r.definitions):
        for key, held in pairs(value):
            r.store(attr_of(("name", spelled), key), held, line)
        return
    r.declare(name)
    r.bind(spelled, value, line, is_followed=False)


def ambient(r: Reading, node: Node) -> Expr | None:
    """`declare …` speaks of what stands elsewhere; in a file of declarations that is all there is."""
    r.visit_all(child for child in node.named_children if child.type != "statement_block")
    return None
