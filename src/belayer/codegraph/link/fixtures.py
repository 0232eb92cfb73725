"""Which function gives a test its argument: pytest's fixtures, found by the parameter's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belayer.codegraph.link import keys
from belayer.codegraph.link.keys import key
from belayer.codegraph.link.values import TEST, Def

if TYPE_CHECKING:
    from belayer.codegraph.link.module import Module
    from belayer.codegraph.link.notes import Asked
    from belayer.codegraph.link.world import World

FIXTURE = "fixture"


def takes_fixtures(function: Def) -> bool:
    """Whether a function's parameters are given to it by name: a test, or a fixture itself."""
    return function.module.language.name == "python" and bool(
        function.traits & TEST or FIXTURE in function.fact.tags
    )


def fixture(world: World, asked: Asked, function: Def, name: str) -> Def | None:
    """The fixture of this name that a test sees: of its class, its file, or a conftest.py in the folders above."""
    module = function.module
    for scope in dict.fromkeys((function.fact.parent, 0)):
        found = _in(module, scope, name, asked)
        if found is not None and found is not function:
            return found
    folder = module.path.rpartition("/")[0]
    while True:
        above = world.module(f"{folder}/conftest.py".lstrip("/"))
        found = _in(above, 0, name, asked) if above is not None else None
        if found is not None and found is not function:
            return found
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _in(module: Module, scope: int, name: str, asked: Asked) -> Def | None:
    outer = module.qualified[scope]
    asked.add(module.name_key(scope, name))
    asked.add(key(keys.DEFINITION, module.path, f"{outer}.{name}" if outer else name))
    for number in module.members.get(scope, ()):
        fact = module.facts.definitions[number]
        if fact.name == name and FIXTURE in fact.tags:
            return module.definition(number)
    return None
