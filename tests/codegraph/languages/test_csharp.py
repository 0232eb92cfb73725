"""The rules by which names of C# lead to definitions, each with a case where they must not."""

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges, nodes


def calls(*sources: str) -> set[str]:
    """Who calls what, as `A.F -> B.G`."""
    return {_short(line) for line in edges(files(*sources))}


def files(*sources: str) -> dict[str, str]:
    return {f"F{number}.cs": source for number, source in enumerate(sources)}


def _short(line: str) -> str:
    source, _, rest = line.partition(" -calls-> ")
    target = rest.rpartition(" ")[0]
    return f"{source.rpartition('::')[2]} -> {target.rpartition('::')[2]}"


# ---- how namespaces and usings lead


def test_a_namespace_is_shared_by_its_files_whether_it_has_braces_or_not() -> None:
    found = calls(
        "namespace N; class A { void F() { B.G(); } }",
        "namespace N { class B { public static void G() {} } }",
    )
    assert found == {"A.F -> B.G"}


def test_a_class_of_another_namespace_needs_a_using() -> None:
    other = "namespace M; public class B { public static void G() {} }"
    assert calls("namespace N; class A { void F() { B.G(); } }", other) == set()
    assert calls("using M; namespace N; class A { void F() { B.G(); } }", other) == {"A.F -> B.G"}


def test_the_namespaces_around_are_known_and_those_below_are_not() -> None:
    found = calls(
        "namespace N.Inner; class A { void F() { B.G(); C.G(); } }",
        "namespace N; class B { public static void G() {} }",
        "namespace N.Inner.Below; class C { public static void G() {} }",
    )
    assert found == {"A.F -> B.G"}


def test_the_own_namespace_goes_before_a_using() -> None:
    lines = edges(
        files(
            "using M; namespace N; class A { void F() { B.G(); } }",
            "namespace M; public class B { public static void G() {} }",
            "namespace N; public class B { public static void G() {} }",
        )
    )
    assert lines == ["F0.cs::A.F -calls-> F2.cs::B.G resolved"]


def test_using_static_gives_methods_and_an_alias_gives_a_class() -> None:
    found = calls(
        "using static M.B; using Short = M.C; namespace N; class A { void F() { G(); Short.H(); I(); } }",
        "namespace M; public static class B { public static void G() {} }",
        "namespace M; public static class C { public static void H() {} public static void I() {} }",
    )
    assert found == {"A.F -> B.G", "A.F -> C.H"}


def test_a_global_using_counts_for_every_file() -> None:
    found = calls(
        "global using M;",
        "namespace N; class A { void F() { B.G(); } }",
        "namespace M; public class B { public static void G() {} }",
    )
    assert found == {"A.F -> B.G"}


def test_a_class_can_be_named_with_all_or_part_of_its_namespace() -> None:
    found = calls(
        """
        namespace Shop;
        class A { void F() { Shop.Cart.B.G(); Cart.B.G(); } void H(Cart.B b) { b.I(); global::Shop.Cart.B.G(); } }
        """,
        "namespace Shop.Cart; public class B { public static void G() {} public void I() {} }",
    )
    assert found == {"A.F -> B.G", "A.H -> B.I", "A.H -> B.G"}


def test_one_file_may_declare_several_namespaces() -> None:
    found = calls(
        "using Two; namespace N; class A { void F() { B.G(); } }",
        "namespace One { class X {} } namespace Two { public class B { public static void G() {} } }",
    )
    assert found == {"A.F -> B.G"}


# ---- what classes have


def test_the_parts_of_a_partial_class_know_each_other() -> None:
    found = calls(
        "namespace N; partial class A { B helper = new B(); void F() { Other(); } int Sum => 1; }",
        "namespace N; partial class A { void Other() { helper.Go(); F(); var x = Sum; } }",
        "namespace N; class B { public void Go() {} }",
    )
    assert {"A.F -> A.Other", "A.Other -> B.Go", "A.Other -> A.F", "A.Other -> A.Sum"} <= found


def test_a_partial_class_of_the_same_name_elsewhere_is_another_one() -> None:
    found = calls(
        "namespace N; partial class A { void F() { Other(); } }",
        "namespace M; partial class A { void Other() {} }",
    )
    assert found == set()


def test_base_and_overloads() -> None:
    found = calls(
        """
        class Base { public Base(int x) {} public virtual void M() {} public void M(int x) {} }
        class A : Base { A() : base(1) {} A(int x) : this() {} public override void M() { base.M(); M(2); } }
        """
    )
    assert found == {"A.A -> Base.Base", "A.A#2 -> A.A", "A.M -> Base.M", "A.M -> Base.M#2"}


def test_a_primary_constructor_gives_fields_and_calls_the_base() -> None:
    found = calls(
        """
        class Log { public void Write() {} }
        class Base(Log log) { protected Log Own = log; }
        class A(Log log) : Base(log) { void F() { log.Write(); } void G() { Own.Write(); } }
        """
    )
    assert found == {"A.A -> Base.Base", "A.F -> Log.Write", "A.G -> Log.Write"}


