"""The rules by which names of Java lead to definitions, each with a case where they must not."""

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges, nodes


def calls(*sources: str) -> set[str]:
    """Who calls what, as `A.f -> B.g`, in files of which each is named after its package and first class."""
    return {_short(line) for line in edges(files(*sources))}


def sure(*sources: str) -> set[str]:
    """The same, without what is only inferred."""
    return {_short(line) for line in edges(files(*sources)) if line.endswith(" resolved")}


def files(*sources: str) -> dict[str, str]:
    return {f"src/main/java/F{number}.java": source for number, source in enumerate(sources)}


def _short(line: str) -> str:
    source, _, rest = line.partition(" -calls-> ")
    target = rest.rpartition(" ")[0]
    return f"{source.rpartition('::')[2]} -> {target.rpartition('::')[2]}"


# ---- how packages and imports lead


def test_a_class_of_the_same_package_needs_no_import() -> None:
    assert "A.f -> B.g" in calls(
        "package p; class A { void f() { B.g(); } }", "package p; class B { static void g() {} }"
    )


def test_a_class_of_another_package_is_not_known_without_an_import() -> None:
    found = calls(
        "package p; class A { void f() { B.g(); } }",
        "package q; public class B { public static void g() {} }",
    )
    assert found == set()


def test_an_import_decides_between_classes_of_the_same_name() -> None:
    lines = edges(
        files(
            "package p; import r.B; class A { void f() { B.g(); } }",
            "package q; public class B { public static void g() {} }",
            "package r; public class B { public static void g() {} }",
        )
    )
    assert [line for line in lines if "A.f" in line] == [
        "src/main/java/F0.java::A.f -calls-> src/main/java/F2.java::B.g resolved"
    ]


def test_an_import_goes_before_the_own_package() -> None:
    lines = edges(
        files(
            "package p; import q.B; class A { void f() { B.g(); } }",
            "package p; class B { static void g() {} }",
            "package q; public class B { public static void g() {} }",
        )
    )
    assert lines == ["src/main/java/F0.java::A.f -calls-> src/main/java/F2.java::B.g resolved"]


def test_an_import_on_demand_gives_all_classes_of_the_package() -> None:
    found = calls(
        "package p; import q.*; class A { void f() { B.g(); } }",
        "package q; public class B { static void g() {} }",
    )
    assert "A.f -> B.g" in found


def test_an_import_on_demand_gives_no_classes_of_packages_below() -> None:
    found = calls(
        "package p; import q.*; class A { void f() { B.g(); } }",
        "package q.r; class B { static void g() {} }",
    )
    assert found == set()


def test_a_static_import_gives_one_method() -> None:
    found = calls(
        "package p; import static q.B.g; class A { void f() { g(); h(); } }",
        "package q; public class B { public static void g() {} public static void h() {} }",
    )
    assert found == {"A.f -> B.g"}


def test_a_static_import_on_demand_gives_all_methods() -> None:
    found = calls(
        "package p; import static q.B.*; class A { void f() { g(); h(); } }",
        "package q; public class B { public static void g() {} public static void h() {} }",
    )
    assert found == {"A.f -> B.g", "A.f -> B.h"}


def test_an_import_may_name_a_nested_class() -> None:
    found = calls(
        "package p; import q.Outer.Inner; class A { void f() { Inner.g(); } }",
        "package q; public class Outer { public static class Inner { public static void g() {} } }",
    )
    assert found == {"A.f -> Outer.Inner.g"}


def test_a_class_can_be_named_with_its_package() -> None:
    found = calls(
        "package p; class A { void f(q.r.B b) { q.r.B.g(); b.h(); } }",
        "package q.r; public class B { public static void g() {} public void h() {} }",
    )
    assert found == {"A.f -> B.g", "A.f -> B.h"}


def test_imports_lead_to_the_file_of_the_class() -> None:
    lines = edges(
        files(
            "package p; import q.B; class A {}",
            "package q; public class B {}",
            "package q; public class C {}",
        ),
        Relation.IMPORTS,
    )
    assert lines == ["src/main/java/F0.java -imports-> src/main/java/F1.java resolved"]


