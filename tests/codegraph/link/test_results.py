"""What calls give and what instances hold: bounded, but true to the call that is asked about."""

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges


def calls(sources: dict[str, str], caller: str) -> set[str]:
    """What this function or file calls, by the targets' names."""
    lines = (line.partition(" -calls-> ") for line in edges(sources, Relation.CALLS))
    return {
        target.rpartition(" ")[0].rpartition("::")[2]
        for source, _, target in lines
        if source.endswith(caller)
    }


def test_a_function_gives_back_what_this_call_passed() -> None:
    source = "def same(x): return x\ndef one(): ...\ndef two(): ...\nsame(one)\ndef go(): same(two)()\n"
    assert calls({"main.py": source}, "::go") == {"same", "two"}


def test_a_parameter_that_gets_another_value_is_not_given_back_as_it_came() -> None:
    pick = "def other(): ...\ndef pick(x):\n    if not x: x = other\n    return x\n"
    source = f"{pick}def one(): ...\ndef go(): pick(one)()\n"
    assert calls({"main.py": source}, "::go") == {"pick", "one", "other"}


def test_a_default_is_given_back_where_nothing_was_passed() -> None:
    source = "def one(): ...\ndef two(): ...\ndef same(x=one): return x\nsame(two)\ndef go(): same()()\n"
    assert calls({"main.py": source}, "::go") == {"same", "one"}


def test_an_attribute_that_its_class_leaves_empty_is_looked_for_elsewhere() -> None:
    sources = {
        "box.py": "class Box:\n    def __init__(self): self.hook = None\n    def fire(self): self.hook()\n",
        "main.py": "from box import Box\ndef act(): ...\nbox = Box()\nbox.hook = act\n",
    }
    assert "act" in calls(sources, "Box.fire")


def test_a_list_of_a_type_has_it_at_every_place() -> None:
    source = """
    class Foo { go() {} }
    function act(xs: Foo[]) { xs[1].go(); }
    function take(xs: Foo[]) { const [, b] = xs; b.go(); }
    """
    assert calls({"main.ts": source}, "::act") == {"Foo.go"}
    assert calls({"main.ts": source}, "::take") == {"Foo.go"}


def test_a_place_before_the_first_spread_is_exact() -> None:
    source = (
        "function one() {} function two() {} function go(xs) { const all = [one, two, ...xs]; all[1](); }"
    )
    assert calls({"main.js": source}, "::go") == {"two"}


def test_what_was_copied_into_a_prototype_hides_what_is_inherited() -> None:
    source = """
    class Base { run() {} stop() {} }
    class Child extends Base {}
    const extra = { run() {} };
    Object.assign(Child.prototype, extra);
    function go() { const child = new Child(); child.run(); child.stop(); }
    """
    assert calls({"main.js": source}, "::go") == {"Child", "extra.run", "Base.stop"}


def test_a_module_may_be_what_a_function_made() -> None:
    sources = {
        "make.js": "function make() { return function made() {}; } module.exports = make();",
        "main.js": "const made = require('./make'); function go() { made(); }",
    }
    assert calls(sources, "::go") == {"make.made"}


def test_a_function_that_is_called_with_new_may_give_another_object() -> None:
    source = "function Shop() { return { open() {} }; } function go() { new Shop().open(); }"
    assert calls({"main.js": source}, "::go") == {"Shop", "Shop.open"}


def test_what_a_file_uses_is_not_passed_on_to_those_who_use_it() -> None:
    sources = {
        "a.cs": "using M; namespace N; class A { void F() { C.Go(); } }",
        "b.cs": "using O; namespace M; class B { void G() { C.Go(); } }",
        "c.cs": "namespace O; static class C { public static void Go() {} }",
    }
    assert calls(sources, "A.F") == set()
    assert calls(sources, "B.G") == {"C.Go"}


def test_a_function_of_another_file_may_fill_a_field_of_what_it_is_given() -> None:
    sources = {
        "main.js": """
            import { change } from './lib.js';
            class Box { constructor(f) { this.run = f; } }
            function first() {}
            const box = new Box(first);
            change(box);
            function go() { box.run(); }
        """,
        "lib.js": "function second() {} function third() {}\nexport function change(box) { box.run = second; }",
    }
    assert calls(sources, "::go") == {"first", "second"}
