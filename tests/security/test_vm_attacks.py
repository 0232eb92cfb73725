"""Scripts that want more than they were given: each ends with an error that says what it ran into, and nothing else."""

import os
from pathlib import Path
from typing import Any

import pytest

from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.errors import PathMissing
from belayer.vocabulary.events.event import Effect, Json
from belayer.workspace.workspace import Workspace
from tests.codemode.scripts import LANGUAGES, judged, machines

SMALL: dict[str, Any] = {"cpu": 0.3, "memory": 32 << 20, "calls": 200, "in_flight": 50, "argument": 10_000}
SMALL |= {"result": 10_000, "output": 10_000}
SECRET = "/home/ada/.ssh/id_ed25519 hunter22"


class Anything(Params):
    value: Json = None


async def echo(params: Anything, _workspace: Workspace) -> Json:
    return {"value": params.value}


async def explode(_params: Anything, _workspace: Workspace) -> Json:
    raise ValueError(SECRET)


async def miss(_params: Anything, workspace: Workspace) -> Json:
    raise PathMissing(f"There is nothing at {workspace.folder}/a.txt.", "Look again.")


async def flood(_params: Anything, _workspace: Workspace) -> Json:
    return "x" * 40_000_000


def tool(name: str, call: Any) -> AnyTool:
    return Tool(name, "Do it.", Anything, call, effect=Effect.READ)


TOOLS = [tool("echo", echo), tool("explode", explode), tool("miss", miss), tool("flood", flood)]

ENDLESS = {
    "javascript": {
        "loop": "for (;;) {}",
        "in a catch": "try { null.x } catch { for (;;) {} }",
        "in a finally": "try { throw 1 } finally { for (;;) {} }",
        "that catches its own end": "for (;;) { try { for (;;) {} } catch {} }",
        "in a getter of what it gives": "return { get x() { for (;;) {} } }",
        "in a proxy that it gives": "return new Proxy({}, { ownKeys() { for (;;) {} } })",
        "in toJSON": "return { toJSON() { for (;;) {} } }",
        "in toJSON of an argument": "await tools.echo({ value: { toJSON() { for (;;) {} } } })",
        "in a getter of an argument": "await tools.echo({ get value() { for (;;) {} } })",
        "in a native callback": "[2, 1].sort(() => { for (;;) {} })",
        "in a replacer": "JSON.stringify([1], () => { for (;;) {} })",
        "in the microtasks": "const go = () => Promise.resolve().then(go); await go();",
        "of microtasks alone": "const go = () => { queueMicrotask(go) }; go(); await new Promise(() => {})",
        "in a thenable": "return { then() { for (;;) {} } }",
        "in an error's message": "throw Object.assign(new Error(), { get message() { for (;;) {} } })",
        "in a class's name": "class E extends Error { get name() { for (;;) {} } } throw new E()",
        "in what is printed": "console.log({ toJSON() { for (;;) {} } })",
        "in native code": "const a = 'a'.repeat(4e6); a.indexOf('a'.repeat(2e6) + 'b')",
        "in a regular expression": "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "in an iterator": "for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });",
    },
    "python": {
        "loop": "while True: pass",
        "in an except": "try:\n  1 / 0\nexcept Exception:\n  while True: pass",
        "in a finally": "try:\n  1 / 0\nfinally:\n  while True: pass",
        "that catches its own end": "while True:\n  try:\n    while True: pass\n  except BaseException:\n    pass",
        "in a repr": "class A:\n  def __repr__(self):\n    while True: pass\nprint(A())",
        "in an eq": "class A:\n  def __eq__(self, other):\n    while True: pass\n[A()] == [A()]",
        "in a key": "def key(x):\n  while True: pass\nsorted([2, 1], key=key)",
        "in native code": "sum(range(10**12))",
        "in a comprehension": "[x for x in range(10**12) if x < 0]",
    },
}

