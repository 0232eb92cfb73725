"""The rules by which names of Go lead to definitions, each with a case where they must not."""

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges, nodes

MOD = {"go.mod": "module example.com/shop\n\ngo 1.22\n"}


def calls(sources: dict[str, str]) -> set[str]:
    """Who calls what, as `T.f -> g`."""
    return {_short(line) for line in edges(MOD | sources)}


def in_main(body: str) -> set[str]:
    """The same for the declarations of one file."""
    return calls({"main.go": f"package main\n{body}"})


def _short(line: str) -> str:
    source, _, rest = line.partition(" -calls-> ")
    target = rest.rpartition(" ")[0]
    return f"{source.rpartition('::')[2]} -> {target.rpartition('::')[2]}"


# ---- how packages and imports lead


def test_the_files_of_a_folder_are_one_package() -> None:
    found = calls({"a/x.go": "package a\nfunc f() { g() }", "a/y.go": "package a\nfunc g() {}"})
    assert found == {"f -> g"}


def test_another_folder_with_the_same_package_name_is_another_package() -> None:
    found = calls({"a/x.go": "package a\nfunc f() { g() }", "b/a/y.go": "package a\nfunc g() {}"})
    assert found == set()


def test_programs_in_several_folders_do_not_know_each_other() -> None:
    found = calls(
        {"x/main.go": "package main\nfunc main() { g() }", "y/main.go": "package main\nfunc g() {}"}
    )
    assert found == set()


def test_an_import_path_leads_to_a_folder_of_the_module() -> None:
    found = calls(
        {
            "main.go": 'package main\nimport "example.com/shop/cart"\nfunc main() { cart.New() }',
            "cart/cart.go": "package cart\nfunc New() {}",
            "other/cart/cart.go": "package cart\nfunc New() {}",
        }
    )
    assert found == {"main -> New"}


def test_a_path_outside_the_module_leads_nowhere() -> None:
    found = calls(
        {
            "main.go": 'package main\nimport "example.com/other/cart"\nfunc main() { cart.New() }',
            "cart/cart.go": "package cart\nfunc New() {}",
        }
    )
    assert found == set()


def test_an_alias_a_dot_and_a_blank() -> None:
    lib = {"lib/lib.go": "package lib\nfunc Go() {}"}
    alias = 'package main\nimport l "example.com/shop/lib"\nfunc main() { l.Go(); lib.Go() }'
    dot = 'package main\nimport . "example.com/shop/lib"\nfunc main() { Go() }'
    blank = 'package main\nimport _ "example.com/shop/lib"\nfunc main() { lib.Go() }'
    assert calls(lib | {"main.go": alias}) == {"main -> Go"}
    assert calls(lib | {"main.go": dot}) == {"main -> Go"}
    assert calls(lib | {"main.go": blank}) == set()


def test_a_local_hides_a_package() -> None:
    found = calls(
        {
            "main.go": 'package main\nimport "example.com/shop/lib"\nfunc f(lib T) { lib.Go() }',
            "t.go": "package main\ntype T struct{}\nfunc (t T) Go() {}",
            "lib/lib.go": "package lib\nfunc Go() {}",
        }
    )
    assert found == {"f -> T.Go"}


def test_nested_and_replaced_modules_have_paths_of_their_own() -> None:
    found = calls(
        {
            "go.mod": "module example.com/shop\nrequire example.com/far v1.0.0\nreplace example.com/far => ./near\n",
            "main.go": 'package main\nimport "example.com/tools/fmt"\nfunc main() { fmt.Run() }',
            "more.go": 'package main\nimport "example.com/far/x"\nfunc more() { x.Go() }',
            "tools/go.mod": "module example.com/tools\n",
            "tools/fmt/fmt.go": "package fmt\nfunc Run() {}",
            "near/x/x.go": "package x\nfunc Go() {}",
        }
    )
    assert found == {"main -> Run", "more -> Go"}


