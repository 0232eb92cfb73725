"""Workers: kept warm, used again, killed when they must be; compiled code is taken from nobody else's hands."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from belayer.codemode.limits import Limits, most
from belayer.codemode.machines import Machines
from belayer.codemode.script import Language, MachineEnded, Script, read_report
from tests.codemode.scripts import alone, ending_of, machines

LANGUAGES: tuple[Language, ...] = ("javascript", "python")
SEVEN = {"javascript": "return 7", "python": "7"}
CALLS = {"javascript": "return await tools.look({ name: input })", "python": "await tools.look(name=input)"}
FOREVER = {"javascript": "for (;;) {}", "python": "while True: pass"}

each_language = pytest.mark.parametrize("language", LANGUAGES)


def script(language: Language, sources: dict[str, str], **limits: float) -> Script:
    return Script(
        language=language,
        source=sources[language],
        tools=("look",),
        input="x",
        limits=Limits.model_validate(limits),
    )


async def run(known: Machines, one: Script) -> int:
    """Run a script to its end; the process it ran in."""
    async with known.machine(one.language, one.limits) as machine:
        assert (await machine.start(one, 0.0, 0.5)).end is not None
        return machine.worker.pid


@each_language
async def test_the_next_script_finds_a_warm_worker(language: Language) -> None:
    async with machines() as known:
        first = await run(known, script(language, SEVEN))
        assert await run(known, script(language, SEVEN)) == first


@each_language
async def test_scripts_of_one_worker_see_nothing_of_each_other(language: Language) -> None:
    source = {
        "javascript": "const was = globalThis.mark; globalThis.mark = 1; Array.prototype.mine = 1; return was",
        "python": "try:\n  was = mark\nexcept NameError:\n  was = None\nmark = 1\nwas",
    }
    one = script(language, source)
    async with machines() as known:
        for _ in range(2):
            async with known.machine(language, one.limits) as machine:
                end = (await machine.start(one, 0.0, 0.5)).end
                assert end is not None
                assert (end.value, end.error) == (None, None)


async def test_the_interpreter_does_not_hold_the_line_to_us() -> None:
    one = script("python", CALLS)
    async with machines() as known, known.machine("python", one.limits) as machine:
        await machine.start(one, 0.0, 0.5)
        pid = machine.worker.pid
        (interpreter,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        held, ours = (
            {str(one.readlink()) for one in Path(f"/proc/{process}/fd").iterdir()}
            for process in (interpreter, pid)
        )
        assert Path(f"/proc/{interpreter}/environ").read_bytes() == b""
    assert not {one for one in held & ours if one.startswith("socket:")}


@each_language
async def test_a_worker_whose_script_was_left_in_the_middle_is_gone(language: Language) -> None:
    one = script(language, CALLS)
    async with machines() as known:
        async with known.machine(language, one.limits) as machine:
            assert len((await machine.start(one, 0.0, 0.5)).calls) == 1
            pid = machine.worker.pid
        assert not Path(f"/proc/{pid}").exists()


@each_language
async def test_nothing_is_left_when_the_machines_are_closed(language: Language) -> None:
    async with machines() as known:
        pid = await run(known, script(language, SEVEN))
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()


@each_language
async def test_a_worker_that_was_killed_is_a_crash_and_the_next_script_has_another(
    language: Language,
) -> None:
    one = script(language, CALLS)
    async with machines() as known:
        async with known.machine(language, one.limits) as machine:
            await machine.start(one, 0.0, 0.5)
            os.kill(machine.worker.pid, signal.SIGKILL)
            with pytest.raises(MachineEnded) as ended:
                await machine.settle([b'{"id":1,"value":1}'])
        assert ended.value.ending.what == "its process ended"
        await run(known, script(language, SEVEN))


@each_language
async def test_a_warm_worker_that_died_meanwhile_is_replaced(language: Language) -> None:
    async with machines() as known:
        pid = await run(known, script(language, SEVEN))
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists():
            await asyncio.sleep(0)
        assert await run(known, script(language, SEVEN)) != pid


@each_language
async def test_a_script_that_runs_for_too_long_is_stopped_whatever_it_does(language: Language) -> None:
    ending = await ending_of(FOREVER[language], language, wall=0.2, cpu=60.0)
    assert ending.limit == "wall"


@each_language
async def test_many_scripts_at_once_share_the_workers_there_may_be(language: Language) -> None:
    async with machines() as known:
        await asyncio.gather(*(run(known, script(language, SEVEN)) for _ in range(20)))
        assert len(known._living) <= 2


@each_language
async def test_results_come_in_the_order_given(language: Language) -> None:
    source = {
        "javascript": "const seen = []; const go = async n => { await tools.look({ name: n }); seen.push(n) };"
        "await Promise.all(['a', 'b', 'c'].map(go)); return seen",
        "python": "import asyncio\nseen = []\nasync def go(n):\n  await tools.look(name=n)\n  seen.append(n)\n"
        "await asyncio.gather(*[go(n) for n in 'abc'])\nseen",
    }
    one = script(language, source)
    async with machines() as known, known.machine(language, one.limits) as machine:
        report = await machine.start(one, 0.0, 0.5)
        assert [(asked.id, asked.name, asked.params) for asked in report.calls] == [
            (1, "tools.look", {"name": "a"}),
            (2, "tools.look", {"name": "b"}),
            (3, "tools.look", {"name": "c"}),
        ]
        report = await machine.settle([b'{"id":%d,"value":1}' % number for number in (3, 1, 2)])
    assert report.end is not None
    assert report.end.value == ["c", "a", "b"]


@each_language
async def test_the_same_seed_gives_the_same_numbers(language: Language) -> None:
    source = {
        "javascript": "return [Math.random(), Math.random(), Date.now(), new Date().getTimezoneOffset()]",
        "python": "import random, time\n[random.random(), random.random(), time.time(), list({'b', 'a', 'c'})]",
    }
    first, second = [await alone(source[language], language) for _ in range(2)]
    assert first.end == second.end


@each_language
async def test_what_cannot_be_kept_is_told(language: Language) -> None:
    deep = {
        "javascript": "let x = []; for (let i = 0; i < 500; i++) x = [x]; return x",
        "python": "x = []\nfor i in range(500): x = [x]\nx",
    }
    ending = await ending_of(deep[language], language)
    assert ending.what is not None
    assert "nested too deeply" in ending.what


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"\xff", b'{"calls":[{"id":0,"name":"x","params":{}}],"output":[],"end":null}'],
)
def test_a_report_that_makes_no_sense_ends_the_script(content: bytes) -> None:
    with pytest.raises(MachineEnded):
        read_report(content)


def test_every_limit_has_words() -> None:
    for name in (*Limits.model_fields, "recursion"):
        assert most(name, Limits()) != name


async def test_compiled_code_is_kept_for_the_next_worker(tmp_path: Path) -> None:
    async with Machines(tmp_path / "private") as known:
        await run(known, script("javascript", SEVEN))
    (kept,) = (tmp_path / "private").iterdir()
    assert kept.suffix == ".cwasm"
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o602, 0o620])
async def test_compiled_code_that_others_can_write_is_not_loaded(mode: int, tmp_path: Path) -> None:
    async with Machines(tmp_path) as known:
        await run(known, script("javascript", SEVEN))
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"not code at all")
    kept.chmod(mode)
    async with Machines(tmp_path) as known:
        await run(known, script("javascript", SEVEN))
    assert kept.read_bytes() != b"not code at all", "it was compiled anew"
    assert kept.stat().st_mode & 0o022 == 0


async def test_compiled_code_is_neither_read_from_nor_left_in_a_folder_that_others_can_write(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    async with Machines(folder) as known:
        await run(known, script("javascript", SEVEN))
    assert list(folder.iterdir()) == []


async def test_damaged_code_is_compiled_anew(tmp_path: Path) -> None:
    async with Machines(tmp_path) as known:
        await run(known, script("javascript", SEVEN))
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"not code at all")
    async with Machines(tmp_path) as known:
        await run(known, script("javascript", SEVEN))
    assert len(kept.read_bytes()) > 100_000
