"""Commands in the sandbox: at once, with their output as it comes, or in the background under a handle.

No rule about words decides what is safe here: the sandbox does, and a person sees exactly what will be run.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from belayer.execution.act import Probed
from belayer.execution.policy import Reach
from belayer.execution.step import UNDER_WAY
from belayer.sandbox.proxy import host_and_port
from belayer.sandbox.sandbox import OFFLINE, Ended, Limits, Missing, Network, Process, Program, Sandbox
from belayer.tools.excerpt import Excerpt
from belayer.tools.jobs import Jobs, Owner
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.vocabulary.addresses import Allowed
from belayer.vocabulary.errors import (
    ChildFailed,
    CommandFailed,
    CommandStopped,
    LimitReached,
    PathMissing,
)
from belayer.vocabulary.events.event import Effect, Json, Snapshot
from belayer.workspace.names import cleaned, shown, visible
from belayer.workspace.workspace import Workspace

_LONGEST = 3600.0
_LONGEST_JOB = 86_400.0
_MOST_SHOWN_LIVE = 5_000
_MOST_READ = 65_536
_LIMITS = Limits(cpu_seconds=3600)
# A job may write for days; what is kept of it is bounded, see jobs.py.
_JOB_LIMITS = Limits(cpu_seconds=86_400, output_bytes=1 << 40)
_LONGEST_WAIT = 60.0
_GRACE = 30.0

Word = Annotated[str, Field(max_length=131_072)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
Host = Annotated[str, Field(max_length=300, description="As in pypi.org:443; without a port, 443.")]
Handle = Annotated[str, Field(min_length=1, max_length=100, description="From shell.start.")]


class Command(Params):
    """A command line for /bin/sh, or the words of a program without a shell between."""

    command: Annotated[Word, Field(min_length=1)] | None = None
    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=1_000)] | None = None
    cwd: Annotated[str, Field(min_length=1, max_length=4096, description="Within the workspace.")] = "."
    env: Annotated[dict[Name, Word], Field(max_length=100, default_factory=dict)]

    @model_validator(mode="after")
    def _is_one(self) -> "Command":
        if (self.command is None) == (self.argv is None):
            raise ValueError("give either command or argv")
        if any("\0" in word for word in (*self.words(), *self.env.values())):
            raise ValueError("no word can hold a NUL character")
        return self

    def words(self) -> tuple[str, ...]:
        return self.argv if self.argv is not None else ("/bin/sh", "-c", self.command or "")

    def names(self) -> tuple[str, ...]:
        """The hosts it may reach."""
        return ()


class Online(Command):
    """A command that may reach some hosts."""

    hosts: Annotated[tuple[Host, ...], Field(min_length=1, max_length=50)]

    @field_validator("hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_spelled(host) for host in hosts)

    def names(self) -> tuple[str, ...]:
        return self.hosts


class Run(Command):
    timeout: Annotated[float, Field(gt=0, le=_LONGEST, description="Seconds.")] = 120.0
    check: Annotated[bool, Field(description="An exit code other than 0 is a failure of the step.")] = False


class RunOnline(Online, Run):
    pass


class Start(Command):
    timeout: Annotated[float, Field(gt=0, le=_LONGEST_JOB, description="Seconds.")] = _LONGEST
    wait: Annotated[
        float, Field(ge=0, le=30, description="Seconds to wait for its end before returning.")
    ] = 0.0


class StartOnline(Online, Start):
    pass


class Poll(Params):
    job: Handle
    wait: Annotated[float, Field(ge=0, le=_LONGEST_WAIT, description="Seconds to wait for its end.")] = 0.0


class Read(Params):
    job: Handle
    offset: Annotated[int, Field(ge=0, description="Where the last read has ended.")] = 0
    most: Annotated[int, Field(ge=4, le=_MOST_READ)] = _MOST_READ
    wait: Annotated[
        float, Field(ge=0, le=_LONGEST_WAIT, description="Seconds to wait for something new.")
    ] = 0.0


class Stop(Params):
    job: Handle


def shell(sandbox: Sandbox, jobs: Jobs, private: Allowed | None = None) -> list[AnyTool]:
    """The tools; `private` are the hosts inside the house that commands may be allowed to reach."""
    desk = _Desk(sandbox, jobs, private or Allowed())
    return [
        desk.tool("run", "Run a command in the sandbox, without network; its output and exit code.", Run),
        desk.tool("run_online", "Run a command in the sandbox that may reach the hosts it names.", RunOnline),
        desk.tool("start", "Start a command in the background, without network; its handle.", Start),
        desk.tool("start_online", "Start a command in the background that may reach hosts.", StartOnline),
        _looking(
            "poll", "Say how a background command is, and with what exit code it ended.", Poll, desk.poll
        ),
        _looking("read", "Read what a background command has written, from an offset on.", Read, desk.read),
        _looking("stop", "End a background command of this session.", Stop, desk.stop),
    ]


class _Desk:
    """Runs commands, and keeps those that go on."""

    def __init__(self, sandbox: Sandbox, jobs: Jobs, private: Allowed) -> None:
        self._sandbox = sandbox
        self._jobs = jobs
        self._private = private

    def tool(self, name: str, about: str, params: type[Command]) -> AnyTool:
        """A tool that runs commands. Offline it can only change files, which can be brought back; online, the world."""
        offline = not issubclass(params, Online)
        return Tool(
            name=f"shell.{name}",
            about=about,
            params=params,
            execute=self.run if issubclass(params, Run) else self.start,
            effect=Effect.WRITE if offline else Effect.EXTERNAL,
            timeout=_LONGEST + _GRACE,
            reach=_reach,
            preview=self.preview,
            probe=_nobody_knows,
            undo=self.undo if offline else None,
            health=self.health,
        )

    async def run(self, params: Run, workspace: Workspace) -> Json:
        before = await workspace.snapshot()
        program = await self._program(params, workspace, replace(_LIMITS, wall_seconds=params.timeout))
        process = await self._sandbox.start(program)
        outputs = {"stdout": Excerpt(), "stderr": Excerpt()}
        try:
            await _follow(process, outputs)
            ended = await process.wait()
        except LimitReached as error:
            raise _stopped(error, outputs) from error
        except ChildFailed as error:
            raise CommandFailed(error.detail, error.hint) from error
        finally:
            await process.stop(0)
        if params.check and ended.exit_code != 0:
            raise _failed(ended, outputs)
        return {
            "exit_code": ended.exit_code,
            "stdout": outputs["stdout"].text(),
            "stderr": outputs["stderr"].text(),
            "left_out": sum(output.left_out for output in outputs.values()),
            "seconds": round(ended.seconds, 3),
            "cpu_seconds": round(ended.cpu_seconds, 3),
            "peak_bytes": ended.peak_bytes,
            "before": before.model_dump(),
        }

    async def start(self, params: Start, workspace: Workspace) -> Json:
        owner = _owner(workspace)
        self._jobs.admit(owner)
        before = await workspace.snapshot()
        program = await self._program(params, workspace, replace(_JOB_LIMITS, wall_seconds=params.timeout))
        job = self._jobs.begin(owner, await self._sandbox.start(program))
        if params.wait:
            await job.over(params.wait)
        return {**job.told(), "before": before.model_dump()}

    async def poll(self, params: Poll, workspace: Workspace) -> Json:
        job = self._jobs.find(_owner(workspace), params.job)
        if job is None:
            return _lost(params.job)
        if params.wait:
            await job.over(params.wait)
        return job.told()

    async def read(self, params: Read, workspace: Workspace) -> Json:
        job = self._jobs.find(_owner(workspace), params.job)
        if job is None:
            return {**_lost(params.job), "text": "", "offset": params.offset, "lost": 0}
        if params.wait and job.output.total <= params.offset:
            await job.heard(params.wait)
        text, offset, lost = job.output.read(params.offset, params.most)
        return {**job.told(), "text": text, "offset": offset, "lost": lost}

    async def stop(self, params: Stop, workspace: Workspace) -> Json:
        job = self._jobs.find(_owner(workspace), params.job)
        if job is None:
            return _lost(params.job)
        await job.stop()
        return job.told()

    async def undo(self, params: Command, output: Json, workspace: Workspace) -> Json:  # noqa: ARG002 - as undos are
        """The files as they were before; a job is ended first."""
        assert isinstance(output, dict)
        if isinstance(handle := output.get("job"), str):
            job = self._jobs.find(_owner(workspace), handle)
            if job is not None:
                await job.stop()
        await workspace.restore(Snapshot.model_validate(output["before"]))
        return {"restored": True}

    async def preview(self, params: Command, workspace: Workspace) -> Json:
        """Exactly what would be run, and with what."""
        return {
            "argv": list(params.words()),
            "folder": str(workspace.folder / visible(cleaned(params.cwd))),
            "env": {**params.env},
            "hosts": list(params.names()),
            "sandbox": self._sandbox.rung.name,
        }

    async def health(self) -> str | None:
        return self._sandbox.why.detail if isinstance(self._sandbox, Missing) else None

    async def _program(self, params: Command, workspace: Workspace, limits: Limits) -> Program:
        cwd = visible(cleaned(params.cwd))
        entry = workspace.root.look(cwd) if cwd else None
        if cwd and (entry is None or entry.kind != "folder"):
            raise PathMissing(
                f"The command was not run: there is no folder {shown(params.cwd)} in the workspace.",
                "Give a folder that is there, or make it first.",
            )
        return Program(
            argv=params.words(),
            folder=workspace.folder,
            cwd=cwd or ".",
            env=params.env,
            network=Network(params.names(), self._private) if params.names() else OFFLINE,
            limits=limits,
        )


def _looking(
    name: str, about: str, params: type[Params], execute: Callable[[Any, Workspace], Awaitable[Json]]
) -> AnyTool:
    """A tool for jobs that are there already: it may be called again and again."""
    return Tool(
        name=f"shell.{name}",
        about=about,
        params=params,
        execute=execute,
        effect=Effect.READ,
        timeout=_LONGEST_WAIT + _GRACE,
    )


async def _follow(process: Process, outputs: dict[str, Excerpt]) -> None:
    """Keep what it writes, and show it line by line to those who watch: not for ever, for they are people."""
    step, count = UNDER_WAY.get(None), 0
    async for line in process:
        outputs[line.stream].add(line.text + ("\n" if line.ends else ""))
        count += 1
        if step is not None and count <= _MOST_SHOWN_LIVE:
            step.log(line.text if count < _MOST_SHOWN_LIVE else "… more follows, and is in the result.")


def _stopped(error: LimitReached, outputs: dict[str, Excerpt]) -> CommandStopped:
    return CommandStopped(error.limit, f"{error.detail} {_last_words(outputs)}", error.hint)


def _failed(ended: Ended, outputs: dict[str, Excerpt]) -> CommandFailed:
    return CommandFailed(
        f"The command ended with exit code {ended.exit_code}. {_last_words(outputs)}",
        "Its last words are above; correct the command, or what it works on.",
    )


def _last_words(outputs: dict[str, Excerpt]) -> str:
    said = outputs["stderr"].text().strip() or outputs["stdout"].text().strip()
    return f"It said at the end: {said[-1_000:]}" if said else "It said nothing."


def _lost(handle: str) -> dict[str, Json]:
    return {
        "job": handle,
        "status": "lost",
        "exit_code": None,
        "problem": "It ended together with the Belayer that had started it; how far it came is not known.",
    }


def _owner(workspace: Workspace) -> Owner:
    """The session and the workspace. Outside of a step there is only the workspace."""
    step = UNDER_WAY.get(None)
    return (step.idempotency_key.partition(":")[0] if step else "", str(workspace.folder))


def _reach(params: Command) -> Reach:
    """A command can touch every file of the workspace, whatever it says."""
    return Reach(paths=(".",), hosts=params.names(), below=True)


def _spelled(written: str) -> str:
    """The host in one way, as rules see it: without the usual port."""
    host, port = host_and_port(written)
    name = f"[{host}]" if ":" in host else host
    return name if port == 443 else f"{name}:{port}"


async def _nobody_knows(params: Command, workspace: Workspace) -> Probed:  # noqa: ARG001 - as probes are asked
    """How far a command came cannot be told from outside."""
    return None