# ---- members, inheritance, overloads


def test_a_bare_name_is_a_method_of_the_class_its_bases_or_the_class_around() -> None:
    found = sure(
        """
        package p;
        class Base { void inherited() {} }
        class Outer extends Base {
            void own() {}
            class Inner { void f() { own(); inherited(); } }
        }
        """
    )
    assert found == {"Outer.Inner.f -> Outer.own", "Outer.Inner.f -> Base.inherited"}


def test_the_own_method_hides_the_inherited_one() -> None:
    found = sure("class Base { void m() {} } class A extends Base { void m() {} void f() { m(); } }")
    assert "A.f -> A.m" in found
    assert "A.f -> Base.m" not in found


def test_super_means_the_nearest_base_that_has_the_method() -> None:
    found = calls(
        "class Root { void m() {} } class Middle extends Root {} class A extends Middle { void m() { super.m(); } }"
    )
    assert found == {"A.m -> Root.m"}


def test_an_overload_is_told_by_the_number_of_arguments() -> None:
    found = calls(
        "class A { void m() {} void m(int x) {} void m(int x, int... more) {} void f() { m(); m(1, 2, 3); } }"
    )
    assert found == {"A.f -> A.m", "A.f -> A.m#3"}


def test_an_overload_is_told_by_the_types_of_the_arguments() -> None:
    found = calls('class A { void m(int x) {} void m(String s) {} void f() { m("a"); } }')
    assert found == {"A.f -> A.m#2"}


def test_a_field_and_a_method_of_one_name_are_two_things() -> None:
    found = calls(
        """
        class Size { void grow() {} }
        class A { Size size = new Size(); int size() { return 1; } void f() { size(); size.grow(); } }
        """
    )
    assert {"A.f -> A.size", "A.f -> Size.grow"} <= found


def test_a_local_does_not_hide_a_method_of_its_name() -> None:
    found = calls(
        "class Owner {} class A { Owner make() { return null; } void f() { Owner make = make(); } }"
    )
    assert found == {"A.f -> A.make"}


def test_a_constructor_calls_the_one_it_names() -> None:
    found = calls(
        """
        class Base { Base(int x) {} Base() {} }
        class A extends Base { A() { this(1); } A(int x) { super(x); } A(long a, long b) {} }
        """
    )
    assert found == {"A.A -> A.A#2", "A.A#2 -> Base.Base", "A.A#3 -> Base.Base#2"}


def test_new_calls_the_constructor_with_that_many_arguments() -> None:
    found = calls("class B { B() {} B(int x) {} } class A { void f() { new B(1); } }")
    assert "A.f -> B.B#2" in found
    assert "A.f -> B.B" not in found


def test_the_name_of_a_class_is_not_its_constructor() -> None:
    found = calls("class A { A() { A.check(); } static void check() {} }")
    assert found == {"A.A -> A.check"}


# ---- types of values


def test_declared_types_lead_to_methods() -> None:
    found = calls(
        """
        class B { void go() {} }
        class A {
            B field;
            B make() { return null; }
            void f(B param, B[] many) { B local = null; field.go(); }
            void g(B param) { param.go(); }
            void h(B[] many) { many[0].go(); for (B b : many) b.go(); }
            void i() { make().go(); var b = make(); b.go(); }
        }
        """
    )
    assert {f"A.{name} -> B.go" for name in "fghi"} <= found


def test_a_name_that_two_blocks_declare_is_two_variables() -> None:
    found = calls(
        """
        class B { void go() {} } class C { void go() {} }
        class A {
            void f() { { B x = new B(); x.go(); } }
            void g() { { B x = new B(); } { C x = new C(); x.go(); } }
        }
        """
    )
    assert "A.g -> C.go" in found
    assert "A.g -> B.go" not in found


