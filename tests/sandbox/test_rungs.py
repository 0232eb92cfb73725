"""What every rung does alike: it runs a program, tells what comes of it, and leaves nothing behind."""

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from belayer.sandbox.sandbox import Limits, Program
from belayer.vocabulary.errors import ChildFailed, ConfigurationError, PathMissing
from tests.sandbox.boxes import MEGABYTE, PYTHON, Box, furnished, opened


async def test_a_program_gives_its_output_line_by_line_and_its_exit_code(box: Box) -> None:
    ran = await box.sh("echo one; echo two >&2; printf three; exit 3")
    assert (ran.out, ran.err, ran.code) == ("one\nthree", "two", 3)
    assert [line.ends for line in ran.lines if line.stream == "stdout"] == [True, False]
    assert ran.ended.seconds > 0
    assert ran.ended.output_bytes == len("one\ntwo\nthree")


async def test_lines_come_while_the_program_runs(box: Box) -> None:
    (box.folder / "sub").mkdir()
    os.mkfifo(box.folder / "sub/go")
    process = await box.sandbox.start(box.program("/bin/sh", "-c", "echo ready; read go <sub/go; echo $go"))
    lines = aiter(process)
    assert (await anext(lines)).text == "ready"
    await asyncio.to_thread((box.folder / "sub/go").write_text, "now\n")
    assert (await anext(lines)).text == "now"
    assert (await process.wait()).exit_code == 0


async def test_a_stream_keeps_its_order(box: Box) -> None:
    ran = await box.sh("i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done")
    assert ran.out.split("\n") == [str(number) for number in range(2000)]


async def test_an_end_by_a_signal_is_told_as_shells_do(box: Box) -> None:
    assert (await box.sh("kill -SEGV $$")).code == 128 + signal.SIGSEGV


