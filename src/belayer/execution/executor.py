"""Do a thing once: record the beginning of an effect, try, retry by category, record the outcome.

The only retrier there is. What it cannot know, it leaves in doubt and says so.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol

import structlog

from belayer.execution.act import Act
from belayer.execution.breaker import Breaker, BreakerState
from belayer.execution.failures import leaves_doubt, understood
from belayer.execution.limits import Limits
from belayer.execution.policy import Reach
from belayer.execution.recorder import Kept, Recorder, asides
from belayer.execution.retry import Again, RetryPolicy
from belayer.execution.step import UNDER_WAY, StepUnderWay
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import (
    BelayerError,
    Category,
    CircuitOpen,
    Fenced,
    LimitReached,
    LogicError,
    OutcomeUnknown,
    StepFailed,
    StepTimedOut,
    StoreError,
    TooLarge,
)
from belayer.vocabulary.events.event import Effect, Snapshot, StepStatus
from belayer.vocabulary.events.steps import BreakerChanged, LimitMet, Retried, StepChanged

_logger = structlog.get_logger()

_SPEAKS_AGAINST_THE_OTHER_SIDE = (Category.TRANSIENT, Category.RESOURCE)
_LONGER_WHEN_REDUCED = 2.0
_WORTH_TELLING = 1.0


Allowed = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Step:
    """An act with its arguments under its key."""

    key: str
    act: Act[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    input: Kept
    idempotency_key: str
    permits: Callable[[Reach], bool]
    lets_load: Callable[[str], bool]


@dataclass(slots=True)
class Done:
    """The step took place; this is on record."""

    event: StepChanged


@dataclass(frozen=True, slots=True)
class Unknown:
    """The attempt broke off, and whether it took effect cannot be told from here."""

    attempt: int
    reason: str


@dataclass(slots=True)
class Breakers:
    """The breaker of each act. One owner: the engine."""

    _by_name: dict[str, Breaker] = field(default_factory=dict[str, Breaker])

    def of(self, name: str) -> Breaker:
        return self._by_name.setdefault(name, Breaker())


class Files(Protocol):
    """The files a session works on, as far as the executor cares: it keeps them before and after each effect."""

    async def snapshot(self) -> Snapshot: ...


class Executor:
    """Performs the steps of one driven session."""

    def __init__(
        self,
        recorder: Recorder,
        clock: Clock,
        breakers: Breakers,
        policy: RetryPolicy,
        limits: Limits,
        files: Files | None = None,
    ) -> None:
        self._recorder = recorder
        self._clock = clock
        self._breakers = breakers
        self._policy = policy
        self._limits = limits
        self._files = files

    async def perform(
        self, step: Step, attempt: int, failures: Counter[Category], allowed: Allowed
    ) -> Done | Unknown:
        """Do the step, beginning with the given attempt; StepFailed, on record, when it failed for good.

        `allowed` is awaited before every further attempt: what was allowed then may not be allowed now.
        """
        reduced = failures[Category.RESOURCE] > 0
        while True:
            try:
                return await self._attempt(step, attempt, reduced)
            except OutcomeUnknown as error:
                return Unknown(attempt, error.detail)
            except (Fenced, StoreError):
                raise
            except BelayerError as error:
                move = await self.failed(step, attempt, failures, error)
                reduced = reduced or move.reduce
                attempt += 1
                await allowed()

    async def failed(
        self, step: Step, attempt: int, failures: Counter[Category], error: BelayerError
    ) -> Again:
        """Count a failed attempt; when there may be another, return after its preparation; else StepFailed."""
        policy = self._policy if step.act.retries is None else RetryPolicy(retries=step.act.retries)
        failures[error.category] += 1
        move = policy.move_after(failures[error.category], error.category, random.random())
        if isinstance(error, CircuitOpen) and step.act.guard and not step.act.guard.patient:
            move = None  # there is something else to try
        if step.act.foregone:
            move = None
        if move is None:
            await self._give_up(step, attempt, error)
            raise StepFailed(step.key, error.problem()) from error
        await self._prepare(step, attempt, error, move)
        return move

    async def refuse(self, step: Step, error: BelayerError) -> None:
        """Record that the step was not done, because it may not be."""
        await self._recorder.append(
            _changed(step, 1, StepStatus.FAILED, step.input, problem=error.problem(), seconds=0.0)
        )

    async def _attempt(self, step: Step, attempt: int, reduced: bool) -> Done:
        guard = step.act.guard
        if guard is None or (guard.rate is None and guard.at_once is None):
            return await self._admitted(step, attempt, reduced)

        async def waits(limit: Literal["rate", "concurrency"], delay: float | None) -> None:
            if delay is None or delay >= _WORTH_TELLING:
                await self._recorder.append(
                    LimitMet(key=step.key, name=step.act.name, limit=limit, delay=delay)
                )

        hosts = guard.reach(*step.args, **step.kwargs).hosts
        async with self._limits.turn(step.act.name, guard.rate, guard.at_once, hosts, waits):
            return await self._admitted(step, attempt, reduced)

    async def _admitted(self, step: Step, attempt: int, reduced: bool) -> Done:
        breaker = Breaker() if step.act.foregone else self._breakers.of(step.act.name)
        if breaker.state is not BreakerState.CLOSED:
            await self._admit(step, breaker)
        try:
            if step.act.effect is Effect.READ:
                self._recorder.show(
                    "step", key=step.key, name=step.act.name, status="running", attempt=attempt
                )
            else:
                await self._begin(step, attempt)
            completed = await self._act(step, attempt, reduced)
        except BelayerError as error:
            await self._count_failure(step, breaker, error)
            raise
        except BaseException:
            breaker.left()
            raise
        if breaker.failures:
            await self._count_success(step, breaker)
        (record,) = await self._recorder.append(completed)
        recorded = record.event()
        assert isinstance(recorded, StepChanged)
        return Done(recorded)

    async def _admit(self, step: Step, breaker: Breaker) -> None:
        before = breaker.state
        wait = breaker.wait(self._clock.monotonic())
        if wait > 0:
            raise CircuitOpen(
                f"{step.act.name} failed so often lately that it is left alone for another {wait:.0f} seconds.",
                "It is tried again by itself after that; check the other side.",
            )
        if breaker.state is not before:
            await self._recorder.append(BreakerChanged(name=step.act.name, state=breaker.state.value))
        await self._look_first(step, breaker)

    async def _look_first(self, step: Step, breaker: Breaker) -> None:
        """What can say how it is need not be tried on a real call."""
        guard = step.act.guard
        if guard is None or guard.health is None:
            return
        unwell = await guard.health()
        if unwell is not None:
            error = CircuitOpen(f"{step.act.name} is still not well: {unwell}", "Check the other side.")
            await self._count_failure(step, breaker, error)
            raise error

    async def _begin(self, step: Step, attempt: int) -> None:
        """An effect is on record before it happens, with the files as they were."""
        files = await self._files.snapshot() if self._files is not None else None
        try:
            await self._recorder.begin(
                _changed(
                    step,
                    attempt,
                    StepStatus.RUNNING,
                    step.input,
                    idempotency_key=step.idempotency_key,
                    workspace=files,
                )
            )
        except asyncio.CancelledError:
            # The beginning may be on record all the same, and nothing has happened.
            await self._recorder.append(_changed(step, attempt, StepStatus.PENDING, step.input))
            raise

    async def _act(self, step: Step, attempt: int, reduced: bool) -> StepChanged:
        """Do it; what is to be recorded of it."""
        act = step.act
        under_way = StepUnderWay(
            step.key,
            attempt,
            step.idempotency_key,
            reduced,
            self._recorder.show,
            step.permits,
            step.lets_load,
            self._recorder.put,
        )
        token = UNDER_WAY.set(under_way)
        began = self._clock.monotonic()
        try:
            timeout = act.timeout
            if timeout is not None and reduced:
                timeout *= _LONGER_WHEN_REDUCED
            with _Deadline(self._clock, timeout, act.name):
                value = await act(*step.args, **step.kwargs)
            output = await self._recorder.keep(value)
            if output.aside is None:
                act.check(output.value)
        except asyncio.CancelledError as error:
            if not _is_being_cancelled():
                raise _cancelled_itself(act) from error
            if act.effect is not Effect.READ:
                files = await self._files_after(step)
                await self._recorder.append(_changed(step, attempt, StepStatus.PAUSED, workspace=files))
            raise
        except Exception as error:
            if leaves_doubt(act, error):
                raise OutcomeUnknown(
                    f"{act.name} broke off ({type(error).__name__}: {error}); its effect may have happened."
                ) from error
            raise understood(error, act.name) from error
        finally:
            UNDER_WAY.reset(token)
        took = self._clock.monotonic() - began if under_way.seconds is None else under_way.seconds
        given = step.input if act.effect is Effect.READ else None
        return StepChanged(
            key=step.key,
            name=act.name,
            status=StepStatus.COMPLETED,
            attempt=attempt,
            effect=act.effect,
            input=given and given.value,
            output=output.value,
            aside=asides(input=given, output=output) if output.aside or (given and given.aside) else None,
            seconds=round(took, 6),
            usage=under_way.usage,
            workspace=await self._files_after(step),
        )

    async def _files_after(self, step: Step) -> Snapshot | None:
        return None if step.act.effect is Effect.READ else await self.files_now()

    async def files_now(self) -> Snapshot | None:
        """The files as they are. What has happened is recorded even if they cannot be kept."""
        if self._files is None:
            return None
        try:
            return await self._files.snapshot()
        except (BelayerError, OSError) as error:
            _logger.error("files not kept after a step", error=str(error))
            return None

    async def _count_failure(self, step: Step, breaker: Breaker, error: BelayerError) -> None:
        if error.category not in _SPEAKS_AGAINST_THE_OTHER_SIDE or isinstance(error, LimitReached | TooLarge):
            breaker.left()
            return
        before = breaker.state
        breaker.failed(self._clock.monotonic())
        if breaker.state is BreakerState.OPEN and before is not BreakerState.OPEN:
            until = self._clock.now() + timedelta(seconds=breaker.rest)
            await self._recorder.append(BreakerChanged(name=step.act.name, state="open", until=until))

    async def _count_success(self, step: Step, breaker: Breaker) -> None:
        before = breaker.state
        breaker.succeeded()
        if before is not BreakerState.CLOSED:
            await self._recorder.append(BreakerChanged(name=step.act.name, state="closed"))

    async def _prepare(self, step: Step, attempt: int, error: BelayerError, move: Again) -> None:
        delay = move.delay
        if isinstance(error, CircuitOpen):
            rests = self._breakers.of(step.act.name).rests(self._clock.monotonic())
            delay = max(delay, min(rests, self._policy.longest_delay))
        await self._recorder.append(
            Retried(key=step.key, attempt=attempt, delay=delay, problem=error.problem())
        )
        if move.refresh and step.act.refresh is not None:
            await self._refresh(step.act)
        if delay > 0:
            await sleep(self._clock, delay)

    async def _refresh(self, act: Act[..., Any]) -> None:
        """Renew the act's credentials; if that fails, the next attempt says so better than we could."""
        assert act.refresh is not None
        try:
            await act.refresh()
        except Exception as error:  # noqa: BLE001 - foreign code
            _logger.warning(
                "credentials not refreshed", act=act.name, error=f"{type(error).__name__}: {error}"
            )

    async def _give_up(self, step: Step, attempt: int, error: BelayerError) -> None:
        await self._recorder.append(
            _changed(
                step,
                attempt,
                StepStatus.FAILED,
                step.input if step.act.effect is Effect.READ else None,
                problem=error.problem(),
                seconds=0.0,
                workspace=await self._files_after(step),
            )
        )


