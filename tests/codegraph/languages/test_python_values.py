"""Functions as values in Python: passed, returned, stored, wrapped, and called in the end."""

import pytest

from tests.codegraph.graphs import edges


def called(source: str) -> set[str]:
    lines = edges({"main.py": source})
    return {line.rsplit(" ", 1)[0].replace(" -calls-> ", " > ").replace("main.py::", "") for line in lines}


@pytest.mark.parametrize(
    "code",
    [
        "def run(cb): cb()\nrun(f)",
        "def run(*, cb): cb()\nrun(cb=f)",
        "def run(cb=f): cb()\nrun()",
        "def run(*cbs): cbs[0]()\nrun(f)",
        "def run(*cbs):\n    for cb in cbs: cb()\nrun(g, f)",
        "def run(**cbs): cbs['a']()\nrun(a=f)",
        "def run(cb): cb()\nargs = [f]\nrun(*args)",
        "def run(cb): cb()\ndef pass_on(x): run(x)\npass_on(f)",
        "def run(cb): cb()\nalias = run\nalias(f)",
        "class A:\n    def __init__(self, cb): self.cb = cb\n    def go(self): self.cb()\nA(f)",
        "class A:\n    def on(self, cb): self.cb = cb\n    def go(self): self.cb()\nA().on(f)",
        "def run(table): table['k']()\nrun({'k': f})",
        "from functools import partial\ndef run(cb): cb()\nrun(partial(f, 1))",
    ],
)
def test_a_function_that_is_passed_is_called_where_its_parameter_is(code: str) -> None:
    targets = {line.split(" > ")[1] for line in called(f"def f(*a): pass\ndef g(): pass\n{code}\n")}
    assert "f" in targets


def test_a_function_that_is_passed_elsewhere_is_not_called_here() -> None:
    source = """
        def f(): pass
        def g(): pass
        def run(cb): cb()
        def other(cb): return cb
        run(f)
        other(g)
        """
    assert called(source) == {"run > f", "main.py > run", "main.py > other"}


@pytest.mark.parametrize(
    "code",
    [
        "x = [f]\nx[0]()",
        "x = {'a': g, 'b': f}\nx['b']()",
        "x = {}\nx['b'] = f\nx['b']()",
        "x = []\nx.append(f)\nx[0]()",
        "x = [g, f]\ny = x[1:]\ny[0]()",
        "a, (b, c) = g, (g, f)\nc()",
        "a, *b = g, f\nb[0]()",
        "for x in [f]: x()",
        "for k, x in {'a': f}.items(): x()",
        "for x in {'a': f}.values(): x()",
        "for i, x in enumerate([f]): x()",
        "for a, b in zip([g], [f]): b()",
        "{'a': f}.get('a')()",
        "x = [h for h in [f]]\nx[0]()",
        "(f if 1 else g)()",
        "x = None or f\nx()",
        "(lambda: f)()()",
        "next(iter([f]))()",
        "def gen():\n    yield f\nfor x in gen(): x()",
        "def gen():\n    yield from [f]\nfor x in gen(): x()",
        "list(map(f, []))",
        "sorted([], key=f)",
    ],
)
def test_a_function_that_is_stored_is_called_where_it_is_taken_out(code: str) -> None:
    assert "main.py > f" in called(f"def f(*a): pass\ndef g(*a): pass\n{code}\n")


def test_another_key_is_another_function() -> None:
    source = "def f(): pass\ndef g(): pass\nx = {'a': f, 'b': g}\nx['a']()\ny = [f, g]\ny[0]()\n"
    assert called(source) == {"main.py > f"}
    assert called("def f(): pass\ndef g(): pass\nx = {'a': f}\nx['a'] = g\nx['a']()\n") == {"main.py > g"}


def test_two_empty_lists_are_two() -> None:
    source = "def f(): pass\ndef g(): pass\na = []\nb = []\na.append(f)\nb.append(g)\na[0]()\n"
    assert called(source) == {"main.py > f"}


def test_a_decorated_function_is_reached_with_its_decorator_and_its_wrapper() -> None:
    source = """
        def deco(fn):
            def inner(*a): return fn(*a)
            return inner
        @deco
        def f(): pass
        f()
        """
    assert called(source) == {"main.py > deco", "main.py > deco.inner", "deco.inner > f", "main.py > f"}


def test_a_decorator_with_arguments_is_called_twice() -> None:
    source = """
        def deco(x):
            def wrap(fn): return fn
            return wrap
        @deco(1)
        def f(): pass
        f()
        """
    assert called(source) == {"main.py > deco", "main.py > deco.wrap", "main.py > f"}


def test_a_methods_result_is_of_the_class_it_was_called_on() -> None:
    source = """
        class A:
            def me(self): return self
        class B(A):
            def only_b(self): pass
        B().me().only_b()
        """
    assert "main.py > B.only_b" in called(source)


def test_recursion_and_names_in_circles_come_to_an_end() -> None:
    source = """
        def f(x): return f(x)
        def g(x): return h(x)
        def h(x): return g(x)
        a = b = None
        def loop():
            global a, b
            a = b
            b = a
            a()
        class A(A): pass
        class B(C):
            def m(self): self.n()
        class C(B): pass
        f(f)()
        g(h)()
        """
    assert {"f > f", "g > h", "h > g", "main.py > f"} <= called(source)


def test_code_in_a_literal_string_is_followed() -> None:
    assert called("def f(): pass\neval('f()')\n") == {"main.py > f"}


@pytest.mark.parametrize("made", ["partial(run, f)", "functools.partial(run, cb=f)"])
def test_a_function_gets_the_arguments_that_were_set_for_it(made: str) -> None:
    source = (
        f"import functools\nfrom functools import partial\ndef f(): pass\ndef run(cb): cb()\ngo = {made}\n"
    )
    assert called(source + "def later(): go()\n") == {"run > f", "later > run"}


def test_a_function_with_some_arguments_set_is_not_called_by_that() -> None:
    source = "from functools import partial\ndef f(): pass\ndef run(cb): pass\ngo = partial(run, f)\n"
    assert called(source) == set()