def test_the_names_of_tests_are_known_to_tests_only() -> None:
    found = calls(
        {
            "a/a.go": "package a\nfunc f() { helper() }",
            "a/a_test.go": "package a\nfunc helper() { f() }",
            "a/b_test.go": "package a\nfunc g() { helper() }",
            "a/out_test.go": 'package a_test\nimport "example.com/shop/a"\nfunc h() { helper(); a.F() }',
            "a/c.go": "package a\nfunc F() {}",
        }
    )
    assert found == {"helper -> f", "g -> helper", "h -> F"}


def test_imports_lead_to_the_files_of_the_package_but_not_to_its_tests() -> None:
    lines = edges(
        MOD
        | {
            "main.go": 'package main\nimport "example.com/shop/a"\nfunc main() { a.F() }',
            "a/a.go": "package a\nfunc F() {}",
            "a/a_test.go": "package a\nfunc G() {}",
        },
        Relation.IMPORTS,
    )
    assert lines == ["main.go -imports-> a/a.go resolved"]


# ---- methods, embedding, interfaces


def test_methods_may_stand_in_another_file_than_their_type() -> None:
    found = calls(
        {
            "a/t.go": "package a\ntype T struct{ u U }\ntype U struct{}\nfunc (t *T) F() { t.G(); t.u.H() }",
            "a/m.go": "package a\nfunc (t *T) G() { t.F() }\nfunc (u U) H() {}",
        }
    )
    assert found == {"T.F -> T.G", "T.F -> U.H", "T.G -> T.F"}


def test_a_type_that_only_has_methods_here_is_no_node_here() -> None:
    found = nodes(MOD | {"a/t.go": "package a\ntype T struct{}", "a/m.go": "package a\nfunc (t T) G() {}"})
    assert "a/m.go::T" not in found
    assert "a/m.go::T.G" in found


def test_an_embedded_struct_lends_its_methods_unless_they_are_overridden() -> None:
    found = in_main(
        """
        type Base struct{}
        func (b Base) M() {}
        func (b Base) N() {}
        type T struct{ *Base }
        func (t T) N() {}
        func f(t T) { t.M(); t.N(); t.Base.N() }
        """
    )
    assert found == {"f -> Base.M", "f -> T.N", "f -> Base.N"}


def test_a_field_may_have_the_name_of_its_type_or_package() -> None:
    found = calls(
        {
            "a/t.go": 'package a\nimport "example.com/shop/log"\ntype T struct{ log log.Log; Box Box; other Box }',
            "a/m.go": "package a\nfunc (t T) F() { t.log.Write(); t.Box.Open(); t.other.Open() }",
            "a/b.go": "package a\ntype Box struct{}\nfunc (b Box) Open() {}",
            "log/log.go": "package log\ntype Log struct{}\nfunc (l Log) Write() {}",
        }
    )
    assert found == {"T.F -> Log.Write", "T.F -> Box.Open"}


def test_an_interface_leads_to_the_types_that_have_all_its_methods() -> None:
    found = in_main(
        """
        type Shape interface { Draw(); Area() int }
        type Circle struct{}
        func (c Circle) Draw() {}
        func (c Circle) Area() int { return 1 }
        type Cowboy struct{}
        func (c Cowboy) Draw() {}
        func f(s Shape) { s.Draw() }
        """
    )
    assert found == {"f -> Shape.Draw", "f -> Circle.Draw"}


# ---- values


def test_values_of_every_kind_lead_to_methods() -> None:
    found = in_main(
        """
        type B struct{}
        func (b *B) Go() {}
        func Make() *B { return &B{} }
        func Two() (*B, error) { return nil, nil }
        type T struct{ field *B; many []B; named map[string]*B }
        var global = Make()
        func a() { Make().Go() }
        func b() { x, err := Two(); _ = err; x.Go() }
        func c(t T) { t.field.Go() }
        func d(t T) { for _, x := range t.many { x.Go() } }
        func e(t T) { t.named["x"].Go() }
        func f(x interface{}) { x.(*B).Go(); if y, ok := x.(*B); ok { y.Go() } }
        func g(x interface{}) { switch y := x.(type) { case *B: y.Go() } }
        func h() { x := new(B); x.Go() }
        func i() { (&B{}).Go(); xs := make([]*B, 1); xs[0].Go() }
        func j() { global.Go() }
        func k(ch chan *B) { x := <-ch; x.Go(); for y := range ch { y.Go() } }
        """
    )
    assert {f"{name} -> B.Go" for name in "abcdefghijk"} <= found


