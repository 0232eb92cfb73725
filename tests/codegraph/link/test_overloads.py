"""Which of several functions of one name a call runs, by the types of its arguments, and which override which."""

import pytest

from tests.codegraph.graphs import edges


def java(*sources: str) -> list[str]:
    """The calls of A.f, as `B.go resolved`; a second function of one name is `B.go#2`."""
    return _of(edges({f"F{number}.java": f"package p; {source}" for number, source in enumerate(sources)}))


def csharp(*sources: str) -> list[str]:
    return _of(edges({f"F{number}.cs": f"namespace P; {source}" for number, source in enumerate(sources)}))


def _of(lines: list[str]) -> list[str]:
    calls = [
        line.partition(" -calls-> ")
        for line in lines
        if line.partition(" -calls-> ")[0].lower().endswith("a.f")
    ]
    return [target.rpartition("::")[2] for _, _, target in calls]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("1", "B.go"),
        ('"x"', "B.go#2"),
        ("new C()", "B.go#3"),
        ("c", "B.go#3"),
        ("new D()", "B.go#3"),
        ("true", "B.go#4"),
        ("made()", "B.go#3"),
        ("names", "B.go#5"),
    ],
)
def test_the_overload_is_meant_that_takes_this_type(given: str, meant: str) -> None:
    found = java(
        f"class A {{ C made() {{ return null; }} void f(B b, C c, String[] names) {{ b.go({given}); }} }}",
        """class B { void go(int x) {} void go(String x) {} void go(C x) {} void go(boolean x) {}
        void go(String[] x) {} }""",
        "class C {} class D extends C {}",
    )
    assert f"{meant} resolved" in found
    assert [line for line in found if line.startswith("B.go") and not line.startswith(f"{meant} ")] == []


def test_the_nearest_class_counts_among_overloads() -> None:
    found = java(
        "class A { void f(B b, D d) { b.go(d); } }",
        "class B { void go(Object x) {} void go(C x) {} void go(D x) {} }",
        "class C {} class D extends C {}",
    )
    assert found == ["B.go#3 resolved"]


def test_of_overloads_that_nobody_can_tell_apart_none_is_sure() -> None:
    found = java(
        "class A { void f(B b) { b.go(unknown()); } }", "class B { void go(C x) {} void go(D x) {} }"
    )
    assert found == ["B.go inferred", "B.go#2 inferred"]


def test_a_type_from_outside_is_known_by_its_name() -> None:
    found = java(
        "class A { void f(B b, java.io.Reader in) { b.go(in); } }",
        "class B { void go(String x) {} void go(java.io.Reader x) {} void go(C x) {} }",
        "class C {}",
    )
    assert found == ["B.go#2 resolved"]


def test_constructors_are_chosen_by_type() -> None:
    found = java(
        "class A { void f(C c) { new B(c); } }",
        "class B { B(String x) {} B(C x) {} B(int x) {} }",
        "class C {}",
    )
    assert found == ["B resolved", "B.B#2 resolved"]


def test_an_array_is_taken_by_a_parameter_for_all_the_rest() -> None:
    b = "class B { void go(String... x) {} void go(int x) {} }"
    assert java("class A { void f(B b, String[] xs) { b.go(xs); } }", b) == ["B.go resolved"]
    assert java("class A { void f(B b) { b.go(1); } }", b) == ["B.go#2 resolved"]


def test_a_function_is_taken_where_an_interface_is_wanted() -> None:
    found = java(
        "class A { void f(B b) { b.go(() -> {}); } }",
        "class B { void go(String x) {} void go(Job x) {} void go(C x) {} }",
        "interface Job { void run(); } class C {}",
    )
    assert "B.go#2 resolved" in found
    assert "B.go resolved" not in found


def test_overloads_of_csharp_are_told_apart_alike() -> None:
    found = csharp(
        'class A { void F(B b, C c) { b.Go(c); b.Go("x"); } }',
        "class B { public void Go(string x) {} public void Go(C x) {} public void Go(int x) {} }",
        "class C {}",
    )
    assert found == ["B.Go resolved", "B.Go#2 resolved"]


def test_a_method_is_overridden_by_the_one_with_its_types() -> None:
    found = java(
        "class A { void f(B b) { b.go(1); } }",
        "abstract class B { abstract void go(int x); abstract void go(String x); }",
        "class C extends B { void go(int x) {} void go(String x) {} }",
    )
    assert found == ["B.go resolved", "C.go inferred"]
