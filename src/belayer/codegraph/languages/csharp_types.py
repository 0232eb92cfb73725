"""What C#'s types, dotted names and attributes say: the classes they name, and values of them."""

from typing import TypeAlias

from tree_sitter import Node

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.csharp_routes import Routes
from belayer.codegraph.languages.draft import NOTHING, chain, replaced
from belayer.codegraph.languages.walk import Flows, Walk, instance

MAPS = frozenset(
    {"Dictionary", "IDictionary", "IReadOnlyDictionary", "ConcurrentDictionary", "SortedDictionary"}
)
FLOWS = Flows(
    items=frozenset(
        {
            "First",
            "FirstOrDefault",
            "Single",
            "SingleOrDefault",
            "Last",
            "LastOrDefault",
            "ElementAt",
            "Find",
            "Dequeue",
        }
        | {
            "Pop",
            "Peek",
            "FirstAsync",
            "FirstOrDefaultAsync",
            "SingleAsync",
            "SingleOrDefaultAsync",
            "FindAsync",
        }
        | {
            "GetValueOrDefault",
            "MinBy",
            "MaxBy",
            "Get",
            "GetAsync",
            "GetById",
            "GetByIdAsync",
            "GetBySpecAsync",
        }
    ),
    same=frozenset(
        {
            "Where",
            "OrderBy",
            "OrderByDescending",
            "ThenBy",
            "ThenByDescending",
            "Take",
            "Skip",
            "ToList",
            "ToArray",
        }
        | {
            "ToHashSet",
            "Distinct",
            "AsEnumerable",
            "AsQueryable",
            "Reverse",
            "Concat",
            "Append",
            "Union",
            "Except",
        }
        | {"Include", "ThenInclude", "AsNoTracking", "ToListAsync", "ToArrayAsync", "TakeWhile", "SkipWhile"}
        | {
            "FindAll",
            "GetEnumerator",
            "AsReadOnly",
            "ConfigureAwait",
            "ListAsync",
            "List",
            "GetAll",
            "GetAllAsync",
        }
    ),
    mapped=frozenset({"Select", "SelectMany", "ConvertAll", "ContinueWith"}),
)
AWAITED = frozenset({"Task", "ValueTask", "ActionResult", "Nullable"})
NAMES = frozenset({"identifier", "qualified_name", "alias_qualified_name"})
WRAPPED = frozenset({"nullable_type", "pointer_type", "ref_type", "scoped_type"})
UNNAMED = frozenset({"predefined_type", "implicit_type"})
TYPES = frozenset(
    {"generic_name", "array_type", "tuple_type", "function_pointer_type", *NAMES, *WRAPPED, *UNNAMED}
)


class CSharpNotes:
    """What a C# file says besides its facts: namespaces, global usings, requests."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        self.namespaces: list[str] = []
        self.shared: list[str] = []  # the namespaces of global usings


CSharpWalk: TypeAlias = Walk[CSharpNotes]


def word(walk: CSharpWalk, node: Node | None) -> str:
    """A name without its type arguments."""
    if node is not None and node.type == "generic_name" and node.child_count:
        node = node.children[0]
    return walk.draft.text(node)


def dotted(walk: CSharpWalk, node: Node | None) -> list[str]:
    """The words of a dotted name, without type arguments and `global::`."""
    found: list[str] = []
    while node is not None and node.type in (
        "qualified_name",
        "alias_qualified_name",
        "member_access_expression",
    ):
        found.append(word(walk, node.child_by_field_name("name")))
        node = node.child_by_field_name("qualifier") or node.child_by_field_name("expression")
    if node is not None:
        found.append(word(walk, node))
    return found[::-1] or [""]


def spec_of(walk: CSharpWalk, parts: list[str]) -> str:
    """A namespace as it is spelled, behind the one it stands in: `Shop|Cart` may mean Shop.Cart."""
    spelled = ".".join(parts)
    return f"{walk.namespace}|{spelled}" if walk.namespace else spelled


def from_namespace(walk: CSharpWalk, parts: list[str]) -> Expr:
    return ("import", spec_of(walk, parts[:-1]), parts[-1])


def qualified(walk: CSharpWalk, parts: list[str]) -> Expr:
    """A dotted name: nested in a class that is known here, or from a namespace."""
    nested = chain(("name", parts[0]), parts[1:])
    return nested if len(parts) == 1 else ("any", (nested, from_namespace(walk, parts)))


def named(walk: CSharpWalk, node: Node | None) -> Expr:
    """The class that a type names; NOTHING for what has no class of its own."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind in ("identifier", "generic_name"):
        name = word(walk, node)
        return walk.variables.get(name) or ("name", name)
    if kind in NAMES:
        return qualified(walk, dotted(walk, node))
    return named(walk, node.named_children[0]) if kind in WRAPPED and node.named_child_count else NOTHING


