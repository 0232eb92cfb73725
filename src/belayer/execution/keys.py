"""Names of steps: paths of names and counters, the same on every replay.

`#` is ours alone, so that no name a workflow chooses can be a counter or a question of the engine's.
"""

from collections import Counter

from belayer.vocabulary.errors import LogicError

_LONGEST = 200


class Scope:
    """One line of work. A name used again gets a counter: fetch, fetch#2, fetch#3."""

    def __init__(self, prefix: str = "", taken: set[str] | None = None) -> None:
        self._prefix = prefix
        self._taken = set[str]() if taken is None else taken
        self._used: Counter[str] = Counter()

    def path(self, name: str) -> str:
        if not name or "#" in name or len(name) > _LONGEST:
            raise LogicError(
                f"{name[:40]!r} cannot be a step's key.", f"Use 1 to {_LONGEST} characters other than '#'."
            )
        path = self.coming(name)
        self._used[name] += 1
        if path in self._taken:
            raise LogicError(
                f"Two places of the workflow use the key {path!r}.",
                "Rename one: a branch's keys begin like this.",
            )
        self._taken.add(path)
        return path

    def coming(self, name: str) -> str:
        """The path that this name will have when it is used next."""
        count = self._used[name] + 1
        return f"{self._prefix}{name}" if count == 1 else f"{self._prefix}{name}#{count}"

    def within(self, name: str) -> "Scope":
        """The scope of everything that belongs to one name."""
        return Scope(f"{self._prefix}{name}/", self._taken)

    def branch(self, path: str, place: int) -> "Scope":
        """The scope of a parallel branch."""
        return Scope(f"{path}/{place}/", self._taken)
