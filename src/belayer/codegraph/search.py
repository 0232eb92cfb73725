"""Search symbols by name: exact, by their beginning, by the words in them, by a part, by their letters in order."""

import re
from bisect import bisect_right
from typing import Literal

from belayer.codegraph.arrays import Snapshot

Fit = Literal["exact", "prefix", "parts", "substring", "letters"]
_ORDER: dict[Fit, int] = {"exact": 0, "prefix": 1, "parts": 2, "substring": 3, "letters": 4}
_LONGEST = 200
_FEWEST_LETTERS = 2
_MOST_LOOKED_AT = 5_000
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def find(graph: Snapshot, query: str, limit: int) -> tuple[list[tuple[int, Fit]], int]:
    """The best nodes and how each fits, and how many fit at all. Letters in order count only if nothing else fits."""
    wanted = query.strip()[:_LONGEST]
    if not wanted:
        return [], 0
    text, starts = graph.name_index
    lowered = wanted.lower()
    # What fits well first: of what only has the query somewhere in it, no more are looked at than is sensible.
    found: dict[int, None] = {}
    for sought in (f".{lowered}\n", f"\n{lowered}\n", f".{lowered}", f"\n{lowered}", lowered):
        _add_containing(found, text, starts, sought)
    if len(found) < limit:
        found |= dict.fromkeys(_lettered(text, starts, lowered))
    ranked = sorted(_ranked(graph, node, wanted) for node in found)
    solid = [entry for entry in ranked if entry[0] < _ORDER["letters"]]
    best = solid or ranked
    names = list(_ORDER)
    return [(node, names[order]) for order, *_, node in best[:limit]], len(best)


def _add_containing(found: dict[int, None], text: str, starts: list[int], sought: str) -> None:
    place = text.find(sought)
    while place >= 0 and len(found) < _MOST_LOOKED_AT:
        node = bisect_right(starts, place + (sought[0] == "\n")) - 1
        found[node] = None
        place = text.find(sought, starts[node + 1] - 1)


def _lettered(text: str, starts: list[int], wanted: str) -> set[int]:
    """Names with these letters in this order. Each gap leaves out the letter that ends it: no way is tried twice."""
    letters = [re.escape(letter) for letter in wanted if not letter.isspace()]
    if len(letters) < _FEWEST_LETTERS:
        return set()
    pattern = re.compile("(?m)^" + "".join(rf"[^\n{letter}]*+{letter}" for letter in letters))
    found: set[int] = set()
    for match in pattern.finditer(text):
        found.add(bisect_right(starts, match.start()) - 1)
        if len(found) >= _MOST_LOOKED_AT:
            break
    return found


def _ranked(graph: Snapshot, node: int, wanted: str) -> tuple[int, bool, int, int, str, int]:
    """Its place among the found: how it fits, then what it is, then the shorter name."""
    name = graph.names[node]
    fit = _fit(name, wanted)
    other_case = wanted not in name
    return _ORDER[fit], other_case, int(graph.kinds[node]), len(name), graph.ids[node], node


def _fit(name: str, wanted: str) -> Fit:
    lowered, query = name.lower(), wanted.lower()
    last = lowered.rpartition(".")[2]
    if query in (lowered, last) or lowered.endswith("." + query):
        return "exact"
    if last.startswith(query) or lowered.startswith(query):
        return "prefix"
    if _made_of(name.rpartition(".")[2], wanted):
        return "parts"
    return "substring" if query in lowered else "letters"


def _made_of(name: str, wanted: str) -> bool:
    """Whether the words of the query begin words of the name, in order; a query of one word may be their initials."""
    words = [word.lower() for word in _WORDS.findall(name)]
    asked = [word.lower() for word in _WORDS.findall(wanted)]
    if not asked:
        return False
    rest = iter(words)
    if all(any(word.startswith(ask) for word in rest) for ask in asked):
        return True
    return len(asked) == 1 and len(words) > 1 and "".join(word[0] for word in words).startswith(asked[0])