def test_a_local_hides_a_field() -> None:
    found = calls(
        """
        class B { void go() {} } class C { void go() {} }
        class A { B x; void f() { C x = new C(); x.go(); this.x.go(); } }
        """
    )
    assert {"A.f -> C.go", "A.f -> B.go"} <= found
    only = calls("class B { void go() {} } class C { void go() {} } class A { B x; void f(C x) { x.go(); } }")
    assert only == {"A.f -> C.go"}


def test_a_cast_and_a_pattern_give_their_type() -> None:
    found = calls(
        """
        class B { void go() {} } class C { void go() {} } class D { void go() {} }
        class A {
            void f(Object o) { ((B) o).go(); if (o instanceof C c) c.go(); }
            void g(Object o) { switch (o) { case D d -> d.go(); default -> {} } }
        }
        """
    )
    assert found == {"A.f -> B.go", "A.f -> C.go", "A.g -> D.go"}


def test_a_type_variable_has_the_methods_of_its_bound() -> None:
    found = calls(
        """
        class B { void go() {} } class U { void stop() {} }
        class A<T extends B, U> { void f(T t, U u) { t.go(); u.stop(); } }
        """
    )
    assert found == {"A.f -> B.go"}


def test_items_flow_through_containers_and_streams() -> None:
    found = calls(
        """
        import java.util.*;
        class B { void go() {} C next() { return null; } } class C { void go() {} }
        class A {
            private final List<B> all = new ArrayList<>();
            Map<String, B> named = new HashMap<>();
            void f() { for (var b : all) b.go(); }
            void g() { all.stream().filter(x -> true).map(b -> b.next()).forEach(c -> c.go()); }
            void h() { named.get("x").go(); }
            void i() { Optional<B> first = all.stream().findFirst(); first.get().go(); }
        }
        """
    )
    assert {"A.f -> B.go", "A.h -> B.go", "A.i -> B.go"} <= found
    targets = {line.split(" -> ")[1] for line in found if line.startswith("A.g.<lambda")}
    assert targets == {"B.next", "C.go"}


def test_an_interface_leads_to_those_who_implement_it_and_to_nobody_else() -> None:
    found = calls(
        """
        interface Shape { void draw(); }
        class Circle implements Shape { public void draw() {} }
        class Cowboy { public void draw() {} }
        class A { void f(Shape s) { s.draw(); } }
        """
    )
    assert found == {"A.f -> Shape.draw", "A.f -> Circle.draw"}


def test_what_was_just_made_is_nothing_else() -> None:
    found = calls(
        """
        interface Shape { void draw(); }
        class Circle implements Shape { public void draw() {} }
        class Square implements Shape { public void draw() {} }
        class A { void f() { Shape s = new Circle(); s.draw(); } }
        """
    )
    assert "A.f -> Circle.draw" in found
    assert "A.f -> Square.draw" not in found


def test_a_default_method_is_inherited_and_can_be_asked_for_by_name() -> None:
    found = calls(
        """
        interface Left { default void m() {} } interface Right { default void m() {} }
        class A implements Left, Right { public void m() { Left.super.m(); } }
        """
    )
    assert found == {"A.m -> Left.m"}


# ---- enums, records, nested, anonymous


def test_enum_constants_have_the_methods_of_the_enum() -> None:
    found = calls(
        "enum Color { RED, BLUE { void mix() {} }; void mix() {} } class A { void f() { Color.RED.mix(); } }"
    )
    assert "A.f -> Color.mix" in found


def test_a_record_has_accessors_and_its_constructor_may_be_compact() -> None:
    found = calls(
        """
        class B { void go() {} }
        record Pair(B left, int right) { Pair { check(); } static void check() {} }
        class A { void f(Pair p) { p.left().go(); } }
        """
    )
    assert found == {"Pair.Pair -> Pair.check", "A.f -> Pair.left", "A.f -> B.go"}


def test_a_private_nested_class_is_not_known_outside() -> None:
    found = calls(
        "class Outer { private static class Secret { static void m() {} } void f() { Secret.m(); } }",
        "class A { void f() { Secret.m(); } }",
    )
    assert found == {"Outer.f -> Outer.Secret.m"}


