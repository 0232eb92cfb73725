"""Commands through the tools: at once and in the background, shown before, undone after, asked about if they go out."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.execution.policy import Call, Reach, rule_on
from belayer.sandbox.choose import choose
from belayer.sandbox.sandbox import Missing, Program, Sandbox
from belayer.tools import jobs as jobs_module
from belayer.tools.excerpt import Excerpt
from belayer.tools.jobs import Jobs, Output
from belayer.tools.shell import shell
from belayer.tools.tool import AnyTool
from belayer.vocabulary.commands import Cancel, Rewind, Start
from belayer.vocabulary.errors import (
    ChildFailed,
    CommandStopped,
    ConfigurationError,
    LimitReached,
    NoSandbox,
    OutsideWorkspace,
    PathMissing,
    ResourceShort,
)
from belayer.vocabulary.events.event import Effect, Status
from belayer.vocabulary.rules import Rule, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspaces
from tests.support.engines import until
from tests.workspace.trees import held, make


class Desk:
    """A workspace with some files, and the tools at work in it."""

    def __init__(self, top: Path, sandbox: Sandbox, jobs: Jobs) -> None:
        self.folder = top / "work"
        make(self.folder, {"a.txt": b"one\n", "docs/b.md": b"# B\n"})
        self.workspace = Workspaces(top / "home").of(self.folder)
        self.tools = {tool.name.removeprefix("shell."): tool for tool in shell(sandbox, jobs)}

    def tool(self, name: str) -> AnyTool:
        return self.tools[name]

    async def do(self, name: str, **params: Any) -> dict[str, Any]:
        tool = self.tools[name]
        assert tool.execute is not None
        output = await tool.execute(tool.read(params), self.workspace)
        assert json.loads(json.dumps(output)) == output
        return output  # pyright: ignore[reportReturnType]

    async def run(self, command: str, **params: Any) -> dict[str, Any]:
        return await self.do("run", command=command, **params)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with choose("auto", tmp_path / "home") as sandbox, Jobs() as jobs:
        yield Desk(tmp_path, sandbox, jobs)


async def test_a_command_gives_its_output_and_its_exit_code(desk: Desk) -> None:
    ran = await desk.run("cat a.txt; echo oh >&2; exit 3")
    assert (ran["exit_code"], ran["stdout"], ran["stderr"], ran["left_out"]) == (3, "one\n", "oh\n", 0)


async def test_words_are_run_without_a_shell_between(desk: Desk) -> None:
    ran = await desk.do("run", argv=["/bin/echo", "$HOME; rm -rf *", "`id`"])
    assert ran["stdout"] == "$HOME; rm -rf * `id`\n"


async def test_a_command_has_the_folder_and_the_variables_it_was_given(desk: Desk) -> None:
    ran = await desk.run("pwd; echo $WHO", cwd="docs", env={"WHO": "me"})
    assert ran["stdout"] == f"{desk.folder}/docs\nme\n"


async def test_a_failed_command_fails_the_step_only_if_that_is_wanted(desk: Desk) -> None:
    assert (await desk.run("exit 1"))["exit_code"] == 1
    with pytest.raises(ChildFailed, match=r"exit code 1. It said at the end: the fuse is blown"):
        await desk.run("echo the fuse is blown >&2; exit 1", check=True)
    assert (await desk.run("exit 0", check=True))["exit_code"] == 0


async def test_a_command_that_waits_for_input_sees_its_end_at_once(desk: Desk) -> None:
    assert (await desk.run("read answer || echo nothing to read"))["stdout"] == "nothing to read\n"


async def test_a_command_that_takes_too_long_is_stopped_and_not_tried_again(desk: Desk) -> None:
    with pytest.raises(CommandStopped) as raised:
        await desk.run("echo so far; sleep 3600", timeout=0.5)
    error = raised.value
    assert isinstance(error, LimitReached)
    assert error.limit == "wall"
    assert "so far" in error.detail
    assert error.category.value == "logic"


async def test_of_a_long_output_the_beginning_and_the_end_are_kept(desk: Desk) -> None:
    ran = await desk.run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert ran["stdout"].startswith("first\nxxx")
    assert ran["stdout"].endswith("xxx\nlast\n")
    assert f"… {ran['left_out']:,} bytes left out …" in ran["stdout"]
    assert len(ran["stdout"]) < 70_000


async def test_escapes_for_terminals_are_kept_as_text(desk: Desk) -> None:
    ran = await desk.run(r"printf '\033]52;c;ZXZpbA==\007\033[2J'")
    assert ran["stdout"] == "\x1b]52;c;ZXZpbA==\x07\x1b[2J"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"command": "a", "argv": ["b"]},
        {"argv": []},
        {"command": "a\0b"},
        {"command": "a", "env": {"a=b": "c"}},
        {"command": "a", "env": {"A": "b\0"}},
        {"command": "a", "timeout": 0},
        {"command": "a", "hosts": ["pypi.org"]},
    ],
    ids=str,
)
def test_what_cannot_be_run_is_told(desk: Desk, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        desk.tool("run").read(wrong)


@pytest.mark.parametrize(
    "hosts", [[], ["http://pypi.org"], ["a b"], ["pypi.org:0"], ["u@pypi.org"], ["*"] * 51], ids=str
)
def test_what_is_no_host_is_told(desk: Desk, hosts: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        desk.tool("run_online").read({"command": "a", "hosts": [*hosts]})


@pytest.mark.parametrize("cwd", ["..", "/etc", "docs/../../x", "a\0b"])
async def test_a_folder_outside_is_refused(desk: Desk, cwd: str) -> None:
    with pytest.raises(OutsideWorkspace):
        await desk.run("pwd", cwd=cwd)


@pytest.mark.parametrize("cwd", ["missing", "a.txt"])
async def test_a_folder_that_is_not_there_is_named(desk: Desk, cwd: str) -> None:
    with pytest.raises(PathMissing, match=cwd):
        await desk.run("pwd", cwd=cwd)


async def test_what_a_command_did_is_undone(desk: Desk) -> None:
    before = held(desk.folder)
    ran = await desk.run("rm -r docs; echo two >>a.txt; mkdir new; touch new/file; ln -s a.txt link")
    assert held(desk.folder) != before
    tool = desk.tool("run")
    assert tool.undo is not None
    await tool.undo(tool.read({"command": "x"}), ran, desk.workspace)
    assert held(desk.folder) == before


async def test_a_person_sees_exactly_what_would_be_run(desk: Desk) -> None:
    tool = desk.tool("run_online")
    params: Any = {
        "command": "ls; rm -rf .",
        "cwd": "docs",
        "env": {"A": "b"},
        "hosts": ["PyPI.org:443", "x.test:8080"],
    }
    assert tool.preview is not None
    shown = await tool.preview(tool.read(params), desk.workspace)
    assert shown == {
        "argv": ["/bin/sh", "-c", "ls; rm -rf ."],
        "folder": f"{desk.folder}/docs",
        "env": {"A": "b"},
        "hosts": ["pypi.org", "x.test:8080"],
        "sandbox": "bubblewrap" if "bubblewrap" in str(shown) else "landlock",
    }


def ruled(tool: AnyTool, params: dict[str, Any], *rules: Rule) -> Verdict:
    return rule_on(Call(tool.name, tool.effect, tool.reach(tool.read(params))), rules).verdict


def test_by_default_commands_run_and_those_that_go_out_are_asked_about(desk: Desk) -> None:
    for name in ("run", "start"):
        assert ruled(desk.tool(name), {"command": "a"}) is Verdict.ALLOW
        assert ruled(desk.tool(f"{name}_online"), {"command": "a", "hosts": ["pypi.org"]}) is Verdict.ASK


def test_a_host_can_be_allowed_and_covers_no_other(desk: Desk) -> None:
    tool, rule = desk.tool("run_online"), Rule(verdict=Verdict.ALLOW, tool="shell.*", host="pypi.org")
    assert ruled(tool, {"command": "a", "hosts": ["pypi.org:443"]}, rule) is Verdict.ALLOW
    for hosts in (["pypi.org", "evil.test"], ["pypi.org:8443"], ["files.pypi.org"]):
        assert ruled(tool, {"command": "a", "hosts": hosts}, rule) is Verdict.ASK


def test_a_rule_about_any_path_is_about_every_command(desk: Desk) -> None:
    rule = Rule(verdict=Verdict.ASK, path="deploy/**")
    assert ruled(desk.tool("run"), {"command": "a"}, rule) is Verdict.ASK
    assert desk.tool("run").reach(desk.tool("run").read({"command": "a"})) == Reach(paths=(".",), below=True)


def test_the_effects_are_what_they_are(desk: Desk) -> None:
    effects = {name: tool.effect for name, tool in desk.tools.items()}
    assert effects == {
        "run": Effect.WRITE,
        "start": Effect.WRITE,
        "run_online": Effect.EXTERNAL,
        "start_online": Effect.EXTERNAL,
        "poll": Effect.READ,
        "read": Effect.READ,
        "stop": Effect.READ,
    }


async def test_without_a_sandbox_nothing_is_run_and_the_reason_is_given(tmp_path: Path) -> None:
    async with Jobs() as jobs:
        desk = Desk(tmp_path, Missing(NoSandbox("bubblewrap is missing", "install it")), jobs)
        health = desk.tool("run").health
        assert health is not None
        assert await health() == "bubblewrap is missing"
        with pytest.raises(NoSandbox, match="bubblewrap is missing"):
            await desk.run("touch evil")
    assert not (desk.folder / "evil").exists()


# In the background


async def test_a_job_is_started_looked_at_read_and_ends(desk: Desk) -> None:
    job = (await desk.do("start", command="echo one; echo two >&2; exit 5"))["job"]
    read = await desk.do("read", job=job, wait=30)
    ended = await desk.do("poll", job=job, wait=30)
    assert (ended["status"], ended["exit_code"]) == ("ended", 5)
    rest = await desk.do("read", job=job, offset=read["offset"])
    assert sorted((read["text"] + rest["text"]).split()) == ["one", "two"]
    assert (await desk.do("read", job=job, offset=10**6))["text"] == ""


async def test_a_job_goes_on_while_other_commands_run_and_is_stopped(desk: Desk) -> None:
    started = await desk.do("start", command="while :; do echo x; sleep 0.01; done")
    job = started["job"]
    assert (await desk.do("read", job=job, wait=30))["text"].startswith("x\n")
    assert (await desk.run("echo fine"))["stdout"] == "fine\n"
    assert (await desk.do("poll", job=job))["status"] == "running"
    assert (await desk.do("stop", job=job))["status"] == "stopped"
    assert (await desk.do("poll", job=job))["status"] == "stopped"
    assert (await desk.do("stop", job=job))["status"] == "stopped"


async def test_a_job_that_goes_beyond_its_limit_says_so(desk: Desk) -> None:
    job = (await desk.do("start", command="sleep 3600", timeout=0.3))["job"]
    ended = await desk.do("poll", job=job, wait=30)
    assert ended["status"] == "failed"
    assert "0.3 s" in ended["problem"]


async def test_a_job_can_be_waited_for(desk: Desk) -> None:
    started = await desk.do("start", command="echo x >new.txt", wait=30)
    assert (started["status"], started["exit_code"]) == ("ended", 0)
    assert (desk.folder / "new.txt").read_text() == "x\n"


async def test_an_undone_job_is_ended_and_its_files_are_gone(desk: Desk) -> None:
    before = held(desk.folder)
    tool = desk.tool("start")
    started = await desk.do("start", command="echo x >new.txt; echo ready; sleep 3600")
    await desk.do("read", job=started["job"], wait=30)
    assert tool.undo is not None
    await tool.undo(tool.read({"command": "x"}), started, desk.workspace)
    assert held(desk.folder) == before
    assert (await desk.do("poll", job=started["job"]))["status"] == "stopped"


async def test_only_so_many_jobs_run_at_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "_MOST_RUNNING", 2)
    first = await desk.do("start", command="sleep 3600")
    await desk.do("start", command="sleep 3600")
    with pytest.raises(ResourceShort, match="2 jobs run"):
        await desk.do("start", command="sleep 3600")
    await desk.do("stop", job=first["job"])
    await desk.do("start", command="true")


async def test_a_job_is_nobody_elses(desk: Desk, tmp_path: Path) -> None:
    job = (await desk.do("start", command="sleep 3600"))["job"]
    (tmp_path / "other").mkdir()
    tool = desk.tool("poll")
    assert tool.execute is not None
    with pytest.raises(ConfigurationError, match="has no job"):
        await tool.execute(tool.read({"job": job}), Workspaces(tmp_path / "home").of(tmp_path / "other"))
    with pytest.raises(ConfigurationError, match="has no job"):
        await desk.do("poll", job="job-of-my-dreams-1")


async def test_after_a_restart_a_job_is_said_to_have_ended_with_belayer(desk: Desk, tmp_path: Path) -> None:
    async with choose("auto", tmp_path / "home") as sandbox, Jobs() as jobs:
        earlier = {tool.name: tool for tool in shell(sandbox, jobs)}["shell.start"]
        assert earlier.execute is not None
        started = await earlier.execute(earlier.read({"command": "sleep 3600"}), desk.workspace)
    assert isinstance(started, dict)
    for name in ("poll", "read", "stop"):
        told = await desk.do(name, job=started["job"])
        assert told["status"] == "lost"
        assert "ended together with the Belayer" in told["problem"]


async def test_jobs_end_with_the_engine(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with choose("auto", tmp_path / "home") as sandbox:
        async with Jobs() as jobs:
            program = Program(("/bin/sleep", "3600"), tmp_path / "work")
            job = jobs.begin(("s", "w"), await sandbox.start(program))
        assert job.is_over


# Through the engine


def _commands() -> str:
    """What runs on this machine, in words."""
    found = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    return b"\n".join(found).decode(errors="replace")


@pytest.mark.parametrize("ending", ["completed", "cancelled", "rewound"])
async def test_a_job_ends_with_its_session_and_when_that_goes_back(tmp_path: Path, ending: str) -> None:
    mark = f"job-of-{tmp_path.name}-{ending}"
    start = {"id": "a", "tool": "shell.start", "params": {"argv": ["/bin/sh", "-c", "sleep 3600", mark]}}
    ask = {"id": "b", "tool": "request_input", "params": {"prompt": "And now?"}}
    async with open_engine(tmp_path / "home") as engine:
        session = await engine.carry_out({"steps": [start, ask]})
        assert (await session.settled()).status is Status.WAITING
        assert mark in _commands()
        match ending:
            case "completed":
                await session.answer("go on")
            case "cancelled":
                await engine.tell(session.id, Cancel())
            case _:
                await engine.tell(session.id, Rewind(seq=1))
        await until(lambda: mark not in _commands())


async def test_a_plan_runs_a_command_and_asks_before_one_goes_out(tmp_path: Path) -> None:
    plan: Any = {
        "steps": [
            {
                "id": "inside",
                "tool": "test_shell.run",
                "params": {"command": "echo hello; echo made >made.txt"},
            },
            {
                "id": "out",
                "tool": "test_shell.run_online",
                "params": {"command": "echo out", "hosts": ["pypi.org"]},
                "needs": ["inside"],
            },
        ]
    }
    async with choose("auto", tmp_path / "sandbox-home") as sandbox, Jobs() as jobs:
        if sandbox.rung.name != "bubblewrap":
            pytest.skip("hosts need bubblewrap")
        async with open_engine(tmp_path / "home", tools=renamed(shell(sandbox, jobs))) as engine:
            session = engine.session(await engine.begin(Start(workflow="plan", input={"plan": plan})))
            state = await session.settled()
            assert state.status is Status.WAITING
            (request,) = state.pending.values()
            assert "pypi.org" in request.model_dump_json()
            assert "echo out" in request.model_dump_json()
            await session.approve()
            result = await session.result()
    assert cast("Any", result)["outputs"]["out"]["stdout"] == "out\n"
    assert (tmp_path / "home/workspaces" / session.id / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("{command: 'echo no fuse >&2; exit 4', check: true}", "exit code 4. It said at the end: no fuse"),
        ("{argv: ['no-such-program']}", "no-such-program was not run"),
    ],
)
async def test_a_script_hears_why_its_command_failed(call: str, says: str, tmp_path: Path) -> None:
    source = f"try {{ await tools.shell.run({call}) }} catch (e) {{ return e.message }}"
    step = {"id": "a", "tool": "code", "params": {"tools": ["shell.run"], "source": source}}
    async with open_engine(tmp_path / "home") as engine:
        session = await engine.carry_out({"steps": [step]})
        result = await session.result()
    assert says in cast("Any", result)["outputs"]["a"]["value"]


def renamed(tools: list[AnyTool]) -> list[AnyTool]:
    """Under names that the engine has no tool for yet."""
    return [replace(tool, name=f"test_{tool.name}") for tool in tools]


# What is kept of an output


@given(st.lists(st.text(alphabet="abä\n", max_size=40), max_size=30), st.integers(0, 30), st.integers(1, 30))
def test_an_excerpt_is_whole_or_says_what_is_missing(texts: list[str], head: int, tail: int) -> None:
    excerpt = Excerpt(head, tail)
    for text in texts:
        excerpt.add(text)
    whole = "".join(texts)
    size = len(whole.encode())
    assert excerpt.left_out == max(0, size - head - tail)
    if size <= head + tail:
        assert excerpt.text() == whole
    else:
        assert f"… {excerpt.left_out:,} bytes left out …" in excerpt.text()


@given(st.lists(st.text(alphabet="abä€😀\n", max_size=20), max_size=30), st.integers(4, 20))
def test_reading_on_gives_everything_once(texts: list[str], most: int) -> None:
    output = Output(kept=10_000)
    for text in texts:
        output.add(text)
    pieces: list[str] = []
    offset = 0
    while offset < output.total:
        piece, offset, lost = output.read(offset, most)
        assert lost == 0
        pieces.append(piece)
    assert "".join(pieces) == "".join(texts)


def test_what_is_no_longer_kept_is_counted() -> None:
    output = Output(kept=10)
    for number in range(100):
        output.add(f"{number:03}\n")
    text, offset, lost = output.read(0, 1000)
    assert (offset, lost + len(text)) == (400, 400)
    assert text.endswith("099\n")
    assert lost > 0
