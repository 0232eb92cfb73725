"""Python's names: what a call leads to by the language's own rules, and what it does not."""

import pytest

from belayer.codegraph.graph import Kind, Relation
from tests.codegraph.graphs import edges, linked, nodes


def calls(sources: dict[str, str] | str) -> list[str]:
    return edges({"main.py": sources} if isinstance(sources, str) else sources)


def called(sources: dict[str, str] | str) -> set[str]:
    """The calls without confidence and without `main.py::`."""
    return {
        line.rsplit(" ", 1)[0].replace(" -calls-> ", " > ").replace("main.py::", "")
        for line in calls(sources)
    }


def test_a_function_is_called_by_its_name_and_by_its_imported_name() -> None:
    sources = {
        "main.py": "from lib import f as g\nimport lib\ndef run():\n    g()\n    lib.f()\n    h()\ndef h(): pass\n",
        "lib.py": "def f(): pass\ndef h(): pass\n",
    }
    assert calls(sources) == [
        "main.py::run -calls-> lib.py::f resolved",
        "main.py::run -calls-> main.py::h resolved",
    ]


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("import shop.cart", "shop.cart.total()"),
        ("import shop.cart as c", "c.total()"),
        ("from shop import cart", "cart.total()"),
        ("from shop.cart import total", "total()"),
        ("from shop.cart import total as t", "t()"),
        ("from shop import total", "total()"),
        ("from shop import *", "total()"),
        ("from shop.cart import *", "total()"),
        ("import shop", "shop.total()"),
        ("import shop", "shop.cart.total()"),
    ],
)
@pytest.mark.parametrize("root", ["", "src/", "packages/shop/src/"])
def test_every_spelling_of_an_import_leads_to_the_same_function(statement: str, call: str, root: str) -> None:
    sources = {
        f"{root}shop/__init__.py": "from .cart import total\nfrom . import cart\n",
        f"{root}shop/cart.py": "def total(): pass\n",
        f"{root}../pyproject.toml".replace("src/../", "").lstrip("./"): "",
        "tests/use.py": f"{statement}\ndef use():\n    {call}\n",
    }
    assert calls(sources) == [f"tests/use.py::use -calls-> {root}shop/cart.py::total resolved"]


def test_relative_imports_count_their_dots() -> None:
    sources = {
        "a/__init__.py": "",
        "a/x.py": "def f(): pass\n",
        "a/b/__init__.py": "",
        "a/b/x.py": "def f(): pass\n",
        "a/b/use.py": "from .x import f\nfrom ..x import f as up\nfrom . import x\nf(); up(); x.f()\n",
    }
    assert calls(sources) == [
        "a/b/use.py -calls-> a/b/x.py::f resolved",
        "a/b/use.py -calls-> a/x.py::f resolved",
    ]


def test_a_namespace_package_needs_no_file_of_its_own() -> None:
    assert calls({"ns/inner/m.py": "def f(): pass\n", "main.py": "import ns.inner.m\nns.inner.m.f()\n"}) == [
        "main.py -calls-> ns/inner/m.py::f resolved"
    ]


def test_pythons_own_modules_are_not_mistaken_for_neighbours_in_a_package() -> None:
    sources = {
        "shop/__init__.py": "",
        "shop/logging.py": "def getLogger(): pass\n",
        "shop/use.py": "import logging\nlogging.getLogger()\n",
    }
    assert calls(sources) == []


def test_a_star_import_honours_all_and_leaves_private_names() -> None:
    sources = {
        "lib.py": "__all__ = ['f']\ndef f(): pass\ndef g(): pass\n",
        "open.py": "def h(): pass\ndef _i(): pass\n",
        "main.py": "from lib import *\nfrom open import *\nf(); g(); h(); _i()\n",
    }
    assert calls(sources) == ["main.py -calls-> lib.py::f resolved", "main.py -calls-> open.py::h resolved"]


def test_imports_in_branches_and_functions_count() -> None:
    sources = {
        "fast.py": "def f(): pass\n",
        "slow.py": "def f(): pass\n",
        "main.py": """
            try:
                from fast import f
            except ImportError:
                from slow import f
            def run():
                from slow import f as g
                g()
            f()
            """,
    }
    assert calls(sources) == [
        "main.py -calls-> fast.py::f inferred",
        "main.py -calls-> slow.py::f inferred",
        "main.py::run -calls-> slow.py::f resolved",
    ]


