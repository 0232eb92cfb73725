"""Python: Monty, an interpreter of its own with nothing of CPython in it. Runs in a worker; imports only its sibling.

Monty keeps the interpreter in a further process. This only carries texts back and forth: the script's calls become
futures, and whatever a script may not have is answered with an error.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any, Literal
from uuid import UUID

import pydantic_monty as monty

from belayer.codemode.frames import Crash, Stop

# Our own count of calls ends a script sooner; this one only must not be in its way.
_SUSPENSIONS = 1_000_000
_SLEEPS = "clock.sleep"
# How much the module `random` wants to begin with.
_STATE_BYTES = 2496
# What scripts have unless they say otherwise, so that an interpreter can be made ready before it is wanted.
_USUAL_MEMORY, _USUAL_CPU = 64 << 20, 10.0
_LONGEST_MESSAGE = 2_000
_PLAIN = "Pass and return plain data: texts, finite numbers, lists and dictionaries."

_Snapshot = monty.FunctionSnapshot | monty.NameLookupSnapshot | monty.FutureSnapshot | monty.MontyComplete


class Python:
    """Makes machines from one pool of interpreters."""

    def __init__(self) -> None:
        self._pool = monty.Monty(min_processes=1, max_processes=1)
        self._pool.__enter__()

    def machine(self) -> "Machine":
        return Machine(self._pool)


class Machine:
    """One script's world. After an error it can only be thrown away."""

    def __init__(self, pool: monty.Monty) -> None:
        self._pool = pool
        self._session = self._entered(_USUAL_MEMORY, _USUAL_CPU)
        self._now, self._chance = 0.0, Random(0)
        self._blocked: monty.FutureSnapshot | None = None
        self._source = b""
        self._limits: dict[str, Any] = {}
        self._input: Any = None
        self._names: set[str] = set()
        self._callable: dict[UUID | None, str] = {}
        self._pending: dict[int, int] = {}
        self._calls = 0
        self._asked: list[str] = []
        self._lines: list[str] = []
        self._partial = ""
        self._size = 0
        self._last_line: int | None = None

    def start(self, text: bytes, given: dict[str, Any]) -> bytes:  # noqa: ARG002 - the text is what another machine reads
        """Begin the script; what it reports once it has nothing more to do."""
        self._limits, self._source = given["limits"], given["source"].encode()
        self._now, self._chance = given["now"], Random(given["seed"])
        if (self._limits["memory"], self._limits["cpu"]) != (_USUAL_MEMORY, _USUAL_CPU):
            self.close()
            self._session = self._entered(self._limits["memory"], self._limits["cpu"])
        return self._turn(partial(self._begun, given))

    def settle(self, outcomes: Sequence[bytes]) -> bytes:
        """Give it what came of its calls, one after the other; what it reports then."""
        return self._turn(*(partial(self._resumed, json.loads(outcome)) for outcome in outcomes))

    def printed(self) -> list[str]:
        """What the script printed and nobody has fetched."""
        return [*self._lines, *([self._partial] if self._partial else [])]

    def close(self) -> None:
        self._session.__exit__(None, None, None)

    def _entered(self, memory: int, cpu: float) -> monty.MontySession:
        """An interpreter that waits for its script. Whatever it wants of the world, it asks us for."""
        session = self._pool.checkout(
            script_name="script.py",
            limits={"max_memory": memory, "max_feed_duration_secs": cpu, "max_suspensions": _SUSPENSIONS},
            os_policy={"datetime": "call_host", "random_start": "call_host", "sleep": "call_host"},
        )
        session.__enter__()
        return session

    def _begun(self, given: dict[str, Any]) -> _Snapshot:
        self._input = given["input"]
        self._names = {"human.ask", "clock.now", _SLEEPS, *(f"tools.{name}" for name in given["tools"])}
        return self._session.feed_start(given["source"], print_callback=self._print)

    def _looked_up(self, snapshot: monty.NameLookupSnapshot) -> _Snapshot:
        """The script uses a name for the first time that it did not make itself."""
        name = snapshot.variable_name
        if snapshot.object_id is not None:
            return snapshot.resume()
        if name == "input":
            return snapshot.resume(value=self._input)
        if name in ("tools", "human", "clock"):
            group = _tree(sorted(self._names)).get(name) or _Group(name)
            return snapshot.resume(value=self._wrapped(group))
        return snapshot.resume()

    def _wrapped(self, group: "_Group") -> monty.ClassInstance:
        """The group as the script sees it. One that is a tool itself can be called, too."""
        seen = _Seen()
        for name, inner in group.names.items():
            setattr(seen, name, self._wrapped(inner) if isinstance(inner, _Group) else inner)
        wrapped = monty.ClassInstance(seen, eager_attrs=list(group.names))
        if group.path in self._names:
            self._callable[wrapped.id] = group.path
        return wrapped

    def _resumed(self, settled: dict[str, Any]) -> _Snapshot:
        assert self._blocked is not None
        blocked, self._blocked = self._blocked, None
        call = self._pending.pop(settled["id"])
        problem = settled.get("problem")
        if problem is None:
            return blocked.resume({call: {"return_value": settled.get("value")}})
        return blocked.resume({call: {"exc_type": "RuntimeError", "message": problem["message"]}})

    def _turn(self, *ways_on: Callable[[], _Snapshot]) -> bytes:
        """Go on until the script waits or has ended."""
        end = "null"
        try:
            for go_on in ways_on:
                if end == "null":
                    end = self._end(go_on)
        except Stop:
            if self._size <= self._limits["output"]:
                raise
        if self._size > self._limits["output"]:  # a script that prints for ever ends for want of time
            raise Stop("output", self._last_line)
        return self._report(end)

    def _end(self, go_on: Callable[[], _Snapshot]) -> str:
        """How the script ended, if it did."""
        try:
            snapshot = self._run(go_on())
            if isinstance(snapshot, monty.MontyComplete):
                return self._value(snapshot.output)
        except monty.MontyCrashedError as error:
            if error.timed_out:
                raise Stop("cpu", self._last_line) from error
            raise Crash("the interpreter ended", self._last_line) from error
        except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
            return self._failure(error)
        self._blocked = snapshot
        return "null"

    def _run(self, snapshot: _Snapshot) -> monty.FutureSnapshot | monty.MontyComplete:
        while True:
            match snapshot:
                case monty.FunctionSnapshot():
                    snapshot = self._called(snapshot)
                case monty.NameLookupSnapshot():
                    snapshot = self._looked_up(snapshot)
                case _:
                    return snapshot

    def _called(self, snapshot: monty.FunctionSnapshot) -> _Snapshot:
        """The script calls something: a tool, or what it cannot have."""
        name = snapshot.function_name
        if snapshot.is_os_function:
            return self._of_the_world(snapshot)
        if name == "__call__" and snapshot.object_id in self._callable:
            name = self._callable[snapshot.object_id]
        elif snapshot.object_id is not None:
            return _refused(snapshot, "AttributeError", f"there is no {name!r} here")
        if name not in self._names:
            return _refused(snapshot, "NameError", f"name {name!r} is not defined")
        try:
            return self._ask(snapshot, name, _arguments(name, snapshot))
        except TypeError as error:
            return _refused(snapshot, "TypeError", str(error))

    def _of_the_world(self, snapshot: monty.FunctionSnapshot) -> _Snapshot:
        """Time stands still at the script's beginning, chance has a seed, a sleep is a call; the rest is not there."""
        match snapshot.function_name, snapshot.args:
            case "asyncio.sleep", (seconds, *_):
                return self._ask(snapshot, _SLEEPS, {"seconds": seconds})
            case "time.time", _:
                return snapshot.resume({"return_value": self._now})
            case "datetime.now", (zone,):
                now = datetime.fromtimestamp(self._now, zone or UTC)
                return snapshot.resume({"return_value": now if zone else now.replace(tzinfo=None)})
            case "date.today", _:
                return snapshot.resume({"return_value": datetime.fromtimestamp(self._now, UTC).date()})
            case "os.urandom", (count,) if count == _STATE_BYTES:
                return snapshot.resume({"return_value": self._chance.randbytes(count)})
            case _:
                return snapshot.resume_not_handled()

    def _ask(self, snapshot: monty.FunctionSnapshot, name: str, params: dict[str, Any]) -> _Snapshot:
        self._last_line = line = self._source[: snapshot.position.start].count(b"\n") + 1
        text = _encoded(params)
        if len(text) > self._limits["argument"]:
            raise Stop("argument", line)
        self._calls += 1
        if self._calls > self._limits["calls"]:
            raise Stop("calls", line)
        self._pending[self._calls] = snapshot.call_id
        if len(self._pending) > self._limits["in_flight"]:
            raise Stop("in_flight", line)
        self._asked.append(f'{{"id":{self._calls},"name":"{name}","params":{text},"line":{line}}}')
        return snapshot.resume({"future": ...})

    def _value(self, output: Any) -> str:
        try:
            text = _encoded(output)
        except TypeError as error:
            return _failure("TypeError", str(error), None)
        if len(text) > self._limits["result"]:
            raise Stop("result", self._last_line)
        return f'{{"value":{text}}}'

    def _failure(self, error: monty.MontyRuntimeError | monty.MontySyntaxError) -> str:
        """How the script failed; Stop if it was a limit of the interpreter's."""
        frames = [frame.line for frame in error.traceback() if frame.filename != "<string>"]
        line = frames[-1] if frames else self._last_line
        match error.exception():
            case MemoryError():
                raise Stop("memory", line)
            case RecursionError():
                raise Stop("recursion", line)
            case TimeoutError() if not frames:
                raise Stop("cpu", line)
            case exception:
                return _failure(type(exception).__name__, error.display("msg"), line)

    def _print(self, _stream: Literal["stdout", "stderr"], text: str) -> None:
        self._size += len(text)
        if self._size <= self._limits["output"]:
            *lines, self._partial = (self._partial + text).split("\n")
            self._lines += lines

    def _report(self, end: str) -> bytes:
        lines, self._lines = self._lines, []
        if end != "null" and self._partial:
            lines, self._partial = [*lines, self._partial], ""
        asked, self._asked = self._asked, []
        output = json.dumps(lines) if lines else "[]"
        return f'{{"calls":[{",".join(asked)}],"output":{output},"end":{end}}}'.encode()


