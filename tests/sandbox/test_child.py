"""Programs that want too much, wait for ever, or would not go: each ends within its limit, and nothing stays."""

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from belayer.sandbox.child import Finished, Limits, run_child
from belayer.vocabulary.errors import Category, ChildFailed, LimitReached

MEGABYTE = 1024 * 1024
ROOMY = Limits(
    memory_bytes=256 * MEGABYTE, cpu_seconds=20, wall_seconds=60, output_bytes=MEGABYTE, open_files=32
)


async def run(program: str, stdin: bytes = b"", limits: Limits = ROOMY) -> Finished:
    return await run_child([sys.executable, "-I", "-S", "-c", program], stdin=stdin, limits=limits)


async def breach(program: str, limits: Limits) -> LimitReached:
    with pytest.raises(LimitReached) as raised:
        await run(program, limits=limits)
    return raised.value


async def test_a_program_gets_its_input_and_gives_its_output() -> None:
    done = await run("import sys; sys.stderr.write('so so'); print(sys.stdin.read().upper())", b"hello")
    assert (done.output, done.errors) == (b"HELLO\n", b"so so")


async def test_bytes_of_every_kind_go_through_unchanged() -> None:
    content = bytes(range(256)) * 4000
    done = await run("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", content)
    assert done.output == content


async def test_what_a_program_used_is_its_own_and_not_ours() -> None:
    ours = bytearray(b"x") * (200 * MEGABYTE)
    done = await run("held = bytearray(b'x') * (30 << 20); sum(range(10**6))")
    assert 30 * MEGABYTE < done.peak_bytes < len(ours) // 2
    assert 0 < done.cpu_seconds < 20
    assert done.seconds > 0


async def test_a_program_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELAYER_TEST_TOKEN", "hidden")
    done = await run("import os; print(sorted(os.environ), os.getcwd())")
    assert done.output in (b"['LANG', 'PATH'] /\n", b"['LANG', 'LC_CTYPE', 'PATH'] /\n")


async def test_a_program_has_no_descriptor_but_its_three() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours:
        ours.set_inheritable(True)
        done = await run("import os; print([fd for fd in os.listdir('/proc/self/fd') if int(fd) > 3])")
    assert done.output == b"[]\n"


@pytest.mark.parametrize(
    "program",
    [
        "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))",
        "bytearray(10 ** 12)",
        "import mmap\nwhile True: held = mmap.mmap(-1, 1 << 40)",
    ],
    ids=["a piece at a time", "all at once", "mapped"],
)
async def test_a_memory_bomb_ends_at_its_limit(program: str) -> None:
    error = await breach(program, ROOMY)
    assert error.limit == "memory"
    assert "268,435,456 bytes of memory" in error.detail
    assert error.category is Category.RESOURCE


@pytest.mark.parametrize(
    "program",
    ["while True: pass", "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"],
    ids=["plain", "ignores the signal"],
)
async def test_a_spinning_program_ends_at_its_limit(program: str) -> None:
    assert (await breach(program, replace(ROOMY, cpu_seconds=1))).limit == "cpu"


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(3600)",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["sleeps", "ignores SIGTERM", "stops itself"],
)
async def test_a_program_that_does_not_come_to_an_end_is_ended(program: str) -> None:
    assert (await breach(program, replace(ROOMY, wall_seconds=0.3))).limit == "wall"


@pytest.mark.parametrize(
    "program",
    [
        "import sys\nfor _ in range(100): sys.stdout.write('x' * (1 << 20))",
        "import sys\nwhile True: sys.stdout.write('x')",
        "import sys\nwhile True: sys.stderr.write('a line\\n')",
        "import sys, signal; signal.signal(signal.SIGPIPE, signal.SIG_IGN)\nwhile True: print('y' * 9999)",
    ],
    ids=["100 MB", "a line without an end", "errors without an end", "ignores a closed pipe"],
)
async def test_a_flood_of_output_ends_at_its_limit(program: str) -> None:
    error = await breach(program, ROOMY)
    assert error.limit == "output"
    assert "1,048,576 bytes of output" in error.detail


