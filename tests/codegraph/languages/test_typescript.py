"""The rules by which names of TypeScript and JavaScript lead to definitions, each with a case where they must not."""

import pytest

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges, nodes


def calls(source: str, *, path: str = "main.ts", **others: str) -> set[str]:
    """Who calls what, as `f -> g`, in one file and others beside it."""
    sources = {path: source} | {
        name.replace("__", "/").replace("_ts", ".ts"): text for name, text in others.items()
    }
    return {_short(line) for line in edges(sources)}


def _short(line: str) -> str:
    source, _, rest = line.partition(" -calls-> ")
    target = rest.rpartition(" ")[0]
    return f"{source.rpartition('::')[2]} -> {target.rpartition('::')[2]}"


# ---- scopes


def test_a_function_is_known_before_it_stands_there() -> None:
    assert calls("f(); function f() {}") == {"main.ts -> f"}


def test_an_inner_name_hides_an_outer_one() -> None:
    source = """
    function act() {}
    function go() { function act() {} act(); }
    """
    assert calls(source) == {"go -> go.act"}


def test_a_parameter_hides_a_function_of_the_module() -> None:
    assert calls("function act() {} function go(act) { act(); }") == set()


def test_a_name_of_a_block_is_unknown_outside_of_it() -> None:
    source = """
    function act() {}
    function go(flag) { if (flag) { const act = () => {}; act(); } act(); }
    """
    assert calls(source) == {"go -> go.act@1", "go -> act"}


def test_a_name_of_a_block_is_known_before_its_line_in_that_block() -> None:
    source = (
        "function go() { try { const first = () => second(); const second = () => {}; first(); } catch {} }"
    )
    assert calls(source) == {"go -> go.first", "go.first -> go.second"}


def test_the_last_assignment_counts_in_straight_line_code() -> None:
    assert calls("function a() {} function b() {} let f = a; f = b; f();") == {"main.ts -> b"}


def test_both_branches_count() -> None:
    source = "function a() {} function b() {} let f; if (x) { f = a; } else { f = b; } f();"
    assert calls(source) == {"main.ts -> a", "main.ts -> b"}


def test_a_branch_that_returns_does_not_count() -> None:
    source = """
    function a() {} function b() {}
    function go(x) { let f = a; if (x) { f = b; return; } f(); }
    """
    assert calls(source) == {"go -> a"}


def test_what_a_loop_binds_counts_in_its_next_round() -> None:
    source = "function a() {} function b() {} let f = a; for (;;) { f(); f = b; }"
    assert calls(source) == {"main.ts -> a", "main.ts -> b"}


def test_what_another_function_assigns_counts() -> None:
    source = "function a() {} let f = null; function put() { f = a; } put(); f();"
    assert calls(source) == {"main.ts -> put", "main.ts -> a"}


def test_a_swap_is_followed() -> None:
    source = "function a() {} function b() {} let x = a, y = b; [x, y] = [y, x]; x();"
    assert calls(source) == {"main.ts -> b"}


# ---- modules


MODULES = {
    "named": ("import { f as g } from './lib'; g();", "export function f() {}", "f"),
    "default": ("import f from './lib'; f();", "export default function f() {}", "f"),
    "default without a name": ("import f from './lib'; f();", "export default () => {}", "default"),
    "namespace": ("import * as lib from './lib'; lib.f();", "export const f = () => {};", "f"),
    "with its suffix": ("import { f } from './lib.js'; f();", "function f() {} export { f };", "f"),
    "renamed on the way out": ("import { g } from './lib'; g();", "function f() {} export { f as g };", "f"),
    "dynamic": (
        "async function go() { const { f } = await import('./lib'); f(); } ",
        "export function f() {}",
        "f",
    ),
    "then": ("import('./lib').then((lib) => lib.f());", "export function f() {}", "f"),
    "require": ("const lib = require('./lib'); lib.f();", "exports.f = () => {};", "f"),
    "taken apart": ("const { f: g } = require('./lib'); g();", "module.exports = { f() {} };", "f"),
    "the module itself": ("const f = require('./lib'); f();", "module.exports = function f() {};", "f"),
    "CommonJS by an import": ("import f from './lib'; f();", "function f() {} module.exports = f;", "f"),
    "export =": ("import f = require('./lib'); f();", "function f() {} export = f;", "f"),
}


@pytest.mark.parametrize("way", MODULES)
def test_a_call_leads_through_an_import(way: str) -> None:
    source, library, name = MODULES[way]
    found = edges({"main.ts": source, "lib.ts": library})
    assert any(line.split(" -calls-> ")[1].startswith(f"lib.ts::{name} ") for line in found)


def test_barrels_pass_names_on() -> None:
    sources = {
        "main.ts": "import { f, g, shapes } from './lib'; f(); g(); shapes.h();",
        "lib/index.ts": """
            export * from './one';
            export { default as g } from './two';
            export * as shapes from './three';
        """,
        "lib/one.ts": "export function f() {}",
        "lib/two.ts": "export default function two() {}",
        "lib/three.ts": "export const h = () => {};",
    }
    assert edges(sources) == [
        "main.ts -calls-> lib/one.ts::f resolved",
        "main.ts -calls-> lib/three.ts::h resolved",
        "main.ts -calls-> lib/two.ts::two resolved",
    ]


