"""Whatever is edited, renamed, added or deleted, and in whatever order: an update ends where a full build ends."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from belayer.codegraph.loading import Loaded
from belayer.codegraph.making import Job, look_ahead, make
from belayer.codegraph.shelf import Kept
from tests.codegraph.contents import differences, told

PYTHON = (
    "shop/__init__.py", "shop/a.py", "shop/b.py", "shop/sub/__init__.py", "shop/sub/c.py", "src/shop/a.py",
    "tests/test_a.py", "tests/conftest.py",
)  # fmt: skip
SCRIPTS = ("web/index.ts", "web/a.ts", "web/b.tsx", "web/lib/c.js", "web/a.test.ts")
JAVA = ("java/shop/A.java", "java/shop/B.java", "java/other/C.java")
CSHARP = ("cs/A.cs", "cs/B.cs", "cs/C.cs")
GO = ("go/a.go", "go/b.go", "go/inner/c.go", "go/a_test.go")
ALIASES = '{"compilerOptions": {"paths": {"@/*": ["web/*"]}}}'
MANIFESTS = {
    "tsconfig.json": (ALIASES, '{"compilerOptions": {"baseUrl": "web"}}', "{"),
    "go/go.mod": ("module example.com/shop\n", "module example.com/other\n", ""),
    "pyproject.toml": ('[project]\nname = "shop"\n', ""),
}

# In the pieces of source below, @f and @g stand for some function's name and @C for some class's.
PYTHON_IMPORTS = (
    "from shop.a import f, A", "from shop.b import *", "from .a import g as h", "from . import a, b", "import shop.b",
    "import shop.sub.c as c", "from shop import A, make", "from shop.sub.c import C", "from .sub import C",
    "from ..a import A", "from a import f", "",
)  # fmt: skip
PYTHON_BODIES = (
    "@f()", "@C().@f()", "x = @C()\n    x.@f()", "a.@f()", "shop.b.@f()", "return @f", "return @C()", "c.@C().@f()",
    "[@f][0]()", "for y in @f(): y.@g()", "LIMIT",
)  # fmt: skip
PYTHON_PARAMETERS = ("", "x=None", "x: A = None", "f", "make=1")
PYTHON_DECORATORS = ("", "", "@app.get('/x')\n", "@pytest.fixture\n", "@@f\n")
PYTHON_LINES = ("f()", "A().g()", "LIMIT = 3", "app = FastAPI()", "g = f", "def test_f(make):\n    f()", "((")
SCRIPT_IMPORTS = (
    "import { f, A } from './a';", "import * as b from './b';", "export * from './a';", "import d from '@/lib/c';",
    "export { g as h } from './b';", "import { C } from './lib/c';", "const c = require('./lib/c');",
    "import { f } from 'a';", "",
)  # fmt: skip
SCRIPT_BODIES = ("@f();", "b.@f();", "new @C().@f();", "return @f;", "c.@f();", "[1].map(@f);")
SCRIPT_LINES = (
    "module.exports = { f, g };",
    "f();",
    "app.get('/y', f);",
    "it('works', () => { f(); });",
    "}}",
)
TYPED_HEADS = {
    "java": ("package shop;", "package other;\nimport shop.*;", "package other;\nimport shop.A;", ""),
    "cs": ("namespace Shop;", "using Shop;\nnamespace Other;", "namespace Other { class Empty {} }", ""),
}
TYPED_MEMBERS = (
    "void @f() { @g(); }", "void @f() { new @C().@g(); }", "A a; void @f() { a.@g(); }",
    "static void @f() { @C.@g(); }",
)  # fmt: skip
GO_IMPORTS = ("", 'import "example.com/shop/inner"', 'import in "example.com/other/inner"')
GO_TYPES = ("type A struct { b B }", "type B struct { A }", "type C interface { F() }")
GO_FUNCTIONS = (
    "func F() { G() }", "func G() { inner.F() }", "func (a *A) F() { a.G() }", "func (b B) G() { F(); b.F() }",
    "func TestF(t *testing.T) { F() }", "func H() A { return A{} }",
)  # fmt: skip

functions = st.sampled_from(["f", "g", "h", "make"])
classes = st.sampled_from(["A", "B", "C"])


@st.composite
def python(draw: st.DrawFn) -> str:
    lines: list[str] = draw(st.lists(st.sampled_from(PYTHON_IMPORTS), max_size=3))
    if draw(st.integers(0, 5)) == 0:
        lines.append("__all__ = ['f', 'A']")
    for name in draw(st.lists(functions, max_size=3, unique=True)):
        decorator, parameters = (
            draw(st.sampled_from(PYTHON_DECORATORS)),
            draw(st.sampled_from(PYTHON_PARAMETERS)),
        )
        body = draw(st.sampled_from(PYTHON_BODIES))
        lines.append(filled(draw, f"{decorator}def {name}({parameters}):\n    {body}"))
    for name in draw(st.lists(classes, max_size=2, unique=True)):
        base = draw(st.sampled_from(["", "(A)", "(B)", "(a.A)", "(C)"]))
        methods = draw(st.lists(functions, max_size=2, unique=True))
        inner = "".join(
            f"\n    def {method}(self):\n        self.@f()\n        super().@g()" for method in methods
        )
        lines.append(filled(draw, f"class {name}{base}:\n    pass{inner}"))
    lines += draw(st.lists(st.sampled_from(PYTHON_LINES), max_size=2))
    return "\n".join(lines) + "\n"


@st.composite
def script(draw: st.DrawFn) -> str:
    lines: list[str] = draw(st.lists(st.sampled_from(SCRIPT_IMPORTS), max_size=3))
    for name in draw(st.lists(functions, max_size=2, unique=True)):
        start = draw(st.sampled_from(["export function", "function", "export default function"]))
        lines.append(filled(draw, f"{start} {name}(x) {{ {draw(st.sampled_from(SCRIPT_BODIES))} }}"))
    for name in draw(st.lists(classes, max_size=1)):
        base = draw(st.sampled_from(["", " extends A", " extends b.B"]))
        lines.append(filled(draw, f"export class {name}{base} {{ f() {{ this.@f(); @f(); }} @g() {{}} }}"))
    lines += draw(st.lists(st.sampled_from(SCRIPT_LINES), max_size=1))
    return "\n".join(lines) + "\n"


@st.composite
def typed(draw: st.DrawFn, kind: str) -> str:
    """Java or C#: a class in a package that uses others'."""
    extends = " extends " if kind == "java" else " : "
    base = draw(st.sampled_from(["", f"{extends}A", f"{extends}B"]))
    members = draw(st.lists(st.sampled_from(TYPED_MEMBERS), max_size=3))
    inner = "\n".join(filled(draw, f"  public {member}") for member in members)
    return f"{draw(st.sampled_from(TYPED_HEADS[kind]))}\npublic class {draw(classes)}{base} {{\n{inner}\n}}\n"