def test_a_variable_of_an_inner_block_hides_the_outer_one() -> None:
    found = in_main(
        """
        type B struct{}
        func (b B) Go() {}
        type C struct{}
        func (c C) Go() {}
        func f() { x := B{}; if true { x := C{}; x.Go() } }
        func g() { x := B{}; if true { x := C{}; _ = x }; x.Go() }
        """
    )
    assert found == {"f -> C.Go", "g -> B.Go"}


def test_functions_closures_and_method_values_are_called() -> None:
    found = in_main(
        """
        type T struct{ fn func() }
        func (t T) M() {}
        func help() {}
        func run(f func()) { f() }
        func a() { f := help; f() }
        func b() { t := T{}; f := t.M; f() }
        func c() { run(help) }
        func d() { go help(); defer help() }
        func e() { table := map[string]func(){"x": help}; table["x"]() }
        func f() { t := T{fn: help}; t.fn() }
        func g() { T.M(T{}) }
        """
    )
    assert {
        "a -> help",
        "b -> T.M",
        "c -> run",
        "run -> help",
        "d -> help",
        "e -> help",
        "f -> help",
        "g -> T.M",
    } <= found


def test_a_closure_sees_the_names_around_it() -> None:
    found = in_main(
        """
        type B struct{}
        func (b B) Go() {}
        func f() { b := B{}; func() { b.Go() }() }
        """
    )
    assert found == {"f -> f.<func:5:29>", "f.<func:5:29> -> B.Go"}


def test_generic_functions_and_types_are_followed() -> None:
    found = in_main(
        """
        type Box[T any] struct{ v T }
        func (b *Box[T]) Open() {}
        func Map[A, B any](x A) {}
        func f(b *Box[int]) { b.Open(); Map[int, string](1); Map(2) }
        """
    )
    assert found == {"f -> Box.Open", "f -> Map"}


def test_a_conversion_is_no_call() -> None:
    found = in_main("type B int\nfunc (b B) Go() {}\nfunc f() { B(1).Go() }")
    assert found == {"f -> B.Go"}


def test_people_say_the_import_path() -> None:
    found = nodes(MOD | {"cart/prices.go": "package cart\ntype Cart struct{}\nfunc (c Cart) Add() {}"})
    assert found["cart/prices.go::Cart.Add"].name == "example.com/shop/cart.Cart.Add"


def test_a_generic_function_is_called_for_a_type_however_many_arguments_it_has() -> None:
    source = "package m\nfunc get[T any](a int, b int) (res T) { return }\nfunc F() { get[string](1, 2) }\n"
    assert edges({"go.mod": "module m\n", "a.go": source}) == ["a.go::F -calls-> a.go::get resolved"]


def test_a_function_out_of_a_slice_is_no_generic_one() -> None:
    source = "package m\nfunc act() {}\nfunc F(i int) { all := []func(int, int){}; all[i](1, 2) }\n"
    assert edges({"go.mod": "module m\n", "a.go": source}) == []


def test_a_variable_of_the_package_is_known_in_its_other_files() -> None:
    sources = {
        "go.mod": "module m\n",
        "a/root.go": "package a\nvar root = &Command{}\nvar local = 1\n",
        "a/command.go": "package a\ntype Command struct{}\nfunc (c *Command) Name() {}\n",
        "a/use.go": "package a\nfunc F() { root.Name() }\n",
        "b/use.go": "package b\nfunc F() { root.Name() }\n",
    }
    assert "a/use.go::F -calls-> a/command.go::Command.Name resolved" in edges(sources)
    assert not any(line.startswith("b/use.go::F") for line in edges(sources))