def test_an_import_that_leads_outside_leads_nowhere() -> None:
    sources = {"main.ts": "import { f } from 'library'; f();", "other.ts": "export function f() {}"}
    assert edges(sources) == []


def test_a_name_that_is_not_exported_is_not_found() -> None:
    sources = {"main.ts": "import { f } from './lib'; f();", "lib.ts": "function f() {} export const g = 1;"}
    assert edges(sources) == []


def test_a_type_only_import_is_used_and_not_called() -> None:
    sources = {
        "main.ts": "import type { A } from './lib'; function go(a: A) { a.act(); }",
        "lib.ts": "export class A { act() {} }",
    }
    assert edges(sources) == ["main.ts::go -calls-> lib.ts::A.act resolved"]
    assert "main.ts::go -uses-> lib.ts::A resolved" in edges(sources, Relation.USES)


# ---- classes


def test_methods_of_unrelated_classes_are_not_mixed_up() -> None:
    source = "class A { act() {} } class B { act() {} } new A().act();"
    assert "main.ts -> A.act" in calls(source)
    assert "main.ts -> B.act" not in calls(source)


def test_this_is_the_instance_also_in_an_arrow() -> None:
    source = "class A { go() { [1].forEach(() => this.act()); } act() {} }"
    assert "A.go.<lambda:1:29> -> A.act" in calls(source)


def test_a_function_in_a_method_has_another_this() -> None:
    assert calls("class A { go() { function f() { this.act(); } f(); } act() {} }") == {"A.go -> A.go.f"}


def test_a_class_inherits_and_super_means_the_one_above() -> None:
    source = """
    class A { constructor() {} act() {} rest() {} }
    class B extends A { constructor() { super(); this.rest(); } act() { super.act(); } }
    new B().act();
    """
    assert calls(source) >= {
        "main.ts -> B.constructor",
        "B.constructor -> A.constructor",
        "B.constructor -> A.rest",
        "B.act -> A.act",
        "main.ts -> B.act",
    }
    assert "main.ts -> A.act" not in calls(source)


def test_a_parameter_that_is_a_field_has_its_type() -> None:
    source = "class A { act() {} } class B { constructor(private readonly a: A) {} go() { this.a.act(); } }"
    assert calls(source) == {"B.go -> A.act"}


def test_fields_arrow_fields_and_private_names_are_members() -> None:
    source = """
    class A { act() {} }
    class B { #a = new A(); go = () => this.#run(); #run() { this.#a.act(); } static make() { return new B(); } }
    B.make().go();
    """
    assert calls(source) >= {"main.ts -> B.make", "main.ts -> B.go", "B.go -> B.#run", "B.#run -> A.act"}


def test_a_call_of_an_interface_reaches_who_implements_it() -> None:
    source = """
    interface Sender { send(): void }
    class Mail implements Sender { send() {} }
    class Other { send() {} }
    function go(s: Sender) { s.send(); }
    """
    assert calls(source) == {"go -> Sender.send", "go -> Mail.send"}


def test_a_getter_that_is_read_is_called() -> None:
    source = "class A { get size() { return 1; } go() { if (this.size > 2) { return; } } }"
    assert calls(source) == {"A.go -> A.size"}


def test_prototypes_make_methods() -> None:
    source = """
    function A() { this.f = act; }
    A.prototype.go = function () { this.rest(); this.f(); };
    A.prototype.rest = function () {};
    function B() { A.call(this); }
    B.prototype = Object.create(A.prototype);
    function act() {}
    new B().go();
    """
    assert calls(source, path="main.js") >= {
        "A.go -> A.rest",
        "A.go -> act",
        "B -> A",
        "main.js -> A.go",
    }


# ---- types


@pytest.mark.parametrize(
    "said",
    [
        "function go(a: A) { a.act(); }",
        "function go(a: A | null) { a?.act(); }",
        "function go(as: A[]) { as[0].act(); }",
        "function go(as: ReadonlyArray<A>) { for (const a of as) a.act(); }",
        "function go(as: Map<string, A>) { as.get('x')!.act(); }",
        "async function go(load: () => void) { const a: A = await load(); a.act(); }",
        "function make(): Promise<A> { return other(); } async function go() { (await make()).act(); }",
        "function go(x) { (x as A).act(); }",
        "function go({ a }: { a: A }) { a.act(); }",
        "type Box = { a: A }; function go(box: Box) { box.a.act(); }",
        "interface Box { a: A } function go(box: Box) { const { a } = box; a.act(); }",
        "type Alias = A; function go(a: Alias) { a.act(); }",
        "function go<T extends A>(a: T) { a.act(); }",
    ],
)
def test_an_annotation_says_what_a_value_is(said: str) -> None:
    found = calls(f"class A {{ act() {{}} }} class B {{ act() {{}} }} {said}")
    assert "go -> A.act" in found
    assert "go -> B.act" not in found