async def test_input_is_given_and_without_any_reading_ends_at_once(box: Box) -> None:
    assert (await box.run("/bin/cat", stdin=b"hello\n")).out == "hello"
    assert (await box.run("/bin/cat")).code == 0
    big = b"x" * (MEGABYTE // 2)
    assert (await box.run("/usr/bin/wc", "-c", stdin=big)).out == str(len(big))


async def test_the_environment_is_what_was_given_and_the_least_there_must_be(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELAYER_TEST_TOKEN", "hidden")
    ran = await box.run("/usr/bin/env", env={"MINE": "a b\n'c'", "LD_PRELOAD_NOT": "1"})
    names = {line.partition("=")[0] for line in ran.out.split("\n") if "=" in line}
    assert names <= {
        *("PATH", "HOME", "TMPDIR", "LANG", "TERM", "USER", "LOGNAME", "SHELL", "PWD", "MINE"),
        "LD_PRELOAD_NOT",
    }
    assert "MINE=a b\n'c'" in ran.out


async def test_a_variable_for_the_loader_reaches_the_program_and_nobody_before_it(box: Box) -> None:
    evil = box.folder / "evil.so"
    evil.write_bytes(b"not a library")
    ran = await box.sh("echo $LD_PRELOAD", env={"LD_PRELOAD": str(evil)})
    assert ran.out == str(evil)


async def test_words_of_every_kind_arrive_as_they_are(box: Box) -> None:
    words = ["a b", "$HOME", "`id`", "'", '"', "\n", "", "ä", "\\", "--", "*"]
    code = "import sys; print(ascii(sys.argv[1:]))"
    assert (await box.python(code, *words)).out == ascii(words)


async def test_the_program_begins_in_its_folder_or_below(box: Box) -> None:
    (box.folder / "deep/er").mkdir(parents=True)
    assert (await box.sh("pwd")).out == str(box.folder)
    assert (await box.sh("pwd", cwd="deep/er")).out == str(box.folder / "deep/er")


async def test_the_folder_is_written_and_what_is_written_stays(box: Box) -> None:
    await box.sh("mkdir a && echo new >a/file && mv a/file b && ln -s b c && rm -r a")
    assert (box.folder / "b").read_text() == "new\n"
    assert (box.folder / "b").stat().st_uid == os.getuid()
    assert (box.folder / "c").is_symlink()


async def test_other_folders_can_be_given_to_read_or_to_write(box: Box, tmp_path: Path) -> None:
    books, desk = tmp_path / "books", tmp_path / "desk"
    books.mkdir()
    desk.mkdir()
    (books / "one").write_text("text")
    ran = await box.sh(
        f"cat {books}/one; echo x >{books}/two; echo y >{desk}/three", readable=(books,), writable=(desk,)
    )
    assert ran.out == "text"
    assert not (books / "two").exists()
    assert (desk / "three").read_text() == "y\n"


async def test_there_is_a_place_for_temporary_files_and_it_goes(box: Box) -> None:
    ran = await box.sh("f=$(mktemp) && echo x >$f && echo $f && mkdir -p $HOME/.cache")
    assert ran.code == 0
    assert not Path(ran.out).exists()


async def test_what_a_program_used_is_told(box: Box) -> None:
    ran = await box.python(
        "import time\nheld = bytearray(b'x') * (60 << 20)\n"
        "while time.process_time() < 0.5: pass\ntime.sleep(0.2)"
    )
    assert ran.ended.cpu_seconds > 0.4
    assert ran.ended.peak_bytes > 50 * MEGABYTE


async def test_a_program_that_is_not_there_is_named(box: Box) -> None:
    if box.name == "bubblewrap":
        with pytest.raises(ChildFailed, match=r"was not run: .*/no/such/program: No such file"):
            await box.run("/no/such/program")
    else:
        ran = await box.run("/no/such/program")
        assert (ran.code, ran.err) == (127, "/no/such/program cannot be started: No such file or directory")


async def test_a_folder_that_is_not_there_is_an_error(box: Box) -> None:
    with pytest.raises(PathMissing):
        await box.run("/bin/true", folder=box.folder / "gone")
    with pytest.raises(PathMissing):
        await box.run("/bin/true", cwd="gone")
    with pytest.raises(PathMissing):
        await box.run("/bin/true", readable=(box.folder / "gone",))


@pytest.mark.parametrize(
    "wrong", [{"argv": ()}, {"argv": ("a\0b",)}, {"argv": ("true",), "env": {"a=b": "c"}}], ids=str
)
async def test_what_no_program_can_be_given_is_refused(box: Box, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        await box.sandbox.start(Program(folder=box.folder, **wrong))  # pyright: ignore[reportArgumentType]


async def test_a_program_is_asked_to_end_before_it_is_made_to(box: Box) -> None:
    process = await box.sandbox.start(
        box.program("/bin/sh", "-c", "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done")
    )
    lines = aiter(process)
    assert (await anext(lines)).text == "ready"
    stopping = asyncio.create_task(process.stop(30))
    assert "bye" in [line.text async for line in lines]
    await stopping
    assert (await process.wait()).exit_code == 7


async def test_a_program_that_will_not_end_is_ended(box: Box) -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\nsignal.pause()"
    process = await box.sandbox.start(box.program(PYTHON, "-c", code))
    assert (await anext(aiter(process))).text == "ready"
    await process.stop(0.1)
    assert (await process.wait()).exit_code == 128 + signal.SIGKILL


async def test_to_stop_what_is_over_changes_nothing(box: Box) -> None:
    process = await box.sandbox.start(box.program("/bin/true"))
    assert (await process.wait()).exit_code == 0
    await process.stop()
    assert (await process.wait()).exit_code == 0


async def test_a_cancelled_wait_ends_the_program(box: Box) -> None:
    process = await box.sandbox.start(box.program("/bin/sleep", "3600"))
    waiting = asyncio.create_task(process.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await process.wait()).exit_code == 128 + signal.SIGKILL


async def test_output_that_nobody_reads_holds_nobody_up(box: Box) -> None:
    process = await box.sandbox.start(
        box.program("/bin/sh", "-c", "head -c 500000 /dev/zero | tr '\\0' '\\n'")
    )
    assert (await process.wait()).output_bytes == 500_000


async def test_many_at_once_do_not_mix(box: Box) -> None:
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(box.sh(f"echo {number}")) for number in range(12)]
    assert [run.result().out for run in runs] == [str(number) for number in range(12)]


async def test_nothing_is_left_open_when_a_sandbox_is_closed(box: Box, tmp_path: Path) -> None:
    before = descriptors()
    async with opened((box.name, True), tmp_path / "another") as sandbox:
        another = furnished(sandbox, tmp_path / "another", tmp_path / "another")
        for _ in range(6):
            await another.sh("echo x; sleep 100 & exit 1")
    assert descriptors() == before
    assert sorted(path.name for path in (tmp_path / "another").iterdir()) == ["outside", "sandbox", "work"]
    assert list((tmp_path / "another/sandbox").iterdir()) == []


def descriptors() -> Counter[str]:
    """What is open, by kind: numbers of pipes change."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(entry.readlink()).partition(":")[0])
        except FileNotFoundError:
            continue
    return Counter(links)


async def test_a_large_tool_chain_works(box: Box) -> None:
    """A test suite of a project, as later work will run them."""
    (box.folder / "test_it.py").write_text(
        "import unittest, subprocess, sys, tempfile, threading\n"
        "class T(unittest.TestCase):\n"
        "    def test_child(self): subprocess.run([sys.executable, '-c', 'print(1)'], check=True)\n"
        "    def test_file(self):\n        with tempfile.TemporaryFile() as f: f.write(b'x')\n"
        "    def test_thread(self):\n        t = threading.Thread(target=print); t.start(); t.join()\n"
    )
    ran = await box.run(PYTHON, "-m", "unittest", "-v", limits=Limits())
    assert ran.code == 0, ran.err
    assert "Ran 3 tests" in ran.err