GREEDY = {
    "javascript": {
        "arrays": "const a = []; for (;;) a.push(new Array(1000).fill(1))",
        "buffers": "const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))",
        "one buffer": "new ArrayBuffer(2 ** 31 - 1)",
        "typed arrays": "const a = []; for (;;) a.push(new Float64Array(100_000))",
        "maps": "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        "strings": "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(100_000) + i)",
        "doubling": "let s = 'ab'; const all = []; for (;;) { s += s; all.push([...s]) }",
        "caught": "const a = []; for (;;) { try { for (;;) a.push(new Array(1000).fill(1)) } catch (e) { throw e } }",
        "a padded text": "const a = []; for (;;) a.push(''.padEnd(1e6, 'ab'))",
        "closures": "let f = () => 1; for (;;) { const g = f; const big = new Array(999).fill(0); f = () => [g, big] }",
    },
    "python": {
        "lists": "x = []\nwhile True: x.append([1] * 1000)",
        "doubling": "x = 'ab'\nwhile True: x = x + x",
        "a tower": "10 ** 10 ** 8",
        "multiplied": "[1] * 10 ** 9",
        "a text": "'a' * 10 ** 12",
        "formatted": "'%1000000000d' % 1",
        "a list of a range": "list(range(10 ** 9))",
        "caught": "x = []\nwhile True:\n  try:\n    x.append([1] * 1000)\n  except BaseException:\n    x.append(0)",
    },
}

DEEP = {
    "javascript": {
        "a function": "function f() { return f() + 1 } f()",
        "mutual": "const a = () => b() + 1, b = () => a() + 1; a()",
        "a getter": "const o = { get x() { return this.x } }; o.x",
        "a proxy": "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
        "a conversion": "const o = { toString: () => '' + o }; '' + o",
        "a callback": "const f = () => [1].map(f); f()",
        "a parse": "JSON.parse('['.repeat(200_000))",
        "a value given": "let x = []; for (let i = 0; i < 100_000; i++) x = [x]; return x",
        "an argument": "let x = []; for (let i = 0; i < 100_000; i++) x = [x]; await tools.echo({ value: x })",
        "flat": "let x = []; for (let i = 0; i < 100_000; i++) x = [x]; x.flat(Infinity)",
    },
    "python": {
        "a function": "def f():\n  return f() + 1\nf()",
        "mutual": "def a():\n  return b()\ndef b():\n  return a()\na()",
        "an eq": "class A:\n  def __eq__(self, other):\n    return self == other\nA() == A()",
        "a repr": "class A:\n  def __repr__(self):\n    return repr(self)\nrepr(A())",
    },
}

TOO_MUCH = {
    "javascript": {
        "calls": "for (let i = 0; i < 1e6; i++) await tools.echo({ value: i })",
        "in_flight": "await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo({ value: i })))",
        "argument": "await tools.echo({ value: 'x'.repeat(4e6) })",
        "result": "return 'x'.repeat(4e6)",
        "output": "for (;;) console.log('x'.repeat(100))",
    },
    "python": {
        "calls": "for i in range(10**6): await tools.echo(value=i)",
        "in_flight": "import asyncio\nawait asyncio.gather(*[tools.echo(value=i) for i in range(1000)])",
        "argument": "await tools.echo(value='x' * 4_000_000)",
        "result": "'x' * 4_000_000",
        "output": "while True: print('x' * 100)",
    },
}