@st.composite
def go(draw: st.DrawFn) -> str:
    lines = [
        draw(st.sampled_from(["package shop", "package inner", "package main"])),
        draw(st.sampled_from(GO_IMPORTS)),
    ]
    lines += draw(st.lists(st.sampled_from(GO_TYPES), max_size=2, unique=True))
    lines += draw(st.lists(st.sampled_from(GO_FUNCTIONS), max_size=3, unique=True))
    return "\n".join(lines) + "\n"


def filled(draw: st.DrawFn, text: str) -> str:
    return text.replace("@f", draw(functions)).replace("@g", draw(functions)).replace("@C", draw(classes))


def source_for(path: str) -> st.SearchStrategy[str]:
    if path.endswith(".py"):
        return python()
    if path.endswith(".go"):
        return go()
    if path.endswith((".java", ".cs")):
        return typed(path.rpartition(".")[2])
    return script()


paths = st.sampled_from([*PYTHON, *PYTHON, *SCRIPTS, *JAVA, *CSHARP, *GO])
manifests = st.sampled_from([(name, text) for name, texts in MANIFESTS.items() for text in texts])
files = paths.flatmap(lambda path: st.tuples(st.just(path), source_for(path)))


class Repository(RuleBasedStateMachine):
    """A folder that changes, and a graph that follows."""

    def __init__(self) -> None:
        super().__init__()
        self._home = tempfile.TemporaryDirectory(prefix="belayer-machine-")
        self.folder = Path(self._home.name) / "repository"
        self.folder.mkdir()
        self.store = Path(self._home.name) / "graph.db"
        self.kept, self.other = Kept(), Kept()
        self.loaded = Loaded(self.store)

    def teardown(self) -> None:
        self.loaded.close()
        self.kept.forget()
        self.other.forget()
        self._home.cleanup()

    @rule(some=st.lists(files, min_size=1, max_size=4))
    def write(self, some: list[tuple[str, str]]) -> None:
        for path, text in some:
            self._put(path, text)

    @rule(manifest=manifests)
    def write_manifest(self, manifest: tuple[str, str]) -> None:
        self._put(*manifest)

    @precondition(lambda self: self._there())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self._there())).unlink()

    @precondition(lambda self: self._there())
    @rule(data=st.data(), path=paths)
    def rename(self, data: st.DataObject, path: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        data.draw(st.sampled_from(self._there())).rename(place)

    @precondition(lambda self: self._there())
    @rule(data=st.data(), line=st.sampled_from(["", "\n", "# more\n", "LIMIT = 4\n", "f()\n"]))
    def append(self, data: st.DataObject, line: str) -> None:
        with data.draw(st.sampled_from(self._there())).open("a") as file:
            file.write(line)

    @rule()
    def somebody_else_goes_on(self) -> None:
        self.kept, self.other = self.other, self.kept

    @rule()
    def there_is_time_to_look_ahead(self) -> None:
        look_ahead(self.kept)

    @precondition(lambda self: self.store.exists())
    @rule(stage=st.sampled_from(["read", "link"]))
    def an_update_breaks_off(self, stage: str) -> None:
        with suppress(_BrokenOff):
            make(Job(self.folder, self.store, _breaking_off(stage), self.kept, is_careful=False))

    @invariant()
    def an_update_ends_where_a_full_build_ends(self) -> None:
        full = self.store.with_name("full.db")
        full.unlink(missing_ok=True)
        make(Job(self.folder, self.store, _nobody, self.kept, is_careful=False))
        make(Job(self.folder, full, _nobody))
        assert differences(self.store, full) == []
        seen, whole = (told(place.newest().graph) for place in (self.loaded, Loaded(full)))
        assert seen == whole

    def _put(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def _there(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


def _nobody(_stage: str, _done: int, _total: int) -> None:
    """Nobody wants to know."""


class _BrokenOff(Exception):
    """Somebody wants no update after all."""


def _breaking_off(at: str) -> Callable[[str, int, int], None]:
    def tell(stage: str, _done: int, _total: int) -> None:
        if stage == at:
            raise _BrokenOff

    return tell


TestRepository = Repository.TestCase
TestRepository.settings = settings(
    max_examples=12,
    stateful_step_count=10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