def test_a_local_name_hides_a_global_one() -> None:
    assert called("def f(): pass\ndef g():\n    f = print\n    f()\ndef h(f):\n    f()\n") == set()


def test_a_class_scope_is_not_seen_in_its_methods() -> None:
    source = """
        def f(): pass
        class A:
            def f(self): pass
            def g(self): f()
            h = f
        """
    assert called(source) == {"A.g > f"}


def test_closures_see_the_functions_around_them_and_nonlocal_binds_there() -> None:
    source = """
        def f(): pass
        def g(): pass
        def outer():
            h = f
            def inner():
                nonlocal h
                h = g
            def use(): h()
            use()
        """
    assert called(source) == {"outer.use > f", "outer.use > g", "outer > outer.use"}


def test_a_comprehensions_variable_ends_with_it() -> None:
    source = """
        def f(): pass
        def g(): pass
        x = f
        [x() for x in [g]]
        x()
        """
    assert called(source) == {"main.py > f", "main.py > g"}
    assert called("def g(): pass\n[x for x in [g]]\nx()\n") == set()


def test_in_straight_lines_the_last_binding_counts() -> None:
    source = """
        def f(): pass
        def g(): pass
        def run():
            x = f
            x = g
            x()
        def choose(c):
            x = f
            if c: x = g
            x()
        """
    assert called(source) == {"run > g", "choose > f", "choose > g"}


def test_self_finds_methods_of_the_class_and_of_its_bases_only() -> None:
    source = """
        class A:
            def a(self): self.b()
            def b(self): pass
        class B(A):
            def c(self): self.b(); self.a()
        class Other:
            def b(self): pass
        """
    assert calls(source) == [
        "main.py::A.a -calls-> main.py::A.b resolved",
        "main.py::B.c -calls-> main.py::A.a resolved",
        "main.py::B.c -calls-> main.py::A.b resolved",
    ]


def test_several_bases_are_looked_up_in_c3_order() -> None:
    source = """
        class A:
            def m(self): pass
        class B(A): pass
        class C(A):
            def m(self): super().m()
        class D(B, C):
            def m(self): super().m()
        D().m()
        """
    assert called(source) == {"C.m > A.m", "D.m > C.m", "main.py > D.m", "main.py > D"}


def test_making_an_instance_calls_the_class_and_its_constructor() -> None:
    source = "class A:\n    def __init__(self): pass\nclass B(A): pass\nclass C: pass\nB()\nC()\n"
    assert calls(source) == [
        "main.py -calls-> main.py::A.__init__ resolved",
        "main.py -calls-> main.py::B resolved",
        "main.py -calls-> main.py::C resolved",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "def run(a: A): a.m()",
        "def run(a: 'A'): a.m()",
        "def run(a: A | None): a.m()",
        "def run(a: Optional['A'] = None): a.m()",
        "def run(a: list[A]):\n    for x in a: x.m()",
        "def run(a: dict[str, A]): a['k'].m()",
        "def run():\n    a: A = unknown()\n    a.m()",
        "def make() -> A: ...\ndef run(): make().m()",
        "def make():\n    return A()\ndef run(): make().m()",
        "def run():\n    with A() as a: a.m()",
        "def run():\n    (a := A()).m()",
        "def run(): [a.m() for a in [A()]]",
        "def run(a): a.m()\nrun(A())",
        "class B:\n    a: A\ndef run(b: B): b.a.m()",
        "class B:\n    def __init__(self): self.a = A()\ndef run(b: B): b.a.m()",
        "class B:\n    def __init__(self, a): self.a = a\ndef run():\n    B(A()).a.m()",
        "class B:\n    @property\n    def a(self) -> A: ...\ndef run(b: B): b.a.m()",
        "class B(A):\n    @classmethod\n    def make(cls): return cls()\ndef run(): B.make().m()",
        "def run():\n    try: pass\n    except A as a: a.m()",
        "def run(): getattr(A(), 'm')()",
        "def run(x):\n    match x:\n        case A() as a: a.m()",
        "import copy\ndef run():\n    a = A() or None\n    a.m()",
    ],
)
def test_an_instances_type_is_known_from(code: str) -> None:
    known = (
        "from typing import Optional\nclass A:\n    def m(self): pass\n    def __enter__(self): return self\n"
    )
    source = f"{known}{code}\n"
    targets = {line.split(" > ")[1] for line in called(source)}
    assert "A.m" in targets