# ---- values


def test_what_is_passed_is_what_the_parameter_calls() -> None:
    source = "function act() {} function go(f) { f(); } go(act);"
    assert calls(source) == {"main.ts -> go", "go -> act"}


def test_objects_hold_functions() -> None:
    source = """
    const act = () => {}; const rest = () => {};
    const table = { act, 'rest': rest, go() { this.act(); } };
    table.act(); table['rest'](); table.go();
    const { act: again } = table; again();
    """
    assert calls(source) == {"main.ts -> act", "main.ts -> rest", "main.ts -> table.go", "table.go -> act"}


def test_a_default_of_a_pattern_is_followed() -> None:
    source = "function act() {} function go({ f = act } = {}) { f(); } go();"
    assert "go -> act" in calls(source)


@pytest.mark.parametrize(
    "passed",
    [
        "[1].map(f)",
        "[1].forEach(f)",
        "Promise.resolve(1).then(f)",
        "setTimeout(f, 10)",
        "button.addEventListener('click', f)",
        "new Promise(f)",
        "Array.from([1], f)",
        "f.call(null)",
        "f.apply(null, [])",
        "f.bind(null)()",
        "(f)?.()",
        "f`x`",
        "(0, f)()",
        "(x || f)()",
    ],
)
def test_what_calls_a_function_by_a_built_in_way_calls_it(passed: str) -> None:
    assert "main.ts -> f" in calls(f"function f() {{}} {passed};")


def test_a_map_of_ours_is_not_the_built_in() -> None:
    source = "function f() {} class Bag { map(g) { return 1; } } new Bag().map(f);"
    assert "main.ts -> f" not in calls(source)


def test_results_of_built_ins_are_followed() -> None:
    source = """
    class A { act() {} }
    const as = [1, 2].map(() => new A()).filter(Boolean);
    as[0].act();
    for (const a of as.slice(1)) a.act();
    """
    assert calls(source) >= {"main.ts -> A.act"}


def test_what_a_promise_is_resolved_with_is_what_is_awaited() -> None:
    source = """
    class A { act() {} }
    const load = () => new Promise((resolve) => { setTimeout(() => resolve(new A()), 1); });
    async function go() { (await load()).act(); }
    """
    assert "go -> A.act" in calls(source)


def test_a_generator_gives_what_it_yields() -> None:
    source = "function* all() { yield act; } function act() {} for (const f of all()) f();"
    assert calls(source) == {"main.ts -> all", "main.ts -> act"}


def test_an_iterator_of_ours_is_asked() -> None:
    source = (
        "class All { *[Symbol.iterator]() { yield act; } } function act() {} for (const f of new All()) f();"
    )
    assert calls(source) >= {"main.ts -> All.[Symbol.iterator]", "main.ts -> act"}


def test_namespaces_and_enums_hold_their_members() -> None:
    source = """
    namespace Tools { export function act() { rest(); } function rest() {} }
    function rest() {}
    Tools.act();
    enum Colour { Red }
    """
    assert calls(source) == {"main.ts -> Tools.act", "Tools.act -> Tools.rest"}


def test_an_element_of_jsx_calls_its_component_and_a_tag_calls_nothing() -> None:
    source = """
    function Row({ onPick }) { onPick(); return <li/>; }
    function App() { return <Row onPick={pick}/>; }
    function pick() {} function li() {}
    """
    assert calls(source, path="main.tsx") == {"App -> Row", "Row -> pick"}


def test_a_decorator_is_called() -> None:
    assert calls("function Tag(c) {} @Tag class A {}") == {"main.ts -> Tag"}


# ---- nodes


def test_definitions_have_the_names_people_give_them() -> None:
    source = """
    export const add = () => {};
    const table = { act() {}, rest: () => {} };
    const slow = debounce(() => {});
    [1].map(() => {});
    class A { field = () => {}; static s() {} }
    export default class {}
    """
    assert {node.name for node in nodes({"src/shop/cart.ts": source}).values()} == {
        "shop.cart",
        "shop.cart.add",
        "shop.cart.table.act",
        "shop.cart.table.rest",
        "shop.cart.slow",
        "shop.cart.<lambda:5:8>",
        "shop.cart.A",
        "shop.cart.A.field",
        "shop.cart.A.s",
        "shop.cart.default",
    }


def test_an_index_is_called_by_its_folder() -> None:
    assert "shop" in {node.name for node in nodes({"src/shop/index.ts": ""}).values()}


def test_a_field_of_the_same_name_as_a_function_holds_the_function() -> None:
    source = "function match() {} class Router { match = match; } function go() { new Router().match(); }"
    assert "go -> match" in calls(source)


def test_code_in_a_string_is_run() -> None:
    assert calls("function act() {} function other() {} function go() { eval('act()'); }") == {"go -> act"}
