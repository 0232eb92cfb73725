"""How far a plan is and when it will be done, told to whoever watches. Keeps nothing that the log needs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from belayer.execution.estimate import Ahead, Durations, Eta, is_early, remaining
from belayer.execution.run import Run
from belayer.sessions.history import History
from belayer.tools.tool import AnyTool, Given
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.plain import encoded
from belayer.workflows.plan.check import CheckedPlan

_TOLD_EVERY = 1.0
_AT_MOST_EVERY = 0.2


@dataclass(slots=True)
class Forecast:
    """The outlook of one plan."""

    plan: CheckedPlan
    tools: Toolbox
    history: History
    clock: Clock
    _began: dict[str, float] = field(default_factory=dict[str, float])
    _ended: set[str] = field(default_factory=set[str])
    _known: dict[str, Durations | None] = field(default_factory=dict[str, Durations | None])
    _run: Run | None = None
    _told_at: float = float("-inf")

    @asynccontextmanager
    async def shown(self, run: Run) -> AsyncGenerator[None]:
        """Tell those who watch, at every step and every second, for as long as the plan is carried out."""
        self._run = run
        telling = asyncio.create_task(self._keep_telling())
        try:
            yield
        finally:
            telling.cancel()

    def began(self, step_id: str) -> None:
        self._began[step_id] = self.clock.monotonic()
        self._tell()

    def ended(self, step_id: str) -> None:
        early = step_id if self._is_watched() and self._is_early(step_id) else None
        self._ended.add(step_id)
        self._tell(at_once=early is not None or len(self._ended) == len(self.plan.order), early=early)

    def eta(self) -> Eta:
        """When the rest will be done, as far as the past allows to say."""
        ahead = [self._ahead(step_id) for step_id in self.plan.order if step_id not in self._ended]
        return remaining(ahead, self.plan.plan.parallel)

    async def _keep_telling(self) -> None:
        while True:
            await sleep(self.clock, _TOLD_EVERY)
            self._tell()

    def _is_watched(self) -> bool:
        return self._run is not None and self._run.is_watched

    def _is_early(self, step_id: str) -> bool:
        """Whether the step took less time than expected."""
        ahead = self._ahead(step_id)
        return (
            ahead.elapsed is not None
            and ahead.durations is not None
            and is_early(ahead.durations, ahead.size, ahead.elapsed)
        )

    def _tell(self, *, at_once: bool = False, early: str | None = None) -> None:
        run, now = self._run, self.clock.monotonic()
        if run is None or not run.is_watched or (now - self._told_at < _AT_MOST_EVERY and not at_once):
            return
        self._told_at = now
        done, of = len(self._ended), len(self.plan.order)
        run.show(
            "progress",
            percent=round(100 * done / of, 1),
            step=min(done + 1, of),
            of=of,
            eta=_shape(self.eta()),
            **({"early": early} if early else {}),
        )

    def _ahead(self, step_id: str) -> Ahead:
        step = self.plan.step(step_id)
        try:
            tool, params = self.tools.resolve(step.tool, step.params)
        except BelayerError:
            return Ahead(step_id, tuple(self.plan.after[step_id]), None, 0.0, None, None)
        began = self._began.get(step_id)
        return Ahead(
            key=step_id,
            needs=tuple(self.plan.after[step_id]),
            durations=self._durations(tool.name),
            size=float(len(encoded(params))),
            known=_known(tool, params),
            elapsed=None if began is None else self.clock.monotonic() - began,
        )

    def _durations(self, name: str) -> Durations | None:
        if name not in self._known:
            self._known[name] = Durations.of(self.history.samples(name))
        return self._known[name]


def _known(tool: AnyTool, params: Given) -> float | None:
    """What the tool itself can say of how long it takes."""
    if tool.estimate is None:
        return None
    try:
        return tool.estimate(tool.read(params))
    except BelayerError:
        return None


def _shape(eta: Eta) -> Json:
    """As PROTOCOL.md has it; `confidence` is "unknown" where the past does not suffice."""
    return {
        "low": eta.low and round(eta.low, 1),
        "mid": eta.mid and round(eta.mid, 1),
        "high": eta.high and round(eta.high, 1),
        "confidence": "unknown" if eta.confidence is None else eta.confidence,
    }