ESCAPES = {
    "javascript": {
        "constructor of a function": "return (() => {}).constructor('return globalThis')()",
        "constructor of a constructor": "return [].constructor.constructor('return 1')()",
        "constructor of a result": "return (await tools.echo()).constructor.constructor('return 1')()",
        "constructor of a tool": "return tools.echo.constructor('return 1')()",
        "constructor of an error": "try { null.x } catch (e) { return e.constructor.constructor('return 1')() }",
        "constructor of async": "return (async () => {}).constructor('return 1')()",
        "constructor of a generator": "return (function* () {}).constructor('return 1')().next()",
        "eval": "return eval('1')",
        "indirect eval": "return (0, eval)('1')",
        "Function": "return new Function('return 1')()",
        "import of a module": "return await import('fs')",
        "import of data": "return await import('data:text/javascript,export default 1')",
        "import of a file": "return await import('/etc/passwd')",
        "an import statement": "import fs from 'fs'",
        "require": "return require('fs')",
        "process": "return process.env",
        "Deno": "return Deno.readTextFileSync('/etc/passwd')",
        "std": "return std.loadFile('/etc/passwd')",
        "fetch": "return await fetch('http://127.0.0.1')",
        "a timer": "setTimeout(() => {}, 0)",
        "a worker": "new Worker('data:,1')",
        "wasm": "return new WebAssembly.Module(new Uint8Array())",
        "shared memory": "return new SharedArrayBuffer(1)",
        "a weak reference": "return new WeakRef({})",
        "a tool it was not given": "return await tools.files.write({ path: 'x', content: 'y' })",
        "a new tool": "tools.mine = 1",
        "another tool's name": "tools.echo = tools.explode",
    },
    "python": {
        "import": "import subprocess",
        "socket": "import socket",
        "dunder import": "__import__('subprocess')",
        "importlib": "import importlib",
        "ctypes": "import ctypes",
        "open": "open('/etc/passwd').read()",
        "pathlib": "from pathlib import Path\nPath('/etc/passwd').read_text()",
        "write": "open('/tmp/x', 'w')",
        "environ": "import os\nos.environ['HOME']",
        "getenv": "import os\nos.getenv('HOME') + ''",
        "system": "import os\nos.system('id')",
        "listdir": "import os\nos.listdir('/')",
        "urandom": "import os\nos.urandom(8)",
        "class": "().__class__.__bases__[0].__subclasses__()",
        "mro": "''.__class__.__mro__",
        "globals of a function": "def f(): pass\nf.__globals__",
        "globals of a tool": "tools.echo.__globals__",
        "globals": "globals()['__builtins__']",
        "builtins": "__builtins__.open",
        "frames": "try:\n  1 / 0\nexcept Exception as e:\n  e.__traceback__.tb_frame",
        "getattr": "getattr(tools, '__dict__')",
        "sleep": "import time\ntime.sleep(1000)",
        "eval of an import": 'eval(\'__import__("os").system("id")\')',
        "exec of an import": "exec('import subprocess')",
        "a tool it was not given": "await tools.files.write(path='x', content='y')",
    },
}


