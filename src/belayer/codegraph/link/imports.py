"""What goes from file to file: what an import leads to, and what a file gives under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.facts import Expr
from belayer.codegraph.link import keys
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import FULL, LAST, near
from belayer.codegraph.link.values import ELSEWHERE, NOTHING, OUTSIDE, Answer, Folder, Value, joined

if TYPE_CHECKING:
    from belayer.codegraph.link.evaluator import Evaluator

_PACKAGE_FILE = "__init__.py"
_EMPTY: dict[str, list[Expr]] = {}


class Imports:
    """Follows imports and exports."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._notes, self._world = evaluator, evaluator.notes, evaluator.world

    def value_of(self, expr: Expr, module: Module, _scope: int, fuel: int) -> Answer:
        _, spec, name = expr
        return self._notes.ask(
            ("import", module, spec, name), fuel, 1, NOTHING, self._imported, module, spec, name
        )

    def _imported(self, module: Module, spec: str, name: str | None, fuel: int) -> Answer:
        places = [self._place(path, module) for path in self.files(module, spec)]
        if name is None:
            return (tuple(places), ()) if places else ELSEWHERE
        for place in places:
            found = self._evaluator.attribute(place, name, fuel)
            if found not in (NOTHING, ELSEWHERE):
                return found
        if not places and not spec.strip("."):
            return ELSEWHERE
        return NOTHING if places else ELSEWHERE

    def _place(self, path: str, module: Module) -> Value:
        if path.endswith("/"):
            return self._notes.ask(("folder", path), FULL, 0, OUTSIDE, lambda *_: Folder(module, path))
        return self._world.module(path) or OUTSIDE

    def files(self, module: Module, spec: str) -> tuple[str, ...]:
        """The files that an import leads to."""
        is_relative = spec[:1] == "." or module.language.names_see_members
        importer = module.path if is_relative else module.path.rpartition("/")[0]
        question = ("imported", module.language.name, importer, spec)
        return self._notes.ask(question, FULL, 0, (), self._follow_import, module, spec)

    def _follow_import(self, module: Module, spec: str, _: int) -> tuple[str, ...]:
        return module.language.imported(spec, module.path, self._world)

    def export(self, module: Module, name: str, fuel: int) -> Answer:
        """What a file gives under a name; NOTHING if it has no such name."""
        return self._notes.ask(("export", module, name), fuel, 1, NOTHING, self._export, module, name)

    def _export(self, module: Module, name: str, fuel: int) -> Answer:
        self._notes.keys.add(key(keys.EXPORT, module.path, name))
        if module.facts.exports is None:
            return self._top_level(module, name, fuel)
        given = [export.value for export in module.facts.exports if export.name == name]
        if given:
            return joined([self._evaluator.value(value, module, 0, fuel - 1) for value in given])
        self._notes.keys.add(key(keys.EXPORT, module.path, "*"))
        for export in module.facts.exports:
            if export.name == "*":
                for place in self._evaluator.value(export.value, module, 0, fuel - 1)[0]:
                    found = self.export(place, name, fuel - 1) if isinstance(place, Module) else NOTHING
                    if found != NOTHING:
                        return found
        return self._of_whole_module(module, name, fuel)

    def _of_whole_module(self, module: Module, name: str, fuel: int) -> Answer:
        """An attribute of what the module itself is, where a module can be a value (module.exports = …)."""
        if name == "=":
            return NOTHING
        whole = self.whole(module, fuel - 1)
        if name == "default" or whole == NOTHING:
            return whole
        return self._evaluator.attributes(whole, name, fuel - 1)

    def whole(self, module: Module, fuel: int) -> Answer:
        """What a module itself is, where that is a value, through modules that are each other's."""
        found = self.export(module, "=", fuel)
        if any(isinstance(value, Module) for value in found[0]) and near(fuel) > LAST:
            return joined([self.whole(value, fuel - 1) for value in found[0] if isinstance(value, Module)])
        return found

    def _top_level(self, module: Module, name: str, fuel: int) -> Answer:
        self._notes.keys.add(module.name_key(0, name))
        values = module.names.get(0, _EMPTY).get(name)
        if module.language.names_see_members:  # what a file imports is not known to those that import it
            values = [value for value in values or () if value[0] == "def"]
        if values:
            return self._evaluator.names.one_of(values, module, 0, fuel)
        if module.facts.language != "python":
            return NOTHING
        return self._evaluator.names.star_imported(module, name, fuel)

    def of_folder(self, value: Folder, name: str, _fuel: int) -> Answer:
        return self._below(value.module, f"{value.path}{_PACKAGE_FILE}", name)

    def of_module(self, module: Module, name: str, fuel: int) -> Answer:
        found = self.export(module, name, fuel)
        if found == NOTHING and module.path.endswith(_PACKAGE_FILE):
            return self._below(module, module.path, name)
        return found

    def _below(self, module: Module, package: str, name: str) -> Answer:
        """A file or folder in a package's folder."""
        paths = module.language.imported(f".{name}", package, self._world)
        return (tuple(self._place(path, module) for path in paths[:1]), ()) if paths else NOTHING
