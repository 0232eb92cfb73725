"""A TypeScript or JavaScript file while it is being read: its facts so far, and which binding a name means here."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import cast

from tree_sitter import Node

from belayer.codegraph.facts import (
    Binding,
    Call,
    Export,
    Expr,
    Facts,
    Import,
    Mount,
    Param,
    Reference,
    Route,
    Shape,
    Store,
)
from belayer.codegraph.languages.typescript_drafts import Draft
from belayer.codegraph.languages.typescript_values import (
    LONGEST_CHAIN,
    PROPERTY,
    UNKNOWN,
    inside,
    is_object,
    number_of,
    put,
    root_name,
)

Act = Callable[["Reading", Node], Expr | None]
# Where the reading is: scope, this, flow, journal, block, renames, branch, own.
Place = tuple[int, Expr, dict[str, int], list[tuple[str, int | None]], int, dict[str, str], int, int]
# Named tuples without the detour through their own __new__: twice as quick.
_tuple = cast("Callable[..., object]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]
_binding = cast("Callable[[tuple[object, ...]], Binding]", partial(_tuple, Binding))
_call = cast("Callable[[tuple[object, ...]], Call]", partial(_tuple, Call))
# Python allows some 1,000 frames and a level takes up to three: what lies deeper is read afterwards, from the top.
DEEPEST = 180


class Reading:
    """The facts of one file, growing.

    `flow` knows, for the code that runs straight on, which binding of the present scope a name means, and `journal`
    what it knew before; `branch` counts the branches and loops around. `renames` has the names that the blocks around
    declare: each gets a spelling of its own, since facts know functions as scopes only. `own` is the function that
    `arguments` belongs to.
    """

    __slots__ = (
        "bindings",
        "block",
        "branch",
        "calls",
        "declared",
        "decorators",
        "definitions",
        "depth",
        "exports",
        "flow",
        "hint",
        "imported",
        "imports",
        "is_module",
        "is_test",
        "journal",
        "later",
        "loose",
        "maps",
        "meant",
        "members",
        "mentions",
        "mounts",
        "names",
        "outward",
        "own",
        "path",
        "pending_types",
        "prefixes",
        "puts",
        "reads",
        "renames",
        "routes",
        "scope",
        "source",
        "spelled",
        "stores",
        "table",
        "tags",
        "this",
        "this_used",
        "words",
    )

    def __init__(self, path: str, source: bytes, table: list[Act | None], lines: int) -> None:
        self.path, self.source, self.table = path, source, table
        self.definitions = [Draft(Shape.MODULE, "", -1, 1, lines, 0)]
        self.bindings: list[Binding] = []
        self.stores: list[Store] = []
        self.calls: list[Call] = []
        self.imports: list[Import] = []
        self.exports: dict[str, Expr] = {}
        self.outward: list[Export] = []
        self.routes: list[Route] = []
        self.mounts: list[Mount] = []
        self.tags: dict[str, None] = {}
        self.is_module = self.is_test = False
        self.scope = self.own = self.block = self.branch = self.depth = 0
        self.this: Expr = ("def", 0)
        self.this_used: set[Expr] = set()
        self.hint: str | None = None
        self.decorators: list[Node] = []
        self.flow: dict[str, int] = {}
        self.journal: list[tuple[str, int | None]] = []
        self.puts: dict[str, int] = {}
        self.renames: dict[str, str] = {}
        self.spelled = 0
        self.declared: list[set[str]] = [set()]
        self.members: list[dict[str, Expr]] = []
        self.prefixes: list[tuple[int, str]] = []
        self.imported: dict[str, tuple[str, str | None]] = {}
        self.loose: dict[tuple[int, str], bool] = {}
        self.maps: set[str] = set()
        self.meant: set[int] = set()
        self.pending_types: list[tuple[int, str, Expr, int]] = []
        self.mentions: list[tuple[int, Expr, Node]] = []
        self.reads: list[tuple[int, Expr, Node]] = []
        self.later: list[tuple[Node, int, Expr, dict[str, str], int]] = []
        self.words: dict[bytes, str] = {}
        self.names: dict[str, Expr] = {"exports": ("def", 0)}

    # ---- the walk

    def visit(self, node: Node) -> Expr | None:
        """Read a node; the value that it has as an expression, if that can be said."""
        act = self.table[node.kind_id]
        if act is None:
            return None
        depth = self.depth
        if depth >= DEEPEST:
            self._put_off(node)
            return None
        self.depth = depth + 1
        value = act(self, node)
        self.depth = depth
        return value

    def value(self, node: Node | None) -> Expr:
        """The same, with something to put where an expression must stand."""
        return (self.visit(node) or UNKNOWN) if node is not None else UNKNOWN

    def visit_all(self, nodes: Iterable[Node]) -> None:
        """Read nodes one after the other, for what they do."""
        table, depth = self.table, self.depth
        if depth >= DEEPEST:
            for node in nodes:
                self._put_off(node)
            return
        self.depth = depth + 1
        for node in nodes:
            act = table[node.kind_id]
            if act is not None:
                act(self, node)
        self.depth = depth

    def _put_off(self, node: Node) -> None:
        self.later.append((node, self.scope, self.this, self.renames, self.block))
        self.hint = None

    def finish_later(self) -> None:
        """Read what lay too deep. It may itself be deep: that is read afterwards too."""
        while self.later:
            node, self.scope, self.this, self.renames, self.block = self.later.pop()
            self.flow, self.journal, self.depth, self.branch = {}, [], 0, 1
            self.visit(node)

    def text(self, node: Node) -> str:
        """The source of a small node; a word is decoded once per file."""
        raw = self.source[node.start_byte : node.end_byte]
        word = self.words.get(raw)
        if word is None:
            word = self.words[raw] = raw.decode("utf-8", "replace")
        return word

    # ---- names

    def name(self, word: str) -> Expr:
        """A name that is read here."""
        if self.renames:
            word = self.renames.get(word, word)
        number = self.flow.get(word)
        if number is not None:
            self.meant.add(number)
            return ("bound", number)
        if word == "arguments" and self.own:
            return self.arguments()
        expr = self.names.get(word)
        if expr is None:
            expr = self.names[word] = ("name", word)
        return expr

    def arguments(self) -> Expr:
        """All arguments of the function around: the named ones, and whatever else it is given."""
        draft = self.definitions[self.own]
        named: list[Expr] = [("name", param.name) for param in draft.params if not param.star]
        rest = next((param.name for param in draft.params if param.star), None)
        if rest is None:
            rest = "arguments"
            draft.params.append(Param(rest, None, None, "*"))
        return ("list", (*named, ("spread", ("name", rest))))

    def declare(self, word: str, *, is_lexical: bool = False) -> str:
        """A name of this scope, or of the block if it is `let`, `const` or a class: the spelling to bind it by."""
        if self.prefixes and self.prefixes[-1][0] == self.scope and not self.block:
            word = self.renames.get(word, word)
        elif is_lexical and self.block:
            word = self._in_block(word)
        elif self.renames and word in self.renames:
            self.renames = {key: value for key, value in self.renames.items() if key != word}
        if word == "exports":
            self.names.pop(word, None)
        self.declared[self.scope].add(word)
        return word

    def _in_block(self, word: str) -> str:
        spelled = self.renames.get(word, "")
        if spelled.endswith(f"@{self.block}"):
            return spelled
        spelled = f"{word}@{self.block}"
        self.renames = {**self.renames, word: spelled}
        return spelled

    def open_block(self) -> tuple[int, dict[str, str]]:
        """Enter a block with names of its own; `close_block` takes what this gives."""
        before = self.block, self.renames
        self.spelled += 1
        self.block = self.spelled
        return before

    def close_block(self, before: tuple[int, dict[str, str]]) -> None:
        self.block, self.renames = before

    def enter(self, number: int, this: Expr) -> Place:
        """Go into a definition; `leave` takes what this gives."""
        before = (
            self.scope,
            self.this,
            self.flow,
            self.journal,
            self.block,
            self.renames,
            self.branch,
            self.own,
        )
        self.scope, self.this, self.flow, self.journal, self.block, self.branch = number, this, {}, [], 0, 0
        self.depth += 1
        return before

    def leave(self, before: Place) -> None:
        self.scope, self.this, self.flow, self.journal, self.block, self.renames, self.branch, self.own = (
            before
        )
        self.depth -= 1

    def bind(self, name: str, value: Expr | None, line: int, *, is_followed: bool = True) -> None:
        """A name of this scope gets a value, from here on."""
        if value is None:
            self.follow(name, None)
            return
        flow = self.flow
        before = flow.get(name)
        bindings = self.bindings
        replaces = before is not None and not self.branch
        bindings.append(_binding((self.scope, name, value, line, replaces)))
        if is_followed:
            self.journal.append((name, before))
            flow[name] = len(bindings) - 1

    def assign(self, word: str, value: Expr, line: int) -> None:
        """A name that is declared somewhere gets a value; where, is known when the file has been read."""
        name = self.renames.get(word, word)
        if name in self.declared[self.scope] or self.scope == 0:
            self.declared[self.scope].add(name)
            self.bind(name, value, line)
        else:
            self.stores.append(Store(self.scope, ("name", name), value, line))

    def store(self, target: Expr, value: Expr, line: int) -> None:
        """Something other than a name gets a value; in straight-line code its holder has it from here on."""
        self.stores.append(Store(self.scope, target, value, line))
        self._put(target, value, line)

    def _put(self, target: Expr, value: Expr, line: int) -> None:
        keys: list[object] = []
        while target[0] in ("attr", "item") and isinstance(target[2], str | int):
            keys.append(target[2])
            target = inside(target)
        if target[0] != "bound" or not keys:
            return
        name = self.bindings[number_of(target)].name
        self.puts[name] = self.puts.get(name, 0) + 1
        if self.puts[name] > LONGEST_CHAIN:
            self.follow(name, None)
        else:
            self.bind(name, put(target, keys[::-1], value), line)

    # ---- the flow

    def follow(self, name: str, number: int | None) -> None:
        """From here on a name means this binding, or any of its own."""
        self.journal.append((name, self.flow.get(name)))
        if number is None:
            self.flow.pop(name, None)
        else:
            self.flow[name] = number

    def undo(self, mark: int) -> dict[str, int | None]:
        """Go back to where the journal had `mark` entries; what the names meant until now."""
        changed: dict[str, int | None] = {}
        while len(self.journal) > mark:
            name, before = self.journal.pop()
            changed.setdefault(name, self.flow.get(name))
            if before is None:
                self.flow.pop(name, None)
            else:
                self.flow[name] = before
        return changed

    def forget(self, mark: int) -> None:
        """What was bound since then may or may not have happened: these names mean any of their bindings now."""
        if len(self.journal) > mark:
            for name in self.undo(mark):
                self.follow(name, None)

    def join(self, mark: int, first: dict[str, int | None], line: int) -> None:
        """Two ways lead here: the one that changed names to `first`, and the one since `mark`."""
        second = self.undo(mark)
        for name in {**first, **second}:
            before = self.flow.get(name)
            one, other = first.get(name, before), second.get(name, before)
            if one == other or one is None or other is None:
                self.follow(name, one if one == other else None)
            else:
                self.branch += 1
                self.bind(name, ("any", (("bound", one), ("bound", other))), line)
                self.branch -= 1

    # ---- facts

    def define(self, shape: Shape, name: str, node: Node) -> int:
        """A new definition in the present scope; its number."""
        if self.prefixes and self.prefixes[-1][0] == self.scope:
            name = self.prefixes[-1][1] + name
        row, column = node.start_point
        draft = Draft(shape, name, self.scope, row + 1, node.end_point[0] + 1, column)
        self.definitions.append(draft)
        self.declared.append(set())
        return len(self.definitions) - 1

    def call(
        self,
        callee: Expr,
        args: tuple[Expr, ...],
        at: Node,
        keywords: tuple[tuple[str, Expr], ...] = (),
        *,
        new: bool = False,
        unless: int = -1,
    ) -> Expr:
        """Note a call; the expression for what it gives."""
        row, column = at.start_point
        self.calls.append(_call((self.scope, callee, args, keywords, row + 1, column, new, unless)))
        return ("call", len(self.calls) - 1)

    def inherit(self, child: Expr, base: Expr, *, is_first: bool = False) -> bool:
        """The function or class that `child` names, if it stands in this file, has this base; whether it does."""
        if base[0] == "new":
            base = inside(base)
        if child[0] not in ("name", "bound") or base[0] not in ("name", "bound", "attr", "import"):
            return False
        name = child[1] if child[0] == "name" else self.bindings[number_of(child)].name
        for binding in reversed(self.bindings):
            if binding.name == name and binding.value[0] == "def":
                bases = self.definitions[number_of(binding.value)].bases
                bases.insert(0 if is_first else len(bases), base)
                return True
        return False

    def refer(self, value: Expr, at: Node) -> None:
        """Note that something is spoken of."""
        self.mentions.append((self.scope, value, at))

    def always(self, value: Expr) -> Expr:
        """A value as others see it, whenever they look: by the variable's name, not by one of its bindings."""
        return ("name", self.bindings[number_of(value)].name) if value[0] == "bound" else value

    def export(self, name: str, value: Expr) -> None:
        self.is_module = True
        value = self.always(value)
        if self.members:
            self.members[-1][name] = value
        else:
            self.exports[name] = value

    def pass_on(self, spec: str) -> None:
        """All that a module exports, this one exports too."""
        self.is_module = True
        self.outward.append(Export("*", ("import", spec, None)))

    # ---- the end

    def facts(self, *, is_broken: bool) -> Facts:
        self._refer_to_getters()
        self._rename_hiding()
        self._bind_types()
        self._settle_stores()
        self._loosen()
        exports = (*(Export(name, value) for name, value in self.exports.items()), *self.outward)
        return Facts(
            path=self.path,
            language="typescript",
            definitions=tuple(draft.done() for draft in self.definitions),
            bindings=tuple(self.bindings),
            stores=tuple(self.stores),
            calls=tuple(self.calls),
            references=tuple(self._references()),
            imports=tuple(self.imports),
            exports=exports if self.is_module else None,
            routes=tuple(self.routes),
            mounts=tuple(self.mounts),
            tags=tuple(self.tags),
            is_broken=is_broken,
        )

    def _refer_to_getters(self) -> None:
        """Reading what a getter gives calls it. Known are those of this file."""
        getters = {draft.name for draft in self.definitions if draft.traits & PROPERTY}
        if getters:
            self.mentions.extend(read for read in self.reads if read[1][2] in getters)

    def _rename_hiding(self) -> None:
        """A definition in a block whose name also means something around it is called by the block's spelling, so that
        its name does not speak for the other one outside of the block."""
        for scope, name, value, _, _ in self.bindings:
            word, at, _ = name.partition("@")
            if not at or value[0] != "def":
                continue
            draft = self.definitions[number_of(value)]
            if draft.name == word and word in self.declared[self._home(scope, word)]:
                draft.name = name

    def _bind_types(self) -> None:
        """Types have a world of their own; a value of the same name comes first."""
        for scope, name, value, line in self.pending_types:
            if name not in self.declared[scope]:
                self.bindings.append(Binding(scope, name, value, line))

    def _settle_stores(self) -> None:
        """A variable that was assigned before its declaration was seen is the scope's own."""
        kept: list[Store] = []
        objects = {binding.name for binding in self.bindings if is_object(binding.value)}
        for store in self.stores:
            scope, target, value, line = store
            if target[0] == "name" and target[1] in self.declared[scope]:
                self.bindings.append(Binding(scope, str(target[1]), value, line))
                self.loose[scope, str(target[1])] = True
                continue
            kept.append(self._into_object(store, objects))
            root = root_name(target)
            if root is not None:
                home = self._home(scope, root), root
                self.loose[home] = self.loose.get(home, False) or target[0] == "name"
        self.stores = kept

    def _into_object(self, store: Store, objects: set[str]) -> Store:
        """What is stored into an object literal is an item of it; of a class or function it is an attribute."""
        target = store.target
        if target[0] != "attr":
            return store
        holder = self.always(inside(target))
        if holder[0] == "name" and holder[1] in objects:
            return store._replace(target=("item", inside(target), target[2]))
        return store

    def _home(self, scope: int, name: str) -> int:
        """The scope that declares a name, as seen from this one."""
        while scope > 0 and name not in self.declared[scope]:
            scope = self.definitions[scope].parent
        return scope

    def _loosen(self) -> None:
        """What other functions assign may be there whenever it is read, whichever binding came last."""
        if not self.loose:
            return
        for number in self.meant:
            scope, name, value, line, _ = self.bindings[number]
            is_all = self.loose.get((scope, name))
            if is_all or (is_all is not None and value[0] == "put"):
                self.bindings[number] = Binding(scope, name, ("any", (value, ("name", name))), line)

    def _references(self) -> Iterator[Reference]:
        """What may lead to a definition of all that is spoken of, once per scope: imports and what is defined here."""
        known = {draft.name for draft in self.definitions} | self.imported.keys()
        known |= {binding.name for binding in self.bindings if binding.value[0] in ("def", "import", "dict")}
        told: set[tuple[int, Expr]] = set()
        for scope, value, node in self.mentions:
            root = root_name(value)
            if (root is None or root in known) and (scope, value) not in told:
                told.add((scope, value))
                row, column = node.start_point
                yield Reference(scope, value, row + 1, column)