def every(attacks: dict[str, dict[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("language", "source"),
        [
            pytest.param(language, source, id=f"{language}-{name}")
            for language, sources in attacks.items()
            for name, source in sources.items()
        ],
    )


each_language = pytest.mark.parametrize("language", LANGUAGES)


@every(ENDLESS)
async def test_an_endless_script_is_stopped(language: str, source: str) -> None:
    found = await judged(source, language, TOOLS, **SMALL)
    assert (found["kind"], found["limit"]) == ("LimitReached", "cpu")
    assert "0.3 s of processor time" in found["detail"]


@every(GREEDY)
async def test_a_greedy_script_is_stopped(language: str, source: str) -> None:
    found = await judged(source, language, TOOLS, **{**SMALL, "cpu": 20})
    assert (found["kind"], found["limit"]) == ("LimitReached", "memory")


@every(DEEP)
async def test_a_bottomless_script_is_stopped(language: str, source: str) -> None:
    found = await judged(source, language, TOOLS, **{**SMALL, "cpu": 20})
    assert (found["kind"], found["limit"]) == ("LimitReached", "recursion")


@pytest.mark.parametrize("limit", TOO_MUCH["javascript"])
@each_language
async def test_a_script_that_wants_too_much_of_something_is_told_of_what(language: str, limit: str) -> None:
    found = await judged(TOO_MUCH[language][limit], language, TOOLS, **{**SMALL, "cpu": 3})
    assert (found["kind"], found["limit"]) == ("LimitReached", limit)


@each_language
async def test_a_call_that_brings_too_much_ends_the_script(language: str) -> None:
    source = {"javascript": "return (await tools.flood()).length", "python": "len(await tools.flood())"}
    found = await judged(source[language], language, TOOLS, **SMALL)
    assert (found["kind"], found["limit"]) == ("LimitReached", "result")


@every(ESCAPES)
async def test_there_is_no_way_out(language: str, source: str) -> None:
    found = await judged(source, language, TOOLS, **SMALL)
    assert found["kind"] == "ScriptFailed"
    assert "Error" in found["detail"] or "cannot be read" in found["detail"]


@each_language
async def test_what_evaluates_text_has_no_more_power_than_the_script(language: str) -> None:
    source = {
        "javascript": "try { return eval('1') } catch { return Object.keys(tools).sort().join() }",
        "python": "eval('sorted([1])') and 'echo,explode,flood,miss'",
    }
    found = await judged(source[language], language, TOOLS)
    assert found["value"]["value"] == "echo,explode,flood,miss"


async def test_a_script_that_poisons_prototypes_harms_itself_alone() -> None:
    poison = """
        Object.prototype.problem = { message: "mine" };
        Array.prototype.map = Array.prototype.push = () => { throw new Error("poison") };
        Object.defineProperty(Object.prototype, "then", { value: undefined });
        String.prototype.indexOf = () => 7;
        JSON.parse = JSON.stringify = () => "{}";
        Promise.prototype.then = function () { return this };
        Error.prototype.name = "Mine";
    """
    async with machines():
        hurt = await judged(poison + "return await tools.echo({ value: 1 })", "javascript", TOOLS, **SMALL)
        well = await judged("return await tools.echo({ value: 1 })", "javascript", TOOLS, **SMALL)
    assert well["value"]["value"] == {"value": 1}
    assert set(hurt) <= {"value", "kind", "limit", "line", "detail", "output"}


@pytest.mark.parametrize(
    "sent", ['{"__proto__": {"polluted": 1}}', '{"constructor": {"prototype": {"polluted": 1}}}']
)
async def test_names_that_mean_something_to_prototypes_are_plain_data(sent: str) -> None:
    source = f"""
        const back = await tools.echo({{ value: JSON.parse('{sent}') }});
        return [JSON.stringify(back.value), {{}}.polluted === undefined, [].polluted === undefined]
    """
    found = await judged(source, "javascript", TOOLS)
    assert found["value"]["value"] == [sent.replace(" ", ""), True, True]


@pytest.mark.parametrize(
    "source", ["await tools.echo({ __proto__: null, ['__proto__']: 1 })", "await tools.echo(1)"]
)
async def test_parameters_that_the_tool_does_not_know_never_reach_it(source: str) -> None:
    found = await judged(f"{source}", "javascript", TOOLS)
    assert found["kind"] == "ScriptFailed"
    assert "ToolError" in found["detail"]


@each_language
async def test_the_text_of_a_foreign_exception_stays_outside(language: str) -> None:
    source = {
        "javascript": "try { await tools.explode() } catch (e) { return [e.name, e.message, e.kind, String(e.stack)] }",
        "python": "try:\n  await tools.explode()\nexcept Exception as e:\n  x = [repr(e), str(e)]\nx",
    }
    found = await judged(source[language], language, TOOLS)
    told = str(found["value"]["value"])
    assert "explode failed (LogicError)." in told
    assert not any(word in told for word in ("ada", "id_ed25519", "hunter22", "Traceback", ".py"))


@each_language
async def test_an_error_of_ours_is_told_without_the_path_of_the_workspace(language: str) -> None:
    source = {
        "javascript": "try { await tools.miss() } catch (e) { return e.message }",
        "python": "try:\n  await tools.miss()\nexcept Exception as e:\n  x = str(e)\nx",
    }
    found = await judged(source[language], language, TOOLS)
    assert found["value"]["value"] == "There is nothing at ./a.txt. Look again."


async def test_waiting_for_what_never_comes_is_an_error() -> None:
    found = await judged("console.log('here'); await new Promise(() => {})", "javascript", TOOLS)
    assert found["kind"] == "ScriptFailed"
    assert "wait for ever" in found["detail"]
    assert found["output"] == ["here"]


@each_language
async def test_a_worker_has_neither_environment_nor_home(language: str) -> None:
    async with machines() as known:
        from belayer.codemode.limits import Limits

        async with known.machine(language, Limits()) as machine:  # pyright: ignore[reportArgumentType]
            pid = machine.worker.pid
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert (Path(f"/proc/{pid}/cwd")).readlink() == Path("/")
            assert os.getsid(pid) == pid
    assert environment == b""
