"""What lists and dicts hold: as they were written, and as others stored into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from belayer.codegraph.facts import Call, Expr
from belayer.codegraph.link import keys
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import HOP, near
from belayer.codegraph.link.values import (
    ELSEWHERE,
    NOTHING,
    Answer,
    Box,
    Def,
    Instance,
    Outside,
    Site,
    Value,
    Yields,
    doubtful,
    joined,
)

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

Keys = tuple[str | int, ...] | None  # the keys that are meant; None for any
_MOST_STORES = 60
# What the methods of lists, dicts and generators give: one item, all of them, or the same container again.
_ITEM_METHODS = frozenset({"get", "pop", "setdefault", "__getitem__", "popleft", "popitem"})
_ANY_ITEM = frozenset({"__next__", "send", "__enter__", "__aenter__", "__anext__"})
_METHODS = _ITEM_METHODS | _ANY_ITEM | frozenset({"values", "copy", "__iter__", "__aiter__", "items"})
_MAPPING_METHODS = frozenset(
    {"map", "flatMap", "mapToObj", "Select", "SelectMany", "thenApply", "thenCompose"}
)
_SAME_METHODS = frozenset({"values", "copy", "__iter__", "__aiter__"})


class Containers:
    """Looks into lists and dicts."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes = evaluator, evaluator.notes

    def keys(self, written: Any, module: Module, scope: int, fuel: int) -> Keys:
        """The keys that an index may be."""
        if written is None:
            return None
        if isinstance(written, (str, int)):
            return (written,)
        values = self._evaluator.value(written, module, scope, fuel)
        found = tuple(each for part in values for each in part if isinstance(each, (str, int)))
        return found or None

    def items(self, base: Answer, wanted: Keys, fuel: int) -> Answer:
        """What is in one of these values under one of the keys."""
        values = base[0] + base[1]
        if not values:
            return NOTHING
        return doubtful(joined([self._item(value, wanted, fuel) for value in values]))

    def _item(self, value: Value, wanted: Keys, fuel: int) -> Answer:
        if isinstance(value, Box):
            return self._notes.ask(("item", value, wanted), fuel, 1, NOTHING, self._in_box, value, wanted)
        if isinstance(value, Yields):
            return self._notes.ask(("yield", value), fuel, HOP, NOTHING, self._yielded, value)
        if isinstance(value, Instance) and value.of.is_class:
            question = ("item of", value, wanted is None)
            return self._notes.ask(question, fuel, 1, NOTHING, self._of_instance, value, wanted is None)
        if isinstance(value, Def) and value.is_class:
            return (value.instance,), ()
        return ELSEWHERE if isinstance(value, (Site, Outside)) else NOTHING

    def _in_box(self, box: Box, wanted: Keys, fuel: int) -> Answer:
        answers = [self._written(box.expr, box, wanted, fuel)]
        if box.name:
            answers += self._notes.ask(("stored in", box, wanted), fuel, HOP, [], self._stored, box, wanted)
        return joined([answer for answer in answers if answer != NOTHING] or [NOTHING])

    def _written(self, expr: Expr, box: Box, wanted: Keys, fuel: int) -> Answer:
        """The items that a literal shows."""
        word = expr[0]
        if word == "put":
            return self._put(expr, box, wanted, fuel)
        if word == "list":
            parts = self._of_list(expr[1], wanted)
        elif word == "dict":
            parts = _of_dict(expr[1], wanted)
        else:
            return self.items(self._evaluator.value(expr, box.module, box.scope, fuel - 1), wanted, fuel - 1)
        answers = [
            self._spread(part[1], box, wanted, fuel)
            if part[0] == "spread"
            else self._evaluator.value(part, box.module, box.scope, fuel - 1)
            for part in parts
        ]
        return joined(answers) if answers else NOTHING

    def _spread(self, expr: Expr, box: Box, wanted: Keys, fuel: int) -> Answer:
        inner = self._evaluator.value(expr, box.module, box.scope, fuel - 1)
        return self.items(inner, wanted if box.expr[0] == "dict" else None, fuel - 1)

    def _put(self, expr: Expr, box: Box, wanted: Keys, fuel: int) -> Answer:
        _, base, at, value = expr
        answers: list[Answer] = []
        if wanted is None or at is None or at in wanted:
            answers.append(self._evaluator.value(value, box.module, box.scope, fuel - 1))
        if wanted is None or at is None or any(each != at for each in wanted):
            rest = wanted if wanted is None else tuple(each for each in wanted if each != at)
            inner = self._evaluator.value(base, box.module, box.scope, fuel - 1)
            answers.append(self.items(inner, rest, fuel - 1))
        return joined([answer for answer in answers if answer != NOTHING] or [NOTHING])

    @staticmethod
    def _of_list(parts: tuple[Expr, ...], wanted: Keys) -> tuple[Expr, ...]:
        if wanted is None or len(parts) == 1:  # one part may stand for any number of such items
            return parts
        plain = next((place for place, part in enumerate(parts) if part[0] == "spread"), len(parts))
        if plain < len(parts) and any(not isinstance(each, int) or not 0 <= each < plain for each in wanted):
            return parts
        places = [each for each in wanted if isinstance(each, int) and -len(parts) <= each < len(parts)]
        return tuple(parts[place] for place in places)

    def _stored(self, box: Box, wanted: Keys, fuel: int) -> list[Answer]:
        """What is stored into the container after it was written, in its own file."""
        module = box.module
        self._notes.keys.add(key(keys.ITEM, module.path))
        stores = module.item_stores.get(box.name, ())
        if not box.name or len(stores) > _MOST_STORES:
            return []
        answers: list[Answer] = []
        for scope, target, at, value in stores:
            holders = self._evaluator.value(target, module, scope, near(fuel) - 1)
            if not any(holder is box for part in holders for holder in part):
                continue
            if value[0] == "spread":  # takes over all that another one has
                answers.append(
                    self.items(self._evaluator.value(value[1], module, scope, fuel - 1), wanted, fuel - 1)
                )
                continue
            stored = self.keys(at, module, scope, fuel - 1)
            if wanted is None or stored is None or set(stored) & set(wanted):
                answers.append(self._evaluator.value(value, module, scope, fuel - 1))
        return answers

    def _yielded(self, value: Yields, fuel: int) -> Answer:
        of = value.of
        self._notes.keys.add(key(keys.RESULT, of.module.path, of.qualified))
        answers = [self._evaluator.value(each, of.module, of.number, fuel) for each in of.fact.returns]
        return joined(answers) if answers else NOTHING

    def _of_instance(self, value: Instance, is_iteration: bool, fuel: int) -> Answer:
        """What an instance gives when it is iterated or indexed."""
        classes = self._evaluator.classes
        if is_iteration:
            given = self._called(value, "__iter__", fuel)
            if given is not None:
                answers = [self._next(each, fuel) for part in given for each in part]
                return joined(answers) if answers else NOTHING
        given = self._called(value, "__getitem__", fuel)
        if given is not None:
            return given
        return ELSEWHERE if classes.lineage(value.of, fuel)[1] else NOTHING

    def _next(self, iterator: Value, fuel: int) -> Answer:
        if isinstance(iterator, Instance):
            return self._called(iterator, "__next__", fuel) or NOTHING
        return self._item(iterator, None, fuel)

    def _called(self, value: Instance, method: str, fuel: int) -> Answer | None:
        member = self._evaluator.classes.member(value.of, method, fuel)
        functions = [
            each for part in member or () for each in part if isinstance(each, Def) and not each.is_class
        ]
        if not functions:
            return None
        given = joined([self._evaluator.results.returns(each, fuel) for each in functions])
        return self._evaluator.classes.seen_from(given, functions[0], value, fuel)

    def named(self, box: Box, name: str, fuel: int) -> Answer:
        """What a dict has under a name, where dicts are objects."""
        return self._item(box, (name,), fuel) if _is_dict(box) else NOTHING

    def slice(self, base: Answer, first: object, last: object) -> Answer:
        """A part of a list, where it is plain which."""
        found: list[Value] = []
        for value in base[0] + base[1]:
            if isinstance(value, Box) and value.expr[0] == "list":
                parts = value.expr[1]
                part: Expr = ("list", parts[first:last])
                found.append(self._evaluator.box(value.module, value.scope, part, part))
            else:
                found.append(value)
        return (), tuple(found)

    def method(self, call: Call, base: Answer, module: Module, fuel: int) -> Answer:
        """What a method of a list, dict or generator gives; NOTHING if it is called on none."""
        name = call.callee[2]
        passes_all = module.language.names_see_members
        if not passes_all and name not in _METHODS:
            return NOTHING
        boxes = tuple(each for part in base for each in part if isinstance(each, (Box, Yields)))
        if not boxes:
            return NOTHING
        if name in _SAME_METHODS:
            return (), boxes
        if name == "items":
            return self._pairs(boxes)
        if name in _MAPPING_METHODS and call.args:
            made = self._made(call.args[0], module, call.scope, fuel)
            if made != NOTHING:
                return made
        wanted = (
            self.keys(call.args[0], module, call.scope, fuel - 1)
            if call.args and name in _ITEM_METHODS
            else None
        )
        items = self.items(((), boxes), wanted, fuel)
        return ((), (*items[0], *items[1], *boxes)) if passes_all else items

    def _made(self, function: Expr, module: Module, scope: int, fuel: int) -> Answer:
        """What a function gives that is called for each item."""
        answer = self._evaluator.value(function, module, scope, fuel - 1)
        functions = [each for part in answer for each in part if isinstance(each, Def) and not each.is_class]
        return doubtful(
            joined([self._evaluator.results.returns(each, fuel) for each in functions] or [NOTHING])
        )

    def _pairs(self, boxes: tuple[Box | Yields, ...]) -> Answer:
        """The keys and values of dicts, as a list of pairs."""
        found: list[Value] = []
        for box in boxes:
            if isinstance(box, Box) and box.expr[0] == "dict":
                entries = box.expr[1]
                pairs = tuple(("list", (_as_key(at), part)) for at, part in entries)
                found.append(self._evaluator.box(box.module, box.scope, ("list", pairs), ("list", pairs)))
        return (), tuple(found)


def _of_dict(entries: tuple[tuple[object, Expr], ...], wanted: Keys) -> list[Expr]:
    if wanted is None:
        return [part for _, part in entries]
    last = [part for at, part in entries if type(at) in (str, int) and at in wanted]
    unsure = [part for at, part in entries if type(at) not in (str, int)]
    return last + unsure


def _as_key(at: Any) -> Expr:
    if isinstance(at, str | int):
        return ("key", at)
    return cast("Expr", at) if isinstance(at, tuple) else ("any", ())


def _is_dict(box: Box) -> bool:
    return box.expr[0] in ("dict", "put")
