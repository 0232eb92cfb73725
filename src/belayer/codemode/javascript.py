"""JavaScript: QuickJS as WebAssembly in wasmtime. Runs in a worker and imports nothing of ours but its sibling.

The machine sees no clock, no chance, no file and no other code: what it imports is answered here, always in the same
way. It never calls us to get something done: it leaves texts to be fetched and is given texts.
"""

import hashlib
import json
import os
import stat
import struct
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import wasmtime

from belayer.codemode.frames import STOPS, Crash, Stop, Timer

_WASI = "wasi_snapshot_preview1"
_STACK_BYTES = 2 << 20
_PAGE = 65_536
# What the machine itself needs before a script has begun.
_OWN_BYTES = 4 << 20
# Seconds of processor time.
_TO_GET_READY = 60.0
_NEARLY = 1 << 20
# What a machine throws that has no memory left to say so.
_NOT_EVEN_AN_ERROR = b'"end":{"error":{"name":"Error","message":"null","line":null}}}'
_OK = 0
_BAD_DESCRIPTOR = 8
_GUEST = Path(__file__).with_name("guest.js")
# How many ticks of its timer a script that was told to stop may still take: native loops do not listen.
_GRACE = 1


class JavaScript:
    """Makes machines from one compiled module."""

    def __init__(self, folder: Path) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.max_wasm_stack = _STACK_BYTES
        self._engine = wasmtime.Engine(config)
        self._module = _compiled(self._engine, folder)
        self._linker = wasmtime.Linker(self._engine)
        self._timer = Timer(self._engine.increment_epoch)
        self._imports = _Imports(self._timer)
        self._imports.define(self._linker)
        first = self._blank()
        self._ready = first.prepared()
        first.close()

    def machine(self) -> "Machine":
        """A fresh one, ready for its script."""
        machine = self._blank()
        machine.become(self._ready)
        return machine

    def _blank(self) -> "Machine":
        store = wasmtime.Store(self._engine)
        store.set_epoch_deadline(_GRACE)
        instance = self._linker.instantiate(store, self._module)
        return Machine(store, instance, self._imports, self._timer)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A machine that waits for its script: all of its memory, and where in it the things are that we hold."""

    memory: bytes
    stack: int
    out: int
    argv: int
    undefined: int
    start: int
    settle: int
    report: int
    where: int


class Machine:
    """One script's world. After an error it can only be thrown away."""

    def __init__(
        self, store: wasmtime.Store, instance: wasmtime.Instance, imports: "_Imports", timer: Timer
    ) -> None:
        self._store, self._imports, self._timer = store, imports, timer
        exports = instance.exports(store)
        self._functions = {name: one for name, one in exports.items() if isinstance(one, wasmtime.Func)}
        self._memory = cast("wasmtime.Memory", exports["memory"])
        self._stack = cast("wasmtime.Global", exports["__stack_pointer"])
        self._most = 0
        self._at = _Ready(b"", 0, 0, 0, 0, 0, 0, 0, 0)

    def prepared(self) -> _Ready:
        """Load what a script finds around itself; the machine as it is then."""
        self._timer.allow(_TO_GET_READY)
        self._imports.enter(self._store, self._memory)
        self._at = replace(
            self._at,
            out=self._call("qjs_alloc", 4),
            argv=self._call("qjs_alloc", 4 * len(STOPS)),
            undefined=self._call("new_undefined"),
        )
        source = _GUEST.read_bytes()
        guest = self._checked("eval_code", self._placed(source), len(source))
        entries = self._applied(guest, *(self._named("new_function", stop.encode()) for stop in STOPS))
        start, settle, report, where = (self._checked("get_index", entries, index) for index in range(4))
        size = self._memory.data_len(self._store)
        return replace(
            self._at,
            memory=bytes(self._memory.read(self._store, 0, size)),
            stack=cast("int", self._stack.value(self._store)),
            start=start,
            settle=settle,
            report=report,
            where=where,
        )

    def become(self, ready: _Ready) -> None:
        """Be like the machine that was prepared."""
        missing = len(ready.memory) - self._memory.data_len(self._store)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // _PAGE))
        self._memory.write(self._store, ready.memory, 0)
        self._stack.set_value(self._store, ready.stack)
        self._at = ready

    def start(self, text: bytes, given: dict[str, Any]) -> bytes:
        """Begin the script; what it reports once it has nothing more to do."""
        limits = given["limits"]
        self._imports.now = int(given["now"] * 1_000_000_000)
        self._most = limits["memory"] + _OWN_BYTES
        self._store.set_limits(memory_size=self._most)
        self._timer.allow(limits["cpu"])
        return self._turn(self._at.start, [text])

    def settle(self, outcomes: Sequence[bytes]) -> bytes:
        """Give it what came of its calls, one after the other; what it reports then."""
        return self._turn(self._at.settle, outcomes)

    def printed(self) -> list[str]:
        """What the script printed and nobody has fetched, if the machine can still tell."""
        try:
            with self._timer.again():
                return json.loads(self._text(self._applied(self._at.report)))["output"]
        except (wasmtime.Trap, wasmtime.WasmtimeError, _Failed, Stop, ValueError):
            return []

    def close(self) -> None:
        self._store.close()

    def _turn(self, entry: int, texts: Sequence[bytes]) -> bytes:
        self._imports.enter(self._store, self._memory)
        try:
            with self._timer:
                for text in texts:
                    self._give(entry, text)
                    self._jobs()
                report = self._text(self._applied(self._at.report))
            if self._is_full() and report.endswith(_NOT_EVEN_AN_ERROR):
                raise Stop("memory")
            return report
        except Stop as stop:
            raise Stop(stop.limit, self._line()) from None
        except (wasmtime.Trap, wasmtime.WasmtimeError, _Failed) as error:
            raise self._ended_by(error) from error

    def _jobs(self) -> None:
        while self._call("execute_pending_jobs") > 0:
            pass
        if self._timer.is_over:
            raise Stop("cpu")

    def _ended_by(self, error: Exception) -> Exception:
        """What a machine that broke off means."""
        line = self._line()
        if self._timer.is_over:
            return Stop("cpu", line)
        if isinstance(error, wasmtime.Trap) and error.trap_code is wasmtime.TrapCode.STACK_OVERFLOW:
            return Stop("recursion", line)
        if self._is_full():
            return Stop("memory", line)
        return Crash(f"the machine broke off ({str(error).strip().splitlines()[-1]})", line)

    def _is_full(self) -> bool:
        return self._memory.data_len(self._store) + _NEARLY >= self._most

    def _line(self) -> int | None:
        """Where the script was. The frames are still in the machine's memory; whatever else is wrong with it."""
        self._store.set_epoch_deadline(_GRACE)
        self._store.set_limits(memory_size=-1)
        try:
            with self._timer.again():
                thrown = self._call("last_exception", self._at.out) == _OK
                error = [self._slot()] if thrown else []
                found = self._text(self._applied(self._at.where, *error))
        except (wasmtime.Trap, wasmtime.WasmtimeError, _Failed, Stop):
            return None
        return int(found) if found.isdigit() else None

    def _give(self, entry: int, text: bytes) -> None:
        value = self._named("new_string", text)
        self._call("free_value", self._applied(entry, value))
        self._call("free_value", value)

    def _applied(self, function: int, *args: int) -> int:
        self._memory.write(self._store, struct.pack(f"<{len(args)}i", *args), self._at.argv)
        return self._checked("call_function", function, self._at.undefined, self._at.argv, len(args))

    def _checked(self, name: str, *args: int) -> int:
        """What a function gives through a place in memory."""
        if self._call(name, *args, self._at.out) != _OK:
            raise _Failed(name)
        return self._slot()

    def _slot(self) -> int:
        return struct.unpack("<i", self._memory.read(self._store, self._at.out, self._at.out + 4))[0]

    def _named(self, name: str, text: bytes) -> int:
        """What a function makes of a text."""
        place = self._placed(text)
        made = self._call(name, place, len(text))
        self._call("qjs_free", place, len(text))
        return made

    def _placed(self, text: bytes) -> int:
        place = self._call("qjs_alloc", len(text))
        if place == 0:
            raise _Failed("qjs_alloc")
        self._memory.write(self._store, text, place)
        return place

    def _text(self, value: int) -> bytes:
        if self._call("get_string", value) != _OK:
            raise _Failed("get_string")
        length, place = self._call("qjs_last_len"), self._call("qjs_last_ptr")
        text = bytes(self._memory.read(self._store, place, place + length))
        self._call("qjs_result_free")
        self._call("free_value", value)
        return text

    def _call(self, name: str, *args: int) -> int:
        return self._functions[name](self._store, *args)