def test_methods_of_the_same_name_in_unrelated_classes_are_kept_apart() -> None:
    source = """
        class A:
            def work(self): pass
        class B:
            def work(self): pass
        def run(a: A): a.work()
        """
    assert called(source) == {"run > A.work"}


def test_what_comes_from_outside_is_not_guessed_by_name() -> None:
    source = """
        import requests
        class A:
            def fetch_everything(self): pass
        requests.get("x").fetch_everything()
        "text".fetch_everything()
        open("f").fetch_everything()
        """
    assert called(source) == set()


def test_an_unknown_receiver_is_guessed_by_a_telling_name_only() -> None:
    source = """
        class A:
            def recalculate_totals(self): pass
            def get(self, key): pass
            def takes_two(self, a, b): pass
        def run(x):
            x.recalculate_totals()
            x.get(1)
            x.takes_two(1)
        """
    assert calls(source) == ["main.py::run -calls-> main.py::A.recalculate_totals by_name"]


def test_many_methods_of_one_name_are_not_guessed() -> None:
    classes = "\n".join(f"class A{n}:\n    def recalculate(self): pass" for n in range(5))
    assert called(f"{classes}\ndef run(x): x.recalculate()\n") == set()


def test_static_and_class_methods_and_properties() -> None:
    source = """
        class A:
            @staticmethod
            def s(): pass
            @classmethod
            def c(cls): cls.s()
            @property
            def p(self): return self.q()
            def q(self): pass
            @p.setter
            def p(self, value): self.q()
        A.s()
        A.c()
        x = A().p
        A().p = 3
        """
    assert called(source) >= {
        "A.c > A.s",
        "A.p > A.q",
        "A.p#2 > A.q",
        "main.py > A.s",
        "main.py > A.c",
        "main.py > A.p",
    }
    assert "main.py > A.p#2" in called(source)


def test_an_abstract_method_may_be_any_that_implements_it() -> None:
    source = """
        from abc import abstractmethod
        class Shape:
            @abstractmethod
            def area(self): ...
            def plain(self): pass
        class Square(Shape):
            def area(self): pass
            def plain(self): pass
        def run(s: Shape):
            s.area()
            s.plain()
        """
    assert calls(source) == [
        "main.py::run -calls-> main.py::Shape.area resolved",
        "main.py::run -calls-> main.py::Shape.plain resolved",
        "main.py::run -calls-> main.py::Square.area inferred",
    ]


def test_a_method_without_a_parameter_for_its_instance_has_none() -> None:
    source = """
        class A:
            def other(self): pass
            def run(*args, key): key.other()
            def walk(
                # the instance
                this, step): this.other()
        """
    assert calls(source) == [
        "main.py::A.run -calls-> main.py::A.other by_name",
        "main.py::A.walk -calls-> main.py::A.other resolved",
    ]


def test_a_protocol_is_implemented_by_whoever_has_its_methods() -> None:
    source = """
        from typing import Protocol
        class Sender(Protocol):
            def send_one(self, text: str) -> None: ...
            def close_it(self) -> None: ...
        class Mail:
            def send_one(self, text): pass
            def close_it(self): pass
        class Half:
            def send_one(self, text): pass
        def run(s: Sender): s.send_one("x")
        """
    assert calls(source) == [
        "main.py::run -calls-> main.py::Mail.send_one inferred",
        "main.py::run -calls-> main.py::Sender.send_one resolved",
    ]