def _cancelled_itself(act: Act[..., Any]) -> BelayerError:
    if act.repeatable:
        return LogicError(f"{act.name} cancelled itself.", "Let it return or raise an error.")
    return OutcomeUnknown(f"{act.name} cancelled itself; its effect may have happened.")


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Deadline:
    """Cancels what it encloses when the time is over, on whatever clock there is."""

    def __init__(self, clock: Clock, seconds: float | None, name: str) -> None:
        self._clock = clock
        self._seconds = seconds
        self._name = name
        self._expired = False

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._timer = None if self._seconds is None else self._clock.call_later(self._seconds, self._expire)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._expired or self._task is None:
            return
        others = self._task.uncancel()
        if kind is not None and issubclass(kind, asyncio.CancelledError) and others == 0:
            raise StepTimedOut(
                f"{self._name} took longer than {self._seconds:g} seconds and was stopped.",
                "Give it more time, or less to do at once.",
            )

    def _expire(self) -> None:
        if self._task is not None:
            self._expired = True
            self._task.cancel()


def _changed(
    step: Step, attempt: int, status: StepStatus, given: Kept | None = None, **more: Any
) -> StepChanged:
    return StepChanged(
        key=step.key,
        name=step.act.name,
        status=status,
        attempt=attempt,
        effect=step.act.effect,
        input=given and given.value,
        aside=asides(input=given),
        **more,
    )