class _Group:
    """Names under one name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.names: dict[str, Any] = {}


class _Seen:
    """An object with nothing but such names."""


def _tree(names: Sequence[str]) -> dict[str, _Group]:
    """The functions by their words: `tools.files.read` lies in `tools`, in `files`."""
    tree: dict[str, Any] = {}
    for name in names:
        *words, last = name.split(".")
        here, path = tree, ""
        for word in words:
            path = f"{path}.{word}" if path else word
            group = here.get(word)
            if not isinstance(group, _Group):
                group = here[word] = _Group(path)
            here = group.names
        here.setdefault(last, _function(name))
    return tree


def _function(name: str) -> Any:
    """A name that the script can call; it is never called here."""

    def function() -> None: ...

    function.__name__ = function.__qualname__ = name
    return function


def _arguments(name: str, snapshot: monty.FunctionSnapshot) -> dict[str, Any]:
    """What a call is given: names and values, or one dictionary of them."""
    args, kwargs = snapshot.args, snapshot.kwargs
    match args:
        case ():
            return kwargs
        case (dict(),) if name.startswith("tools."):
            return {**args[0], **kwargs}
        case (one,) if name == "human.ask":
            return {"question": one, **kwargs}
        case (one,) if name == _SLEEPS:
            return {"seconds": one, **kwargs}
        case _:
            raise TypeError(f"{name} takes names and values: {name}(name=value)")


def _encoded(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{error}. {_PLAIN}") from error


def _refused(snapshot: monty.FunctionSnapshot, kind: Any, message: str) -> _Snapshot:
    return snapshot.resume({"exc_type": kind, "message": message})


def _failure(name: str, message: str, line: int | None) -> str:
    told = {"name": name, "message": message[:_LONGEST_MESSAGE], "line": line}
    return json.dumps({"error": told})
