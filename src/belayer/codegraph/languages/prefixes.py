"""The paths that routers stand under: a call makes a group, a variable holds it, what is inside its scope sees it."""

from belayer.codegraph.facts import Expr
from belayer.codegraph.languages.draft import Draft


class Prefixes:
    """The prefix of each group, by the call that made it, and of each name, by the scope that binds it."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.of_groups: dict[object, str] = {}
        self.of_names: dict[tuple[int, str], str] = {}

    def bind(self, name: str, value: Expr) -> None:
        """In this scope the name holds the value, which may be a group."""
        if value[0] == "call" and value[1] in self.of_groups:
            self.of_names[self._draft.scope, name] = self.of_groups[value[1]]

    def of(self, router: Expr) -> str:
        """What routes of this router stand under; nothing if that is not known."""
        if router[0] == "call":
            return self.of_groups.get(router[1], "")
        scope = self._draft.scope
        while router[0] == "name" and scope >= 0:
            found = self.of_names.get((scope, str(router[1])))
            if found is not None:
                return found
            scope = self._draft.definitions[scope].parent
        return ""