async def test_output_that_just_fits_is_whole() -> None:
    done = await run("import sys; sys.stdout.write('x' * (1 << 20))")
    assert len(done.output) == MEGABYTE


async def test_a_program_that_waits_for_input_sees_its_end_at_once() -> None:
    with pytest.raises(ChildFailed, match="EOFError"):
        await run("input('really? ')")


async def test_a_program_need_not_read_its_input() -> None:
    assert (await run("print('done')", b"x" * (10 * MEGABYTE))).output == b"done\n"


async def test_a_failure_comes_with_the_programs_last_words() -> None:
    with pytest.raises(ChildFailed, match="exit code 3: the fuse is blown") as raised:
        await run("import sys; print('the fuse is blown', file=sys.stderr); sys.exit(3)")
    assert raised.value.hint


async def test_a_program_that_crashes_is_told_apart_by_its_signal() -> None:
    with pytest.raises(ChildFailed, match=f"signal {signal.SIGSEGV.value} "):
        await run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")


async def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ChildFailed, match=r"/nowhere/at/all cannot be started: No such file"):
        await run_child(["/nowhere/at/all"], stdin=b"", limits=ROOMY)


async def test_a_program_can_write_no_file_unless_it_may(tmp_path: Path) -> None:
    program = f"open({str(tmp_path / 'file')!r}, 'wb', 0).write(b'x' * 100)"
    with pytest.raises(ChildFailed, match="File too large"):
        await run("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + program)
    await run(program, limits=replace(ROOMY, file_bytes=100))
    assert (tmp_path / "file").stat().st_size == 100


async def test_a_program_can_open_only_so_many_files() -> None:
    with pytest.raises(ChildFailed, match="Too many open files"):
        await run("held = [open('/dev/null') for _ in range(40)]")


class Line:
    """A connection that a program holds: it ends when the last process that has it is gone."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        port = self._server.getsockname()[1]
        self.hold = f"import os, signal, socket\nline = socket.create_connection(('127.0.0.1', {port}))\n"

    async def picked_up(self) -> None:
        self._end, _ = await asyncio.get_running_loop().sock_accept(self._server)
        self._server.close()

    async def dead(self) -> bool:
        with self._end:
            return await asyncio.get_running_loop().sock_recv(self._end, 1) == b""


DAEMON = "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: signal.pause()\n  os._exit(0)\n"


@pytest.mark.parametrize("more", ["", DAEMON], ids=["alone", "with a daemon"])
async def test_a_cancelled_program_is_gone_when_the_cancellation_is_through(more: str) -> None:
    line = Line()
    task = asyncio.create_task(run(line.hold + more + "signal.pause()"))
    await line.picked_up()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await line.dead()


async def test_a_daemon_does_not_outlive_the_program_that_started_it() -> None:
    line = Line()
    task = asyncio.create_task(run(line.hold + DAEMON + "os.wait(); print('done')"))
    await line.picked_up()
    assert (await task).output == b"done\n"
    assert await line.dead()


async def test_a_program_dies_with_a_belayer_that_is_killed() -> None:
    line = Line()
    argv = [sys.executable, "-c", line.hold + DAEMON + "signal.pause()"]
    ours = (
        "import asyncio\nfrom belayer.sandbox.child import Limits, run_child\n"
        f"asyncio.run(run_child({argv!r}, stdin=b'', limits={ROOMY!r}))"
    )
    belayer = await asyncio.create_subprocess_exec(sys.executable, "-c", ours)
    await line.picked_up()
    belayer.kill()
    await belayer.wait()
    assert await line.dead()


async def test_many_programs_at_once_do_not_touch_each_other() -> None:
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(run("print(input())", f"{number}".encode())) for number in range(20)]
    assert [int(run.result().output) for run in runs] == list(range(20))


async def test_nothing_is_left_open_after_many_programs() -> None:
    await run("pass")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for program in ["pass", "raise SystemExit(1)", "print('x' * (2 << 20))"] * 3:
        with suppress(ChildFailed, LimitReached):
            await run(program)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
