"""What a workflow holds in its hands: everything it does to the world goes through here, once.

A key that the log knows is answered from the log. A key that it does not know is done, recorded, then answered.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from belayer.execution import gate, requests
from belayer.execution.act import Act, as_act
from belayer.execution.approvals import Decision
from belayer.execution.drive import Drive
from belayer.execution.executor import Step
from belayer.execution.journal import APPROVAL, QUESTION, SKIP, STEP, Moment
from belayer.execution.keys import Scope
from belayer.execution.mismatch import mismatch
from belayer.execution.outcome import outcome
from belayer.execution.recorder import asides
from belayer.execution.suspended import Halted, Suspended, together
from belayer.vocabulary.clock import rfc3339
from belayer.vocabulary.errors import (
    BelayerError,
    Fenced,
    Problem,
    ReplayMismatch,
    StoreError,
    Unrecordable,
)
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Json, Mode, StepStatus
from belayer.vocabulary.events.lifecycle import CheckpointMade, Logged
from belayer.vocabulary.events.people import Kind
from belayer.vocabulary.events.steps import Planned, PlannedStep, StepChanged
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.plain import ordered

P = ParamSpec("P")
T = TypeVar("T")


class Run:
    """One line of work in a session."""

    def __init__(self, drive: Drive, scope: Scope | None = None) -> None:
        self._drive = drive
        self._scope = scope or Scope()
        self._exit = _Exit(drive)
        self._heard = 0

    @property
    def session_id(self) -> SessionId:
        return self._drive.session_id

    @property
    def mode(self) -> Mode:
        return self._drive.mode

    @property
    def workspace(self) -> str | None:
        """The folder that the session works in."""
        return self._drive.begun.workspace

    @overload
    async def step(
        self, key: str, act: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T: ...
    @overload
    async def step(self, key: str, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def step(self, key: str, act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do the act once for ever under this key, and give what it gave."""
        given = ordered({"args": args, "kwargs": kwargs} if kwargs else args)
        return await self._step(key, as_act(act), args, kwargs, given)

    async def use(self, key: str, act: Act[[dict[str, Json]], T], params: dict[str, Json]) -> T:
        """Do an act that takes its parameters as one object: the log has them as they are."""
        return await self._step(key, act, (params,), {}, ordered(params))

    async def _step(
        self, key: str, declared: Act[..., Any], args: Sequence[Any], kwargs: dict[str, Any], given: object
    ) -> Any:
        with self._at(key, STEP) as path:
            ended = await outcome(self._drive, await self._planned(path, declared, args, kwargs, given))
            output = ended.output
            if ended.aside is not None:
                output = await self._drive.recorder.whole("output", output, ended.aside)
            try:
                return declared.output(output)
            except Unrecordable as error:
                raise mismatch(path, f"an output of {declared.name} of another type", error.detail) from error

    async def _planned(
        self, path: str, act: Act[..., Any], args: Sequence[Any], kwargs: dict[str, Any], given: object
    ) -> Step:
        drive = self._drive
        kept = await drive.recorder.keep(given)
        permits, lets_load = partial(drive.permits, act), partial(drive.lets_load, act)
        return Step(path, act, args, kwargs, kept, drive.idempotency_key(path), permits, lets_load)

    async def let(self, key: str, act: Act[..., Any], params: dict[str, Json]) -> None:
        """Return when the rules, or a person, let the step under this key do what it is about to; raise if they do not.

        For what is done through this run before the step itself is put on record.
        """
        path = self._scope.coming(key)
        if path not in self._drive.journal.steps:
            step = await self._planned(path, act, (params,), {}, ordered(params))
            with _Place(path, self._exit):
                await gate.decide(self._drive, step)

    async def skip(self, key: str, name: str, reason: str) -> None:
        """Say that a step is left out, and why."""
        with self._at(key, SKIP) as path:
            event = StepChanged(key=path, name=name, status=StepStatus.SKIPPED, reason=reason, seconds=0.0)
            await self._note(path, event)

    async def recover(
        self, key: str, prompt: str, choices: Sequence[str], problem: Problem, impact: str
    ) -> Json:
        """Ask a person what to do about a failure."""
        with self._at(key, QUESTION) as path:
            return await requests.answer(
                self._drive,
                path,
                prompt,
                kind="choice",
                choices=tuple(choices),
                purpose="failure",
                problem=problem,
                impact=impact,
            )

    async def ask(
        self,
        key: str,
        prompt: str,
        *,
        kind: Kind = "text",
        choices: Sequence[str] = (),
        form: dict[str, Json] | None = None,
    ) -> Any:
        """Ask a person and give the answer, whenever it comes."""
        with self._at(key, QUESTION) as path:
            wanted: Kind = "choice" if choices else "form" if form else kind
            return await requests.answer(
                self._drive, path, prompt, kind=wanted, choices=tuple(choices), form=form
            )

    async def approve(self, key: str, shown: object, *, title: str | None = None) -> Decision:
        """Show something to a person and give their decision on exactly that. A no is a Decision that is false."""
        with self._at(key, APPROVAL) as path:
            return await requests.decision(self._drive, path, title or key, shown)

    async def sleep_until(self, when: datetime, key: str = "sleep") -> None:
        """Go on at the given time, at no cost until then."""
        with self._at(key, "sleep") as path:
            trace = self._drive.journal.steps.get(path)
            if trace is not None and trace.outcome is not None:
                return
            if trace is None:
                await self._drive.recorder.begin(_value(path, "sleep", StepStatus.RUNNING, wake_at=when))
            else:
                when = trace.first.wake_at or when
            if when > self._drive.recorder.now():
                raise Suspended(f"sleeps until {rfc3339(when)}", when)
            await self._drive.recorder.append(_value(path, "sleep", StepStatus.COMPLETED))

    async def sleep(self, seconds: float, key: str = "sleep") -> None:
        """Go on after a while."""
        await self.sleep_until(await self.now() + timedelta(seconds=seconds), key)

    async def now(self) -> datetime:
        """The time, the same on every replay."""
        recorded = await self._recorded("now", lambda: rfc3339(self._drive.recorder.now()))
        return datetime.fromisoformat(cast("str", recorded))

    def monotonic(self) -> float:
        """Seconds, to see how long something takes. Not recorded: another number on every replay."""
        return self._drive.recorder.monotonic()

    async def random(self) -> float:
        """A random number from 0 up to 1, the same on every replay."""
        return cast("float", await self._recorded("random", random.random))

    async def once(self, name: str, make: Callable[["Run"], Awaitable[Json]]) -> Json:
        """What `make` gives, made once for ever. It has a run of its own, whose names lie under this one."""
        with self._at(name, name) as path:
            trace = self._drive.journal.steps.get(path)
            event = trace.last if trace else await self._made(path, name, make)
            return await self._drive.recorder.whole("output", event.output, event.aside)

    async def _made(self, path: str, name: str, make: Callable[["Run"], Awaitable[Json]]) -> StepChanged:
        kept = await self._drive.recorder.keep(await make(Run(self._drive, Scope(f"{path}/"))))
        made = _value(path, name, StepStatus.COMPLETED, output=kept.value, aside=asides(output=kept))
        (record,) = await self._drive.recorder.append(made)
        return cast("StepChanged", record.event())

    async def messages(self) -> list[str]:
        """What people have told the session since this line of work last looked; the same on every replay."""
        with self._at("messages", "messages") as path:
            trace = self._drive.journal.steps.get(path)
            if trace is None:
                said = await self._drive.recorder.said_after(self._heard)
                found: Json = [[seq, text] for seq, text in said]
                await self._drive.recorder.append(
                    _value(path, "messages", StepStatus.COMPLETED, output=found)
                )
            else:
                found = trace.last.output
        pairs = cast("list[tuple[int, str]]", found)
        self._heard = pairs[-1][0] if pairs else self._heard
        return [text for _, text in pairs]

    async def parallel(
        self, key: str, branches: Sequence[Callable[["Run"], Awaitable[T]]], *, limit: int | None = None
    ) -> list[T]:
        """Run branches side by side, each with a run of its own, and give their results in order.

        All branches go as far as they can. Then the first failure, if there is one, is raised; else, if any branch
        waits, the whole run waits.
        """
        with self._at(key, "parallel") as path:
            gate = asyncio.Semaphore(limit or max(len(branches), 1))

            async def walk(place: int, branch: Callable[["Run"], Awaitable[T]]) -> T | BaseException:
                async with gate:
                    return await ending_of(branch(Run(self._drive, self._scope.branch(path, place))))

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(walk(place, branch)) for place, branch in enumerate(branches)]
            return _joined([task.result() for task in tasks])

    def line(self) -> "Run":
        """A line of work of its own that shares this one's names: whoever has several sees to it that no two
        lines use the same name, and ends them with `join`."""
        return Run(self._drive, self._scope)

    def within(self, name: str) -> "Run":
        """A run whose names all lie under this one."""
        return Run(self._drive, self._scope.within(name))

    @property
    def place(self) -> str:
        """The name that all names of this run lie under."""
        return self._scope.coming("").removesuffix("/")

    def knows(self, key: str) -> bool:
        """Whether the log had anything under this key before this drive began."""
        return self._drive.journal.knows(self._scope.coming(key))

    def ready_since(self, key: str) -> Moment | None:
        """When what is to come out under this key came into the log, if it did before this drive began."""
        return self._drive.journal.ready_since(self._scope.coming(key))

    def join(self, endings: Sequence[T | BaseException]) -> list[T]:
        """The results of lines of work; or raise the first failure; or, if one of them waits, wait."""
        with _Place("", self._exit):
            return _joined(endings)

    async def plan(
        self,
        *steps: str | tuple[str, str] | PlannedStep,
        key: str = "plan",
        parallel: int | None = None,
        digest: str | None = None,
    ) -> None:
        """Say which steps are to come (keys, or keys with titles), so that progress can be shown."""
        planned = tuple(_planned(step) for step in steps)
        with self._at(key, "plan") as path:
            await self._note(path, Planned(key=path, steps=planned, parallel=parallel, digest=digest))

    @property
    def is_watched(self) -> bool:
        """Whether anybody would see what is shown."""
        return self._drive.recorder.is_watched

    def show(self, type_: str, **data: Json) -> None:
        """Show something to whoever follows; it is not kept."""
        self._drive.recorder.show(type_, **data)

    async def log(self, text: str, level: Literal["debug", "info", "warning", "error"] = "info") -> None:
        """Put a line into the session's story."""
        with self._at("log", "log") as path:
            await self._note(path, Logged(text=text, level=level, key=path))

    async def checkpoint(self, name: str) -> None:
        """Give this place a name to come back to."""
        with self._at("checkpoint", "checkpoint") as path:
            await self._note(path, CheckpointMade(name=name, key=path))

    @property
    def left(self) -> Suspended | None:
        """How this line of work left, if it did, whatever its workflow made of that."""
        return self._exit.left

    def _at(self, key: str, kind: str) -> "_Place":
        """The place in the log for this call; once this line of work has left, it does nothing more."""
        self._exit.check()
        path = self._scope.path(key)
        recorded = self._drive.journal.kinds.get(path, kind)
        if recorded != kind:
            raise self._exit.halt(mismatch(path, f"a {recorded}", f"a {kind}"))
        return _Place(path, self._exit)

    async def _note(self, path: str, event: AnyEvent) -> None:
        if path not in self._drive.journal.kinds:
            await self._drive.recorder.append(event)

    async def _recorded(self, name: str, make: Callable[[], Json]) -> Json:
        with self._at(name, name) as path:
            trace = self._drive.journal.steps.get(path)
            if trace is not None:
                return trace.last.output
            value = make()
            await self._drive.recorder.append(_value(path, name, StepStatus.COMPLETED, output=value))
            return value


