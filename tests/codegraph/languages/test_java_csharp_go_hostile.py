"""Sources that nobody meant well: cut, doubled, scrambled, nested without end. Reading them never raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.facts import Facts, pack, unpack
from belayer.codegraph.languages.csharp import CSHARP
from belayer.codegraph.languages.go import GO
from belayer.codegraph.languages.java import JAVA
from belayer.codegraph.languages.language import Language

DEEP = 100_000
JAVA_SOURCE = b"""
package a.b; import static c.D.*; import e.F.G;
@RestController @RequestMapping({"/x", A.B + "/y"})
public abstract class Foo<T extends Bar> extends Base<T> implements I, J.K {
  private final Map<String, List<Foo>> m = new HashMap<>(); int a[], b = 2; static { int z = init(); }
  Foo(int x, String... ys) { this(x); super.foo(); }
  @GetMapping(value = "/{id}") public <U> U get(final long id) throws E {
    for (var x : xs) { x.go(); } try (Reader r = open()) { } catch (IOException | E e) { e.p(); }
    Function<A, B> f = A::b; g(Foo::new, int[]::new, super::x); Object o = new Foo(1) { void bar() {} };
    if (o instanceof Foo z && z.ok()) {}
    int k = switch (o) { case Foo p -> p.m(); case R(A a1, var b1) -> { yield 2; } default -> 3; };
    a.b.C.d(1); arr[0].x = (Foo) y; Foo.this.go(); Foo.super.go(); Foo.class.getMethod("x").invoke(null);
    return c ? a : b;
  }
}
record P(int x) { P { check(); } } enum E2 { A(1) { void m() {} }, B; } @interface An { int v() default 1; }
"""
CSHARP_SOURCE = b"""
using System; global using A.B; using static System.Math; using Al = A.B.C;
namespace X.Y;
[ApiController, Route("api/[controller]")]
public partial class Foo<T>(IDep dep, int k) : Base(dep), I<T> where T : Bar, new() {
  private readonly List<Foo> xs = new(), ys; public event EventHandler Ev; public string Name { get; set; } = "x";
  public int Q { get { return q(); } private set { q(value); } } public Foo this[int i] => xs[i];
  public Foo(int a) : base(a) { } static Foo() {} ~Foo() {} public static Foo operator +(Foo a, Foo b) => a;
  [HttpGet("{id:int}")] public async Task<ActionResult<Foo>> Get([FromRoute] int id, params string[] r) {
    var x = await svc.FindAsync(id); Foo y = new() { A = 1, B = { C = 2 } }; foreach (var (u, v) in xs) u.Go();
    using var d = Open(); try {} catch (Ex ex) when (ex.X()) { } if (o is Foo { X: 1 } f && f.M()) {}
    var q = o switch { Foo p => p.M(), _ => null }; base.M(); x?.Y.Z()?.W(); x!.Y(); var t = (a: 1, b: 2);
    (var g, h) = t; xs.Where(x => x.Ok).Select(Conv); Ev += OnEv; A.B.C.D<int>(); var an = new { A = 1, b.C };
    var z = from s in xs select s.M(); M(out var o1, ref k, name: 3); foo ??= bar; e = r with { X = 1 };
    s = $"a {x.M()} b"; global::A.B.M(); yield return x;
  }
}
#if DEBUG
public record R(int A) : RB(A); enum E { A = 1 } delegate int D(int x);
static class Ext { static void Go(this Foo f) {} }
#endif
"""
GO_SOURCE = b"""
package main
import ( "fmt"; f "x/y"; . "z"; _ "w" )
type T[K comparable] struct { Base; *pkg.Emb; a, b int; m map[string]*Foo; fn func(x int) error `tag` }
type I interface { Foo(a int) (string, error); io.Reader; ~int | string }
type Al = Foo
var x, y = f(), g()
func (t *T[K]) M(a, b int, c ...string) (n int, err error) { return t.x.N(a), nil }
func G[X any](x X) X {
  go t.M(1); defer func() { t.Close() }(); a, err := foo(); a.b = 3
  for i, v := range xs { v.do() }
  switch v := x.(type) { case *T: v.M(); case I, J: v.Foo(1); default: }
  if v, ok := x.(*T); ok { v.M() } else if z {}
  select { case v := <-ch: v.x(); case ch <- w(): }
  s := []Foo{{A: 1}, Foo{2}}; mm := map[string]func(){"a": foo}; mm["a"](); Gen[int](x); new(T).M(); (*T).M(q)
  r.HandleFunc("/x/{id}", h).Methods("GET"); r.Route("/y", func(r R) { r.Get("/z", h) })
  return x
}
"""
LANGUAGES = [(JAVA, JAVA_SOURCE), (CSHARP, CSHARP_SOURCE), (GO, GO_SOURCE)]


@st.composite
def scrambled(draw: st.DrawFn) -> tuple[Language, bytes]:
    """A good source, hurt in a few places."""
    language, source = draw(st.sampled_from(LANGUAGES))
    hurt = bytearray(source)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(hurt)))
        end = min(start + draw(st.integers(0, 60)), len(hurt))
        match draw(st.sampled_from(["cut", "double", "swap", "write"])):
            case "cut":
                del hurt[start:end]
            case "double":
                hurt[start:start] = hurt[start:end]
            case "swap":
                hurt[start:end] = bytes(reversed(hurt[start:end]))
            case _:
                hurt[start:start] = draw(
                    st.sampled_from([b"(", b")", b"{", b"}", b"<", b'"', b"\xff", b"\x00", b"."])
                )
    return language, bytes(hurt)


@given(scrambled())
def test_reading_a_hurt_source_never_raises_and_gives_facts_that_can_be_kept(
    case: tuple[Language, bytes],
) -> None:
    language, source = case
    facts = language.read("a/x", source)
    assert unpack(pack(facts)) == facts
    assert language.read("a/x", source) == facts
    assert_whole(facts)


def assert_whole(facts: Facts) -> None:
    """Numbers in facts point at what is there."""
    for number, each in enumerate(facts.definitions[1:], start=1):
        assert 0 <= each.parent < number
        assert each.line <= each.end_line
    scopes = {
        row.scope for rows in (facts.bindings, facts.calls, facts.references, facts.stores) for row in rows
    }
    assert all(0 <= scope < len(facts.definitions) for scope in scopes)
    assert all(call.unless < len(facts.calls) for call in facts.calls)


@pytest.mark.parametrize(("language", "source"), LANGUAGES)
def test_a_good_source_is_read_whole(language: Language, source: bytes) -> None:
    facts = language.read("a/x", source)
    assert not facts.is_broken
    assert_whole(facts)
    assert len(facts.calls) > 20


@pytest.mark.parametrize(("language", "source"), LANGUAGES)
@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b"\r\n", b"// \xff\xfe\n"])
def test_byte_order_marks_and_bytes_that_are_no_text_change_little(
    language: Language, source: bytes, prefix: bytes
) -> None:
    plain, marked = language.read("x", source), language.read("x", prefix + source)
    assert [each.name for each in marked.definitions if not each.name.startswith("<")] == [
        each.name for each in plain.definitions if not each.name.startswith("<")
    ]


@pytest.mark.parametrize("language", [JAVA, CSHARP, GO])
@pytest.mark.parametrize("source", [b"", b"\x00" * 100, b"\xff" * 100, b"{" * 1000, b"\xfe\xff\x00a"])
def test_what_is_no_source_gives_facts_about_nothing(language: Language, source: bytes) -> None:
    facts = language.read("x", source)
    assert facts.definitions[0].shape == "module"
    assert facts.calls == ()


@pytest.mark.parametrize(
    ("language", "before", "opening", "inner", "closing", "after"),
    [
        (JAVA, b"class A { void f() { x = ", b"(", b"1", b")", b"; } void g() { h(); } }"),
        (JAVA, b"class A { void f() {", b"{", b"", b"}", b"} void g() { h(); } }"),
        (JAVA, b"class A { void f() { x", b".a()", b"", b"", b"; } void g() { h(); } }"),
        (JAVA, b"class A { void f() { x = 1", b" + 1", b"", b"", b"; } void g() { h(); } }"),
        (JAVA, b"class A { void f() { a", b".b", b"", b"", b"; } void g() { h(); } }"),
        (JAVA, b"class A { void f() { x = ", b"() -> ", b"1", b"", b"; } void g() { h(); } }"),
        (JAVA, b"class A { ", b"List<", b"B", b">", b" x; void g() { h(); } }"),
        (CSHARP, b"class A { void f() { x = ", b"(", b"1", b")", b"; } void g() { h(); } }"),
        (CSHARP, b"class A { void f() { X", b".A", b"", b"", b"(); } void g() { h(); } }"),
        (CSHARP, b"class A { void f() { x", b"?.a()", b"", b"", b"; } void g() { h(); } }"),
        (GO, b"package a\nfunc f() { x = ", b"(", b"1", b")", b" }\nfunc g() { h() }"),
        (GO, b"package a\nvar x = T", b"{", b"", b"}", b"\nfunc g() { h() }"),
        (GO, b"package a\nvar x ", b"*", b"", b"", b"T\nfunc g() { h() }"),
    ],
)
def test_what_nests_without_end_is_left_out_alone(
    language: Language, before: bytes, opening: bytes, inner: bytes, closing: bytes, after: bytes
) -> None:
    facts = language.read("x", before + opening * DEEP + inner + closing * DEEP + after)
    pack(facts)
    assert "g" in {each.name for each in facts.definitions}
    assert ("name", "h") in {call.callee for call in facts.calls}
