"""How JavaScript's objects get and pass on what they have: prototypes, descriptors, arguments, AMD modules."""

import pytest

from tests.codegraph.graphs import edges


def calls(source: str, **others: str) -> set[str]:
    """Who calls what, as `f -> g`, in main.js and the other files beside it."""
    sources = {"main.js": source} | {f"{name}.js": text for name, text in others.items()}
    return {_short(line) for line in edges(sources)}


def _short(line: str) -> str:
    source, _, rest = line.partition(" -calls-> ")
    target = rest.rpartition(" ")[0]
    return f"{source.rpartition('::')[2]} -> {target.rpartition('::')[2]}"


# ---- prototypes


def test_a_prototype_that_is_an_object_gives_methods_which_know_their_instance() -> None:
    source = """
    function Shop() { this.till = () => {}; }
    Shop.prototype = { open() { this.close(); this.till(); }, close() {} };
    function go() { new Shop().open(); }
    """
    found = calls(source)
    assert {"go -> Shop.open", "Shop.open -> Shop.close", "Shop.open -> Shop.till"} <= found


def test_methods_of_another_prototype_are_not_known() -> None:
    source = """
    function Shop() {} function Bank() {}
    Shop.prototype = { open() { this.close(); } };
    Bank.prototype = { close() {} };
    """
    assert calls(source) == set()


@pytest.mark.parametrize("way", ["Object.setPrototypeOf(child, base)", "child.__proto__ = base"])
def test_an_object_has_what_its_prototype_has(way: str) -> None:
    source = f"const base = {{ run() {{}} }}; const child = {{}}; {way}; function go() {{ child.run(); }}"
    assert "go -> base.run" in calls(source)


def test_an_object_does_not_have_what_another_ones_prototype_has() -> None:
    source = """
    const base = { run() {} }; const child = {}; const other = {};
    Object.setPrototypeOf(child, base);
    function go() { other.run(); }
    """
    assert "go -> base.run" not in calls(source)


def test_a_function_that_is_stored_under_a_computed_name_knows_its_holder() -> None:
    source = """
    class Client { send() {} }
    const app = { set() {} };
    for (const verb of ["get", "post"]) {
      Client.prototype[verb] = function () { this.send(); };
      app[verb] = function () { this.set(); };
    }
    """
    targets = {line.partition(" -> ")[2] for line in calls(source)}
    assert targets == {"Client.send", "app.set"}


# ---- descriptors


@pytest.mark.parametrize(
    "made",
    [
        "Object.create(null, { run: { value: act } })",
        "Object.create({ run: act })",
        "Object.defineProperty({}, 'run', { value: act })",
        "Object.create(Object.getPrototypeOf({ run: act }))",
    ],
)
def test_a_property_is_known_by_its_descriptor(made: str) -> None:
    source = f"function act() {{}} function go() {{ const made = {made}; made.run(); }}"
    assert "go -> act" in calls(source)


def test_a_setter_of_a_class_is_called_in_straight_line_code() -> None:
    source = "class Box { set lid(x) {} } function go() { const box = new Box(); box.lid = 1; }"
    assert "go -> Box.lid" in calls(source)


def test_a_field_that_is_stored_in_an_instance_is_found_in_another_function() -> None:
    source = """
    class Box {}
    function act() {}
    const box = new Box();
    box.run = act;
    function go() { box.run(); }
    """
    assert "go -> act" in calls(source)


# ---- arguments


def test_arguments_are_what_a_function_was_given() -> None:
    source = """
    function go(first) { arguments[1](); Array.prototype.slice.call(arguments, 1).forEach(function each(f) { f(); }); }
    function one() {} function two() {}
    go(one, two);
    """
    found = calls(source)
    assert "go -> two" in found
    assert "go.each -> two" in found
    assert "go.each -> one" not in found


def test_an_arrow_has_the_arguments_of_the_function_around_it() -> None:
    source = "function act() {} function go() { const first = () => arguments[0]; first()(); } go(act);"
    assert "go -> act" in calls(source)


def test_what_stands_behind_a_spread_is_passed_on() -> None:
    source = """
    function one() {} function two() {}
    function go(first, second) { second(); }
    go(...[one], two);
    """
    assert "go -> two" in calls(source)


def test_a_list_takes_over_what_is_spread_into_it() -> None:
    source = (
        "function act() {} const all = []; all.push(...[act]); function go() { for (const f of all) f(); }"
    )
    assert "go -> act" in calls(source)


def test_a_set_that_was_empty_gives_what_was_added() -> None:
    source = "function act() {} const all = new Set(); all.add(act); all.forEach(function go(f) { f(); });"
    assert "go -> act" in calls(source)


def test_a_name_that_holds_a_string_may_be_an_index() -> None:
    source = """
    function act() {} function other() {}
    function Box() { const name = "run"; this[name] = act; this.stop = other; }
    function go() { new Box().run(); }
    """
    found = calls(source)
    assert "go -> act" in found
    assert "go -> other" not in found


# ---- modules without import


def test_a_module_by_define_is_what_its_function_gives() -> None:
    found = calls(
        "define(['./lib'], function main(lib) { function go() { lib.run(); } return { go }; });",
        lib="define({ run: function () {}, stop: function () {} });",
        use="const main = require('./main'); function start() { main.go(); }",
    )
    assert "main.go -> run" in found
    assert "start -> main.go" in found
    assert not any(line.endswith("stop") for line in found)


def test_modules_that_require_waits_for_are_its_functions_arguments() -> None:
    found = calls(
        "require(['./lib'], function ready(lib) { lib.run(); });", lib="exports.run = function run() {};"
    )
    assert "ready -> run" in found


def test_an_object_that_a_module_exports_may_speak_of_itself() -> None:
    found = calls(
        "const lib = require('./lib'); function go() { lib.open(); }",
        lib="module.exports = { open() { this.close(); }, close() {} };",
    )
    assert {"go -> open", "open -> close"} <= found
