"""Reading hostile, broken and huge TypeScript: it never raises, and leaves out only what cannot be read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.codegraph.facts import Facts, Shape, pack, unpack
from belayer.codegraph.languages.typescript import TYPESCRIPT
from belayer.codegraph.languages.typescript_repairs import respelled

SOURCE = """
import a, { b as c, type D } from './a';
export * from './b';
@Dec({ x: 1 }) export class Foo<T extends Bar> extends Base(Mixin) implements Qux {
  private static readonly #x: Map<string, T[]> = new Map([['a', 1]]);
  constructor(private readonly y: Y, { z = 1, ...rest }: Z = {}) { super(y); this.#x.get('a')?.run(...rest); }
  get size(): number { return this.y.size }
  async *each<U>(f: (x: T) => Promise<U>) { for await (const [k, v] of this) yield* f(v!); }
  static { Foo.prototype.m = function () { return this.size; }; }
}
namespace N.M { export enum E { A = 'a', B } export const q = <T,>(x: T) => x as unknown as E; }
type P = { a: Foo; m(): void } & Partial<Q['r']> | typeof c;
const { d, e: [f, , g = h(), ...i], ...j } = await import('./k');
switch (d) {
  case 1: { let x = f; x(); break; }
  default: try { g`t${i}` } catch ({ message }) { throw message } finally { j() }
}
module.exports = { ...exports, async run() { return this.run?.() ?? (a || c)[d]?.(e) } };
app.get('/x/:id', mw, (req, res) => { res.json({ [`k${d}`]: 1 }) });
describe('s', () => { it.each([1])('n %d', (n) => { expect(n).toBe(1) }) });
"""


def read(source: str, path: str = "main.ts") -> Facts:
    return TYPESCRIPT.read(path, source.encode())


def test_one_file_with_a_bit_of_everything_is_read_whole() -> None:
    facts = read(SOURCE)
    assert not facts.is_broken
    assert len(facts.definitions) == 12
    assert unpack(pack(facts)) == facts


@pytest.mark.parametrize("suffix", TYPESCRIPT.suffixes)
def test_every_suffix_has_a_grammar_that_reads_it(suffix: str) -> None:
    facts = read("export function f() { g(); }", f"main{suffix}")
    assert not facts.is_broken
    assert [each.name for each in facts.definitions] == ["", "f"]


def test_jsx_is_read_where_it_may_stand() -> None:
    assert not read("const x = <a b={1}>{c}</a>;", "x.tsx").is_broken
    assert not read("const x = <a b={1}>{c}</a>;", "x.js").is_broken
    assert not read("const x = <T>y;", "x.ts").is_broken


def test_what_is_whole_in_a_broken_file_is_read() -> None:
    facts = read("function f() { g(); }\nclass { ) ] %%%\nfunction h() {}")
    assert facts.is_broken
    assert "f" in {each.name for each in facts.definitions}


NESTED = {
    "parentheses": ("(", "1", ")"),
    "calls": ("f(", "g()", ")"),
    "arrays": ("[", "g()", "]"),
    "objects": ("({a:", "g()", "})"),
    "arrows": ("()=>", "g()", ""),
    "blocks": ("{", "g();", "}"),
    "functions": ("function f(){", "g();", "}"),
    "classes": ("class A{m(){", "g();", "}}"),
    "ifs": ("if(a){", "g();", "}else{}"),
    "elses": ("if(a){}else ", "g();", ""),
    "sums": ("1+", "g()", ""),
    "members": ("", "a", ".b"),
    "chains": ("", "a", ".b()"),
    "types": ("let x: A<", "B", ">"),
    "ternaries": ("a?1:", "g()", ""),
    "templates": ("`${", "g()", "}`"),
    "unions": ("type A = [", "B", "]"),
    "assignments": ("a=", "g()", ""),
    "patterns": ("let [", "a", "] = b"),
    "choices": ("a||", "g()", ""),
    "names of types": ("", "let x: a", ".b"),
    "elements": ("<a>", "{g()}", "</a>"),
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_file_that_nests_very_deep_is_read_to_its_end(kind: str) -> None:
    before, inside, after = NESTED[kind]
    depth = 3_000
    facts = read(f"{before * depth}{inside}{after * depth}\nfunction last() {{}}")
    assert (
        facts.is_broken
        or facts.definitions[-1].name == "last"
        or "last" in {d.name for d in facts.definitions}
    )


def test_what_lies_deep_is_found() -> None:
    facts = read("function f() {" * 400 + "deep();" + "}" * 400)
    assert len(facts.definitions) == 401
    (call,) = facts.calls
    assert call.callee == ("name", "deep")
    assert call.scope == 400


def test_a_long_sum_is_read() -> None:
    facts = read("x = " + " + ".join(f"f{number}()" for number in range(5_000)))
    assert len(facts.calls) == 5_000


@pytest.mark.parametrize(
    "source", [b"", b"\x00\xff\xfe", b"\xef\xbb\xbfexport {}", b"#!/usr/bin/env node\nf();", b"\r\n" * 9]
)
def test_odd_bytes_are_read(source: bytes) -> None:
    assert TYPESCRIPT.read("main.ts", source).definitions[0].shape is Shape.MODULE


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(SOURCE)), st.sampled_from(["", "{", "}", "(", ")", "`", "=>", "\x00", "<"])
        ),
        max_size=6,
    )
)
def test_a_source_that_was_cut_and_stirred_is_read(cuts: list[tuple[int, str]]) -> None:
    source = SOURCE
    for place, text in cuts:
        source = source[:place] + text + source[place + 3 :]
    for path in ("main.ts", "main.tsx", "main.js"):
        facts = read(source, path)
        assert facts == read(source, path)
        assert _is_sound(facts)


def _is_sound(facts: Facts) -> bool:
    """Every number in the facts is one of a thing that is there."""
    scopes = range(len(facts.definitions))
    rows = (*facts.bindings, *facts.stores, *facts.calls, *facts.references, *facts.routes, *facts.mounts)
    return all(row.scope in scopes for row in rows) and all(
        each.parent in scopes for each in facts.definitions[1:]
    )


@pytest.mark.parametrize(
    "written",
    [
        "interface Get {\n  <K>(key: K): Value\n  <K, V>(key: K, value: V): Value\n}",
        "interface Get {\n  (key: string): Value\n  // with more\n  <K>(key: K): Value\n}",
        "export interface Holder<in out T, out U = T> { value: T }",
        "export type * from './types'",
        "const kept = await load<typeof import('./kept')>()",
    ],
)
def test_what_the_grammar_does_not_know_costs_nothing_of_the_file(written: str) -> None:
    facts = read(f"{written}\nexport function after() {{ here(); }}\n")
    assert not facts.is_broken
    assert [each.name for each in facts.definitions][-1] == "after"
    assert facts.definitions[-1].line == written.count("\n") + 2


def test_a_comparison_that_goes_on_in_the_next_line_is_left_as_it_is() -> None:
    source = b"const small =\n  a +\n  <T>b;\n"
    assert respelled(source) == source


@given(st.text(st.sampled_from("<>(){}\n ;:=|inoutypexpr*/'\"T"), max_size=200))
@settings(max_examples=200)
def test_a_respelled_file_has_every_byte_at_its_place(text: str) -> None:
    source = text.encode()
    spelled = respelled(source)
    assert len(spelled) == len(source)
    assert spelled.count(b"\n") == source.count(b"\n")