def typed(walk: CSharpWalk, node: Node | None) -> Expr:
    """A value of the type that is declared here. The classes that the type speaks of are noted."""
    if node is None:
        return NOTHING
    kind = node.type
    if kind == "predefined_type":
        name = walk.draft.text(node)
        return ("literal", name) if name not in ("void", "object", "dynamic") else NOTHING
    if kind == "array_type":
        return ("list", (typed(walk, node.child_by_field_name("type")),))
    if kind in WRAPPED:
        return typed(walk, node.named_children[0]) if node.named_child_count else NOTHING
    if kind == "tuple_type":
        parts = [child.child_by_field_name("type") for child in node.named_children]
        return ("list", tuple(typed(walk, part) for part in parts))
    if kind == "generic_name":
        return _generic(walk, node)
    value = named(walk, node)
    if value is not NOTHING and walk.draft.text(node) not in walk.variables:
        walk.draft.refer(value, node)
    return instance(value)


def not_itself(walk: CSharpWalk, name: str, value: Expr) -> Expr:
    """The type of a member that has the type's own name (`Color Color`): looked up outside the class."""
    if value is NOTHING:
        return value
    around = walk.namespace
    specs: list[str] = []
    while around:
        specs.append(around)
        around = around.rpartition(".")[0]
    specs.extend(each.spec for each in walk.draft.imports if each.name == "*")
    found: Expr = ("any", tuple(("import", spec, name) for spec in ["", *specs]))
    return replaced(value, {name: found})


def _generic(walk: CSharpWalk, node: Node) -> Expr:
    """A value of a generic type: of its class, which mostly holds or gives values of its arguments."""
    name = word(walk, node)
    base = instance(named(walk, node))
    if name not in AWAITED and name not in MAPS:
        walk.draft.refer(("name", name), node)
    held = [typed(walk, each) for each in node.children[-1].named_children]
    if name in AWAITED and held:
        return held[-1]
    if name in MAPS or name == "Func":
        held = held[-1:]
    held = [each for each in held if each is not NOTHING and each[0] != "literal"]
    if not held:
        return base
    return ("any", (base, ("dict", ((None, held[0]),)) if name in MAPS else ("list", tuple(held))))


def speak_of(walk: CSharpWalk, node: Node | None) -> None:
    """Note the classes that a type speaks of."""
    if node is None:
        return
    kind = node.type
    if kind in NAMES:
        if walk.draft.text(node) not in walk.variables:
            walk.draft.refer(named(walk, node), node)
    elif kind not in UNNAMED:
        for child in node.named_children:
            speak_of(walk, child)


def type_variables(walk: CSharpWalk, node: Node) -> None:
    """From here on the type parameters of this declaration are type variables."""
    names = next((child for child in node.children if child.type == "type_parameter_list"), None)
    if names is None:
        return
    walk.variables = dict(walk.variables)
    for child in names.named_children:
        walk.variables[walk.draft.text(child.child_by_field_name("name"))] = NOTHING
    for clause in node.children:
        if clause.type == "type_parameter_constraints_clause" and clause.named_child_count > 1:
            name, first = clause.named_children[:2]
            walk.variables[walk.draft.text(name)] = named(walk, first.child_by_field_name("type"))