class _Exit:
    """The way out of one line of work: taken once, it stays taken."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self.left: Suspended | None = None

    def check(self) -> None:
        """Leave again if this line has left, and now if the session is to begin nothing new."""
        if self._drive.halted is not None:
            raise self._drive.halted
        if self.left is not None:
            raise self.left
        if self._drive.stopped is not None:
            self.left = Suspended(self._drive.stopped)
            raise self.left

    def halt(self, error: BelayerError) -> Halted:
        self._drive.halted = Halted(error)
        return self._drive.halted


class _Place:
    """Encloses one call; remembers when the line of work leaves from it, or cannot go on at all."""

    def __init__(self, path: str, way_out: _Exit) -> None:
        self._path = path
        self._exit = way_out

    def __enter__(self) -> str:
        return self._path

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Suspended):
            self._exit.left = error
        elif isinstance(error, ReplayMismatch | Fenced | StoreError):
            raise self._exit.halt(error) from error


def _value(path: str, name: str, status: StepStatus, **more: Any) -> StepChanged:
    return StepChanged(key=path, name=name, status=status, **more)


async def ending_of(work: Awaitable[T]) -> T | BaseException:
    """What a line of work comes to: its result, or what it ended with. Cancellation goes through."""
    try:
        return await work
    except (Exception, Suspended, Halted) as ending:  # noqa: BLE001 - raised again by whoever joins
        return ending


def _planned(step: str | tuple[str, str] | PlannedStep) -> PlannedStep:
    if isinstance(step, PlannedStep):
        return step
    key, title = (step, step) if isinstance(step, str) else step
    return PlannedStep(key=key, title=title)


def _joined(endings: Sequence[T | BaseException]) -> list[T]:
    for ending in endings:
        if isinstance(ending, Halted):
            raise ending
    for ending in endings:
        if isinstance(ending, Exception):
            raise ending
    waits = [ending for ending in endings if isinstance(ending, Suspended)]
    if waits:
        raise together(waits)
    return cast("list[T]", endings)