def test_an_anonymous_class_overrides_and_sees_the_names_around_it() -> None:
    found = calls(
        """
        interface Job { void run(); }
        class A {
            void help() {}
            void f() { Job job = new Job() { public void run() { help(); } }; job.run(); }
        }
        """
    )
    assert "A.f.<anonymous:5:25>.run -> A.help" in found
    assert "A.f -> A.f.<anonymous:5:25>.run" in found


# ---- functions as values


def test_a_lambda_is_called_where_its_interface_is() -> None:
    found = calls("class A { static void go() {} void f() { Runnable r = () -> go(); r.run(); } }")
    assert found == {"A.f -> A.f.<lambda:1:54>", "A.f.<lambda:1:54> -> A.go"}


def test_method_references_lead_to_methods_and_constructors() -> None:
    found = calls(
        """
        import java.util.function.*;
        class B { B() {} static int s(int x) { return x; } void i() {} }
        class A {
            void own() {}
            void f() { Function<Integer, Integer> x = B::s; x.apply(1); }
            void g() { Runnable r = this::own; r.run(); }
            void h() { Supplier<B> s = B::new; s.get(); }
        }
        """
    )
    assert {"A.f -> B.s", "A.g -> A.own", "A.h.<lambda:8:31> -> B.B"} <= found


def test_a_lambda_passed_to_a_method_of_ours_is_called_there_and_not_here() -> None:
    found = calls(
        "class A { static void twice(Runnable r) { r.run(); } static void go() {} void f() { twice(() -> go()); } }"
    )
    assert found == {"A.f -> A.twice", "A.twice -> A.f.<lambda:1:90>", "A.f.<lambda:1:90> -> A.go"}


def test_reflection_with_written_names_is_followed() -> None:
    found = calls(
        """
        class B { static void go() {} }
        class A { void f() throws Exception { B.class.getMethod("go").invoke(null); } }
        """
    )
    assert "A.f -> B.go" in found


def test_a_resource_is_closed() -> None:
    found = calls(
        "class R implements AutoCloseable { public void close() {} } class A { void f() { try (R r = new R()) {} } }"
    )
    assert "A.f -> R.close" in found


# ---- names of nodes


def test_people_say_the_package_and_the_class() -> None:
    found = nodes(
        {"src/main/java/shop/Cart.java": "package shop; public class Cart { public void add() {} }"}
    )
    assert found["src/main/java/shop/Cart.java::Cart.add"].name == "shop.Cart.add"
    assert found["src/main/java/shop/Cart.java"].name == "shop.Cart"


# ---- values that are kept, cast or asked for by reflection


def test_a_function_that_is_kept_in_an_array_is_called_from_there() -> None:
    found = calls(
        """package p; class A { interface Job { void run(); } static Job[] jobs = new Job[2]; static void act() {}
        void f() { Job job = () -> act(); jobs[0] = job; Job same = jobs[0]; same.run(); } }"""
    )
    assert any(line.startswith("A.f -> A.f.<lambda") for line in found)


def test_a_class_casts_to_its_instances() -> None:
    found = calls(
        "package p; class A { void f(Object o) { B.class.cast(o).go(); } }",
        "package p; class B { void go() {} } class C { void go() {} }",
    )
    assert "A.f -> B.go" in found
    assert "A.f -> C.go" not in found


def test_a_handle_of_a_field_gives_what_the_field_holds() -> None:
    found = calls(
        """package p; class A { static B kept = new B(); void f() {
        var handle = MethodHandles.lookup().findStaticGetter(A.class, "kept", B.class); handle.invoke().go(); } }""",
        "package p; class B { void go() {} }",
    )
    assert "A.f -> B.go" in found


def test_a_name_that_the_library_has_itself_says_nothing_about_whose_it_is() -> None:
    assert "A.f -> B.isEmpty" not in calls(
        "package p; class A { void f(java.util.List<String> xs) { xs.isEmpty(); unknown().isEmpty(); } }",
        "package p; class B { boolean isEmpty() { return true; } }",
    )
