"""Which functions a file's calls run, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Call, Shape
from belayer.codegraph.graph import Confidence, Relation
from belayer.codegraph.link import keys, words
from belayer.codegraph.link.evaluator import Evaluator
from belayer.codegraph.link.flow import takes
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL
from belayer.codegraph.link.values import (
    ELSEWHERE,
    EXTENSION,
    FOREIGN,
    NOTHING,
    Answer,
    Def,
    Instance,
)

if TYPE_CHECKING:
    from belayer.codegraph.languages.language import Language
    from belayer.codegraph.link.weaver import Piece

_MOST_OVERRIDERS = 12
_MOST_NAMESAKES = 3
_SHORTEST_NAME = 4


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods of built-in types and of half of all classes: a name like these says nothing about whose it is.
_COMMON = _words(
    """
    accept add all append apply assert build call catch check clear close commit concat connect contains copy
    count create data debug decode default delete disconnect dispatch dump each emit empty encode endswith equals
    error every exec execute exists exit extend fetch filter find first flush format from getattr handle hash has
    head info init insert invoke items iter iterator join keys last length list load lock log loads main make
    match merge message modify name next notify open parse patch path peek poll post print process push query
    raise read reduce register release remove render replace request reset resolve resume reverse route run save
    search seek select send set setup shift signal size slice some sort splice split start startswith state status
    step stop store stream strip submit subscribe sum swap sync tell test text then throw time title toString trim
    type uniq unlock unsubscribe update upper lower url use user valid validate value values verify view visit
    wait walk warn warning watch with wrap write
    """
)


class Calls:
    """Turns calls into edges."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._world = evaluator.world

    def weave(self, piece: Piece) -> None:
        """The edges of all calls of a file."""
        module = piece.module
        may_skip = not module.language.names_see_members
        knows = self._world.knows
        for number, call in enumerate(module.facts.calls):
            callee = call.callee
            if may_skip and callee[0] == "attr" and not knows(callee[2]):
                continue
            if call.unless >= 0 and self._leads_somewhere(module, call.unless):
                continue
            answer = piece.value(callee, call.scope)
            if answer == NOTHING:
                self._weave_unknown(piece, module, call)
            elif answer is not ELSEWHERE:
                self._weave_call(piece, module, number, answer)
            elif callee[0] == "attr" and not may_skip:
                self._extension(piece, module, call)

    def _weave_call(self, piece: Piece, module: Module, number: int, answer: Answer) -> None:
        call = module.facts.calls[number]
        sure, unsure = answer
        if len(sure) + len(unsure) == 1:
            value, confidence = (sure[0], Confidence.RESOLVED) if sure else (unsure[0], Confidence.INFERRED)
            if type(value) is Def and value.is_final:
                piece.refer(call.scope, value, Relation.CALLS, confidence, call.line, call.column)
            elif type(value) not in FOREIGN:
                self._weave_each(piece, module, call, answer)
        else:
            self._weave_each(piece, module, call, answer)
        if call.callee[0] == "attr" and call.callee[2] == "__iter__":
            self._next(piece, module, number, call)

    def _weave_each(self, piece: Piece, module: Module, call: Call, answer: Answer) -> None:
        found: dict[Def, Confidence] = {}
        self._made(answer, found)
        for function, _, is_sure in self._evaluator.flow.run_by(answer, module, call, FULL):
            confidence = Confidence.RESOLVED if is_sure else Confidence.INFERRED
            found[function] = max(confidence, found.get(function, confidence))
            for other in self._stand_ins(function, call, module):
                found.setdefault(other, Confidence.INFERRED)
        for target, confidence in found.items():
            piece.refer(call.scope, target, Relation.CALLS, confidence, call.line, call.column)

    def _weave_unknown(self, piece: Piece, module: Module, call: Call) -> None:
        if call.callee[0] == "attr" and not self._extension(piece, module, call):
            self._by_name(piece, module, call)

    def _leads_somewhere(self, module: Module, number: int) -> bool:
        return bool(self._evaluator.flow.targets(module, number, FULL))

    @staticmethod
    def _made(answer: Answer, found: dict[Def, Confidence]) -> None:
        """A class that is called is a target itself, beside its constructor."""
        for values, confidence in zip(answer, (Confidence.RESOLVED, Confidence.INFERRED), strict=True):
            for value in values:
                if isinstance(value, Def) and value.is_class:
                    found.setdefault(value, confidence)

    def _stand_ins(self, function: Def, call: Call, module: Module) -> list[Def]:
        """The methods that may run in its place: those that implement an abstract one, or override a virtual one."""
        if function.is_final or self._is_asked_of_class(call, module):
            return []
        owner = function.module.facts.definitions[function.fact.parent]
        is_abstract = function.is_abstract or owner.shape is Shape.INTERFACE
        if not is_abstract and not (module.language.names_see_members and self._is_virtual(call, module)):
            return []
        found = self._evaluator.classes.overriders(function, FULL)
        return found if len(found) <= _MOST_OVERRIDERS else []

    def _is_asked_of_class(self, call: Call, module: Module) -> bool:
        """Whether a method is taken from a class, so that no other can run in its place."""
        if call.callee[0] != "attr" or not module.language.names_see_members:
            return False
        answer = self._evaluator.value(call.callee[1], module, call.scope, FULL)
        return any(isinstance(value, Def) and value.is_class for value in answer[0])

    def _is_virtual(self, call: Call, module: Module) -> bool:
        """Whether the instance may be of a class below the one that is known."""
        if call.callee[0] != "attr":
            return True
        base = call.callee[1]
        if base[0] == "super":
            return False
        answer = self._evaluator.value(base, module, call.scope, FULL)
        return any(isinstance(value, Instance) and not value.is_exact for part in answer for value in part)

    def _next(self, piece: Piece, module: Module, number: int, call: Call) -> None:
        """Who iterates over an instance calls the iterator's __next__."""
        given = self._evaluator.value(("call", number), module, call.scope, FULL)
        for values, confidence in zip(given, (Confidence.RESOLVED, Confidence.INFERRED), strict=True):
            for value in values:
                if isinstance(value, Instance):
                    for part in self._evaluator.classes.member(value.of, "__next__", FULL) or ():
                        for each in part:
                            if isinstance(each, Def):
                                piece.refer(
                                    call.scope, each, Relation.CALLS, confidence, call.line, call.column
                                )

    def _extension(self, piece: Piece, module: Module, call: Call) -> bool:
        """Functions of the files seen from here that are called like methods of the value's class."""
        name = call.callee[2]
        if not module.language.names_see_members or not self._world.knows(name):
            return False
        self._evaluator.notes.keys.add(key(keys.METHOD, name))
        holders = self._world.having(words.METHODS, name)
        seen = set(self._seen(module)) if holders else set[str]()
        answer = piece.value(call.callee[1], call.scope)
        owners = [value.of for part in answer for value in part if isinstance(value, Instance)]
        is_linked = False
        for path in holders:
            other = self._world.module(path) if path in seen else None
            for number in other.methods.get(name, ()) if other is not None else ():
                function = other.definition(number) if other is not None else None
                if function is None or not function.traits & EXTENSION:
                    continue
                if not owners or any(
                    self._evaluator.classes.extends(function, owner, FULL) for owner in owners
                ):
                    confidence = Confidence.RESOLVED if owners else Confidence.INFERRED
                    piece.refer(call.scope, function, Relation.CALLS, confidence, call.line, call.column)
                    is_linked = True
        return is_linked

    def _seen(self, module: Module) -> list[str]:
        """The files whose functions a file sees: its own, those that are visible, those that it imports all of."""
        starred = [path for spec in module.stars for path in self._evaluator.imports.files(module, spec)]
        return [module.path, *self._evaluator.names.visible(module), *starred]

    def _by_name(self, piece: Piece, module: Module, call: Call) -> None:
        """Nothing is known of what the method is called on: the few methods of that name, if it says something."""
        name = call.callee[2]
        if call.callee[1][0] == "super" or name == "constructor" or name in ordinary(module.language):
            return
        if len(name) < _SHORTEST_NAME or name.startswith("__") or name in _COMMON:
            return
        self._evaluator.notes.keys.add(key(keys.METHOD, name))
        holders = self._world.having(words.METHODS, name)
        if not holders or len(holders) > _MOST_NAMESAKES:
            return
        found = [
            other.definition(number)
            for path in holders
            if (other := self._world.module(path)) is not None and other.language is module.language
            for number in other.methods.get(name, ())
        ]
        count = len(call.args) + len(call.keywords)
        is_open = any(keyword[:1] == "*" for keyword, _ in call.keywords)
        fitting = [each for each in found if is_open or takes(each, count)]
        if len(fitting) <= _MOST_NAMESAKES:
            for each in fitting:
                piece.refer(call.scope, each, Relation.CALLS, Confidence.BY_NAME, call.line, call.column)


def ordinary(language: Language) -> frozenset[str]:
    """The members that values of the language's own library have, so that a name like these says nothing."""
    return getattr(language, "ordinary", frozenset())
