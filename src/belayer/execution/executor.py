"""Do a thing once: record the beginning of an effect, try, retry by category, record the outcome.

The only retrier there is. What it cannot know, it leaves in doubt and says so.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from belayer.execution.act import Act
from belayer.execution.breaker import Breaker, BreakerState
from belayer.execution.failures import leaves_doubt, understood
from belayer.execution.recorder import Recorder
from belayer.execution.retry import Again, RetryPolicy
from belayer.execution.step import UNDER_WAY, StepUnderWay
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import (
    BelayerError,
    Category,
    CircuitOpen,
    Fenced,
    OutcomeUnknown,
    StepFailed,
    StepTimedOut,
    StoreError,
)
from belayer.vocabulary.events.event import Effect, Json, StepStatus, Usage
from belayer.vocabulary.events.steps import BreakerChanged, Retried, StepChanged

_SPEAKS_AGAINST_THE_OTHER_SIDE = (Category.TRANSIENT, Category.RESOURCE)
_LONGER_WHEN_REDUCED = 2.0


@dataclass(slots=True)
class Step:
    """An act with its arguments under its key."""

    key: str
    act: Act[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    input: Json
    idempotency_key: str


@dataclass(slots=True)
class Done:
    """The step took place; its output is on record."""

    output: Json
    spent: Usage


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

    def states(self) -> dict[str, BreakerState]:
        return {name: breaker.state for name, breaker in self._by_name.items()}


class Executor:
    """Performs the steps of one driven session."""

    def __init__(self, recorder: Recorder, clock: Clock, breakers: Breakers, policy: RetryPolicy) -> None:
        self._recorder = recorder
        self._clock = clock
        self._breakers = breakers
        self._policy = policy

    async def perform(self, step: Step, attempt: int) -> Done | Unknown:
        """Do the step, beginning with the given attempt; StepFailed, on record, when it failed for good."""
        policy = self._policy if step.act.retries is None else RetryPolicy(retries=step.act.retries)
        reduced = False
        while True:
            try:
                return await self._attempt(step, attempt, reduced)
            except OutcomeUnknown as error:
                return Unknown(attempt, error.detail)
            except (Fenced, StoreError):
                raise
            except BelayerError as error:
                move = policy.move_after(attempt, error.category, random.random())
                if move is None:
                    await self._give_up(step, attempt, error)
                    raise StepFailed(step.key, error.problem()) from error
                await self._prepare(step, attempt, error, move)
                reduced = reduced or move.reduce
                attempt += 1

    async def _attempt(self, step: Step, attempt: int, reduced: bool) -> Done:
        breaker = self._breakers.of(step.act.name)
        await self._admit(step, breaker)
        try:
            await self._announce(step, attempt)
            output, usage, seconds = await self._act_or_stop(step, attempt, reduced)
        except BelayerError as error:
            await self._count_failure(step, breaker, error)
            raise
        except BaseException:
            breaker.left()
            raise
        await self._count_success(step, breaker)
        (record,) = await self._recorder.append(_completed(step, attempt, output, usage, seconds))
        recorded = record.event()
        assert isinstance(recorded, StepChanged)
        return Done(recorded.output, recorded.spent())

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

    async def _announce(self, step: Step, attempt: int) -> None:
        """An effect is on record before it happens; whatever only reads is just shown."""
        if step.act.effect is Effect.READ:
            self._recorder.show("step", key=step.key, name=step.act.name, status="running", attempt=attempt)
            return
        try:
            await self._recorder.begin(
                _changed(step, attempt, StepStatus.RUNNING, step.input, idempotency_key=step.idempotency_key)
            )
        except asyncio.CancelledError:
            # The beginning may be on record all the same, and nothing has happened.
            await self._recorder.append(_changed(step, attempt, StepStatus.PENDING, step.input))
            raise

    async def _act_or_stop(self, step: Step, attempt: int, reduced: bool) -> tuple[Json, Usage, float]:
        try:
            return await self._act(step, attempt, reduced)
        except asyncio.CancelledError:
            if step.act.effect is not Effect.READ:
                await self._recorder.append(_changed(step, attempt, StepStatus.PAUSED))
            raise

    async def _act(self, step: Step, attempt: int, reduced: bool) -> tuple[Json, Usage, float]:
        under_way = StepUnderWay(
            step.key,
            attempt,
            step.idempotency_key,
            reduced,
            lambda type_, data: self._recorder.show(type_, **data),
        )
        token = UNDER_WAY.set(under_way)
        began = self._clock.monotonic()
        try:
            timeout = step.act.timeout
            if timeout is not None and reduced:
                timeout *= _LONGER_WHEN_REDUCED
            with _Deadline(self._clock, timeout, step.act.name):
                value = await step.act(*step.args, **step.kwargs)
            output = await self._recorder.keep(value)
            step.act.check(output)
        except Exception as error:
            if leaves_doubt(step.act, error):
                raise OutcomeUnknown(
                    f"{step.act.name} broke off ({type(error).__name__}: {error}); its effect may have happened."
                ) from error
            raise understood(error, step.act.name) from error
        finally:
            UNDER_WAY.reset(token)
        return output, under_way.usage, self._clock.monotonic() - began

    async def _count_failure(self, step: Step, breaker: Breaker, error: BelayerError) -> None:
        if error.category not in _SPEAKS_AGAINST_THE_OTHER_SIDE:
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
            delay = max(delay, min(self._breakers.of(step.act.name).rest, self._policy.longest_delay))
        await self._recorder.append(
            Retried(key=step.key, attempt=attempt, delay=delay, problem=error.problem())
        )
        if move.refresh and step.act.refresh is not None:
            await step.act.refresh()
        if delay > 0:
            await sleep(self._clock, delay)

    async def _give_up(self, step: Step, attempt: int, error: BelayerError) -> None:
        await self._recorder.append(
            _changed(
                step,
                attempt,
                StepStatus.FAILED,
                step.input if step.act.effect is Effect.READ else None,
                problem=error.problem(),
                seconds=0.0,
            )
        )


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


def _changed(step: Step, attempt: int, status: StepStatus, given: Json = None, **more: Any) -> StepChanged:
    return StepChanged(
        key=step.key,
        name=step.act.name,
        status=status,
        attempt=attempt,
        effect=step.act.effect,
        input=given,
        **more,
    )


def _completed(step: Step, attempt: int, output: Json, usage: Usage, seconds: float) -> StepChanged:
    return _changed(
        step,
        attempt,
        StepStatus.COMPLETED,
        step.input if step.act.effect is Effect.READ else None,
        output=output,
        seconds=round(seconds, 6),
        usage=usage if usage.tokens or usage.usd else None,
    )