def test_a_property_that_computes_is_called_and_one_that_keeps_is_a_field() -> None:
    found = calls(
        """
        class B { public void Go() {} }
        class A {
            B kept;
            public B Auto { get; set; }
            public B Computed => kept;
            public B Full { get { return kept; } set { Check(); } }
            void Check() {}
            void F() { Auto.Go(); }
            void G() { Computed.Go(); }
            void H(A other) { var x = other.Full; }
            void I(A other) { other.Full = null; }
        }
        """
    )
    assert {
        "A.F -> B.Go",
        "A.G -> A.Computed",
        "A.G -> B.Go",
        "A.H -> A.Full",
        "A.Full#2 -> A.Check",
    } <= found
    assert "A.F -> A.Auto" not in found
    assert "A.I -> A.Full#2" in found


def test_a_member_may_have_the_name_of_its_type() -> None:
    found = calls(
        """
        using M; namespace N;
        class A { public Color Color { get; set; } Shade Shade; void F() { Color.Mix(); Shade.Mix(); } }
        """,
        "namespace N; public class Color { public void Mix() {} }",
        "namespace M; public class Shade { public void Mix() {} }",
    )
    assert found == {"A.F -> Color.Mix", "A.F -> Shade.Mix"}


def test_an_extension_method_is_called_on_its_type_where_its_namespace_is_used() -> None:
    extension = "namespace Ext; public static class More { public static void Twice(this N.B b) {} }"
    user = "namespace N; public class B {} class A { void F(B b) { b.Twice(); } }"
    assert calls(user, extension) == set()
    assert calls("using Ext; " + user, extension) == {"A.F -> More.Twice"}


def test_a_method_of_the_class_goes_before_an_extension() -> None:
    found = calls(
        """
        class B { public void Go() {} }
        static class More { public static void Go(this B b) {} }
        class A { void F(B b) { b.Go(); } }
        """
    )
    assert found == {"A.F -> B.Go"}


def test_an_interface_leads_to_those_who_implement_it_and_to_nobody_else() -> None:
    found = calls(
        """
        interface IShape { void Draw(); }
        class Circle : IShape { public void Draw() {} }
        class Cowboy { public void Draw() {} }
        class A { private readonly IShape s; A(IShape s) { this.s = s; } void F() { s.Draw(); } }
        """
    )
    assert found == {"A.F -> IShape.Draw", "A.F -> Circle.Draw"}


def test_a_generic_constraint_gives_the_methods_of_its_type() -> None:
    found = calls(
        "class B { public void Go() {} } class A { void F<T>(T t) where T : B { t.Go(); } void G<T>(T t) { t.Go(); } }"
    )
    assert "A.F -> B.Go" in found


def test_the_name_of_a_class_is_not_its_constructor() -> None:
    assert calls("class A { A() { A.Check(); } static void Check() {} }") == {"A.A -> A.Check"}


# ---- what values are


def test_declared_and_made_values_lead_to_methods() -> None:
    found = calls(
        """
        using System.Collections.Generic;
        class B { public void Go() {} public static B Make() => new(); }
        class A {
            private readonly List<B> all = new();
            void F() { B b = new(); b.Go(); }
            void G() { foreach (var b in all) b.Go(); }
            void H(object o) { if (o is B b) b.Go(); (o as B).Go(); ((B)o).Go(); }
            void I() { B.Make().Go(); B.Make()?.Go(); B.Make()!.Go(); }
            void J(B[] many) { many[0].Go(); }
            void K(Dictionary<string, B> named) { named["x"].Go(); }
        }
        """
    )
    assert {f"A.{name} -> B.Go" for name in "FGHIJK"} <= found


def test_a_name_that_two_blocks_declare_is_two_variables() -> None:
    found = calls(
        """
        class B { public void Go() {} } class C { public void Go() {} }
        class A { void F() { { var x = new B(); } { var x = new C(); x.Go(); } } }
        """
    )
    assert "A.F -> C.Go" in found
    assert "A.F -> B.Go" not in found


def test_awaited_tasks_give_their_results() -> None:
    found = calls(
        """
        using System.Threading.Tasks;
        class B { public void Go() {} }
        interface IRepo { Task<B> Find(int id); }
        class A { IRepo repo; async Task F() { var b = await repo.Find(1); b.Go(); (await repo.Find(2)).Go(); } }
        """
    )
    assert found == {"A.F -> IRepo.Find", "A.F -> B.Go"}