class _Failed(Exception):
    """The machine did not do what it was told: it has no memory left, or was stopped."""


class _Imports:
    """All that a machine can reach. One for all machines of a worker, of which one runs at a time."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self.now = 0
        self._store: wasmtime.Store | None = None
        self._memory: wasmtime.Memory | None = None

    def enter(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._store, self._memory = store, memory

    def define(self, linker: wasmtime.Linker) -> None:
        def define(module: str, name: str, takes: str, gives: str, call: Any) -> None:
            kinds = {"i": wasmtime.ValType.i32, "I": wasmtime.ValType.i64}
            kind = wasmtime.FuncType([kinds[one]() for one in takes], [kinds[one]() for one in gives])
            linker.define_func(module, name, kind, call)

        define("env", "host_interrupt", "", "i", self._interrupt)
        define("env", "host_call", "iiiii", "i", self._stop)
        define("env", "host_module_normalize", "iiiii", "i", _nothing)
        define("env", "host_module_load", "iii", "i", _nothing)
        define(_WASI, "random_get", "ii", "i", self._random)
        define(_WASI, "clock_time_get", "iIi", "i", self._clock)
        for name, takes in _DENIED.items():
            define(_WASI, name, takes, "i", _denied)
        define(_WASI, "proc_exit", "i", "", _exits)

    def _interrupt(self) -> int:
        return int(self._timer.is_over)

    def _stop(self, place: int, length: int, *_: int) -> int:
        assert self._memory is not None
        assert self._store is not None
        raise Stop(bytes(self._memory.read(self._store, place, place + length)).decode())

    def _random(self, place: int, length: int) -> int:
        """Scripts have a generator of their own with a recorded seed; this is for the machine's inner needs."""
        self._write(bytes(length), place)
        return _OK

    def _clock(self, _id: int, _precision: int, place: int) -> int:
        self._write(struct.pack("<Q", self.now), place)
        return _OK

    def _write(self, content: bytes, place: int) -> None:
        assert self._memory is not None
        assert self._store is not None
        self._memory.write(self._store, content, place)