@pytest.mark.parametrize(
    ("code", "method"),
    [
        ("for x in A(): pass", "__iter__"),
        ("A()[0]", "__getitem__"),
        ("a = A()\na[0] = 1", "__setitem__"),
        ("A()()", "__call__"),
        ("A() + 1", "__add__"),
        ("A() == 1", "__eq__"),
        ("1 in A()", "__contains__"),
        ("-A()", "__neg__"),
        ("len(A())", "__len__"),
        ("str(A())", "__str__"),
        ("f'{A()}'", "__str__"),
        ("with A(): pass", "__exit__"),
        ("del A()[0]", "__delitem__"),
        ("a = A()\na += 1", "__iadd__"),
    ],
)
def test_an_operator_calls_the_method_that_stands_for_it(code: str, method: str) -> None:
    source = (
        f"class A:\n    def {method}(self, *a): pass\nclass B:\n    def {method}(self, *a): pass\n{code}\n"
    )
    assert f"main.py > A.{method}" in called(source)
    assert f"main.py > B.{method}" not in called(source)


def test_raising_a_class_constructs_it() -> None:
    source = (
        "class E(Exception):\n    def __init__(self): pass\ndef f():\n    raise E\ndef g(e):\n    raise e\n"
    )
    assert called(source) == {"f > E", "f > E.__init__"}


def test_classes_inherit_and_methods_override() -> None:
    sources = {
        "a.py": "class A:\n    def __init__(self): pass\n    def m(self): pass\n    def n(self): pass\n",
        "main.py": "import a\nclass B(a.A):\n    def __init__(self): pass\n    def m(self): pass\n    o = m\n",
    }
    assert edges(sources, Relation.INHERITS, Relation.OVERRIDES) == [
        "main.py::B -inherits-> a.py::A resolved",
        "main.py::B.m -overrides-> a.py::A.m resolved",
    ]


def test_imports_lead_to_the_package_and_to_the_file_behind_it() -> None:
    sources = {
        "p/__init__.py": "from .m import f\n",
        "p/m.py": "def f(): pass\n",
        "main.py": "from p import f\nimport os\n",
    }
    assert edges(sources, Relation.IMPORTS) == [
        "main.py -imports-> p/__init__.py resolved",
        "main.py -imports-> p/m.py resolved",
        "p/__init__.py -imports-> p/m.py resolved",
    ]


def test_what_is_named_but_not_called_is_used() -> None:
    sources = {
        "lib.py": "LIMIT = 3\ndef f(): pass\nclass A: pass\n",
        "main.py": """
            from lib import f, A, LIMIT
            def run(x: A):
                print(LIMIT)
                return [f]
            def local():
                f = 1
                return f
            """,
    }
    assert edges(sources, Relation.USES) == [
        "main.py::run -uses-> lib.py resolved",
        "main.py::run -uses-> lib.py::A resolved",
        "main.py::run -uses-> lib.py::f resolved",
    ]


def test_nodes_have_kinds_names_lines_and_ids() -> None:
    source = "class A:\n    def m(self):\n        pass\n\ndef f(): pass\ng = lambda: 1\n"
    found = nodes({"src/shop/__init__.py": "", "src/shop/cart.py": source})
    shown = {node.id: (node.kind, node.name, node.line, node.end_line) for node in found.values()}
    assert {each: about for each, about in shown.items() if "cart" in each} == {
        "src/shop/cart.py": (Kind.MODULE, "shop.cart", 1, 7),
        "src/shop/cart.py::A": (Kind.CLASS, "shop.cart.A", 1, 3),
        "src/shop/cart.py::A.m": (Kind.METHOD, "shop.cart.A.m", 2, 3),
        "src/shop/cart.py::f": (Kind.FUNCTION, "shop.cart.f", 5, 5),
        "src/shop/cart.py::<lambda:6:4>": (Kind.FUNCTION, "shop.cart.<lambda:6:4>", 6, 6),
    }


def test_an_edge_has_its_place() -> None:
    (part,) = linked({"main.py": "def f(): pass\n\nx = 1; f()\n"})
    (edge,) = [edge for edge in part.edges if edge.relation is Relation.CALLS]
    assert (edge.line, edge.column) == (3, 7)


def test_two_definitions_of_one_name_have_two_ids() -> None:
    found = nodes({"main.py": "if x:\n    def f(): pass\nelse:\n    def f(): pass\n"})
    assert {"main.py::f", "main.py::f#2"} <= found.keys()