def test_items_flow_through_queries() -> None:
    found = calls(
        """
        using System.Linq; using System.Collections.Generic;
        class B { public bool Ok() => true; public C Next() => null; } class C { public void Go() {} }
        class A {
            List<B> all;
            void F() { all.Where(b => b.Ok()).Select(b => b.Next()).First().Go(); }
            void G() { var q = from b in all where b.Ok() select b.Next(); foreach (var c in q) c.Go(); }
        }
        """
    )
    targets = {line.split(" -> ")[1] for line in found if line.startswith("A.F.<lambda")}
    assert targets == {"B.Ok", "B.Next"}
    assert {"A.F -> C.Go", "A.G -> B.Ok", "A.G -> B.Next", "A.G -> C.Go"} <= found


def test_lambdas_delegates_and_events_are_called() -> None:
    found = calls(
        """
        using System;
        class A {
            public event Action Changed;
            void OnChanged() {}
            void Local() { int Twice(int n) => n; Twice(2); Func<int> f = () => Twice(1); f(); f.Invoke(); }
            void Wire() { Changed += OnChanged; }
            void Raise() { Changed?.Invoke(); }
        }
        """
    )
    assert {"A.Local -> A.Local.Twice", "A.Raise -> A.OnChanged"} <= found
    assert any(line.startswith("A.Local -> A.Local.<lambda") for line in found)


def test_using_disposes() -> None:
    found = calls(
        """
        class R : System.IDisposable { public void Dispose() {} }
        class A { void F() { using var r = new R(); } void G() { using (var r = new R()) {} } }
        """
    )
    assert {"A.F -> R.Dispose", "A.G -> R.Dispose"} <= found


def test_top_level_statements_belong_to_the_file_and_their_variables_to_nobody_else() -> None:
    lines = edges(
        {
            "Program.cs": "var b = new B(); b.Go(); Help(); static void Help() {} class B { public void Go() {} }",
            "Other.cs": "class A { void F() { b.Go(); } }",
        }
    )
    assert "Program.cs -calls-> Program.cs::B.Go resolved" in lines
    assert "Program.cs -calls-> Program.cs::Help resolved" in lines
    assert not [line for line in lines if line.startswith("Other.cs")]


def test_named_arguments_and_object_initialisers_are_read() -> None:
    found = calls(
        """
        class B { public int X { get; set; } public static int One() => 1; }
        class A { void M(int a, int b = 2) {} void F() { M(b: B.One(), a: 1); var b = new B { X = B.One() }; } }
        """
    )
    assert {"A.F -> A.M", "A.F -> B.One", "A.F -> B"} <= found


def test_usings_lead_to_the_files_of_the_namespace() -> None:
    lines = edges(
        files(
            "using M; namespace N; class A { B b; }",
            "namespace M; public class B {}",
            "namespace O; class C {}",
        ),
        Relation.IMPORTS,
    )
    assert lines == ["F0.cs -imports-> F1.cs resolved"]


def test_people_say_the_namespace_and_the_class() -> None:
    found = nodes({"src/Cart.cs": "namespace Shop.Basket; public class Cart { public void Add() {} }"})
    assert found["src/Cart.cs::Cart.Add"].name == "Shop.Basket.Cart.Add"


# ---- what a project uses everywhere


def test_a_namespace_that_the_project_uses_is_known_in_all_its_files() -> None:
    sources = {
        "src/App/App.csproj": '<Project><ItemGroup><Using Include="Shop.Carts;Shop.Orders" /></ItemGroup></Project>',
        "src/App/A.cs": "namespace App; class A { void F() { Cart.Open(); Order.Send(); } }",
        "src/Other/B.cs": "namespace Other; class B { void F() { Cart.Open(); } }",
        "lib/Cart.cs": "namespace Shop.Carts; static class Cart { public static void Open() {} }",
        "lib/Order.cs": "namespace Shop.Orders; static class Order { public static void Send() {} }",
    }
    assert edges(sources) == [
        "src/App/A.cs::A.F -calls-> lib/Cart.cs::Cart.Open resolved",
        "src/App/A.cs::A.F -calls-> lib/Order.cs::Order.Send resolved",
    ]


def test_a_file_for_all_projects_below_it_counts_for_them_only() -> None:
    sources = {
        "src/Directory.Build.props": '<Project><ItemGroup><Using Include="Shop" /></ItemGroup></Project>',
        "src/App/A.cs": "namespace App; class A { void F() { Cart.Open(); } }",
        "tests/B.cs": "namespace Tests; class B { void F() { Cart.Open(); } }",
        "src/Shop/Cart.cs": "namespace Shop; static class Cart { public static void Open() {} }",
    }
    assert edges(sources) == ["src/App/A.cs::A.F -calls-> src/Shop/Cart.cs::Cart.Open resolved"]


def test_a_using_of_a_class_or_of_nothing_is_no_namespace() -> None:
    sources = {
        "App.csproj": '<Project><Using Include="Shop.Cart" Static="true" /><Using Remove="Shop" /></Project>',
        "A.cs": "namespace App; class A { void F() { Cart.Open(); } }",
        "Cart.cs": "namespace Shop; static class Cart { public static void Open() {} }",
    }
    assert edges(sources) == []