_DENIED = {
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "fd_close": "i",
    "fd_fdstat_get": "ii",
    "fd_seek": "iIii",
    "fd_write": "iiii",
}


def _nothing(*_: int) -> int:
    return 0


def _denied(*_: int) -> int:
    return _BAD_DESCRIPTOR


def _exits(_code: int) -> None:
    raise Crash("the machine gave up", None)


def _compiled(engine: wasmtime.Engine, folder: Path) -> wasmtime.Module:
    """The module, compiled once for all workers. What was compiled is code: it is taken from nobody else's hands."""
    package = find_spec("quickjs_rs")
    assert package is not None, "it is installed with us"
    assert package.origin is not None
    content = Path(package.origin).with_name("_guest.wasm").read_bytes()
    version = metadata.version("wasmtime")
    path = folder / f"quickjs-{hashlib.sha256(content).hexdigest()[:32]}-wasmtime-{version}.cwasm"
    if _is_ours(folder, stat.S_ISDIR) and _is_ours(path, stat.S_ISREG):
        try:
            return wasmtime.Module.deserialize_file(engine, str(path))
        except wasmtime.WasmtimeError:
            path.unlink(missing_ok=True)
    module = wasmtime.Module(engine, content)
    if _is_ours(folder, stat.S_ISDIR):
        _keep(module, path)
    return module


def _is_ours(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether nobody but us can have put it there or can change it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _keep(module: wasmtime.Module, path: Path) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(module.serialize())
    Path(name).replace(path)
