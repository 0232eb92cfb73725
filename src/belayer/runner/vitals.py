"""How this server is: what it did is counted as it is committed, what there is now is asked for when somebody looks.

Names of acts come from whoever writes workflows and plans; only those of the catalog are told apart.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from belayer.execution.breaker import BreakerState
from belayer.execution.executor import Breakers
from belayer.sessions.history import History, ToolMetrics
from belayer.sessions.record import Record
from belayer.sessions.store import HOUR, Counts, Hour, Store
from belayer.vocabulary.clock import Clock, to_micros
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.event import StepStatus
from belayer.vocabulary.events.steps import NOTHING, StepChanged

OTHER = "other"
_HOURS = 24


@dataclass(slots=True)
class Tally:
    """What the calls of one tool came to since this process began."""

    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0

    def add(self, event: StepChanged) -> None:
        used = event.usage or NOTHING
        self.succeeded += event.status is StepStatus.COMPLETED
        self.failed += event.status is StepStatus.FAILED
        self.retried += event.attempt - 1
        self.seconds += event.seconds or 0.0
        self.tokens += used.tokens
        self.usd += used.usd


@dataclass(frozen=True, slots=True)
class Reading:
    """How things are at one moment. `past` reaches further back than `tallies`, which begin with the process."""

    at: datetime
    counts: Counts
    tallies: Mapping[str, Tally]
    past: Sequence[ToolMetrics]
    breakers: Mapping[str, BreakerState]


@dataclass(slots=True)
class Vitals:
    """Listens to the log, and reads everything off when asked."""

    store: Store
    history: History
    breakers: Breakers
    tools: Collection[str]
    clock: Clock
    _tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])

    def hear(self, records: Sequence[Record]) -> None:
        """Count the steps that ended. A log that begins with more than one event was written elsewhere."""
        if records[0].seq == 1 and len(records) > 1:
            return
        for record in records:
            if record.type == "step":
                self._count(record)

    async def reading(self) -> Reading:
        """Everything that is quick to find out."""
        return Reading(
            at=self.clock.now(),
            counts=await self.store.counts(),
            tallies=dict(self._tallies),
            past=grouped(self.history.metrics(), self.tools),
            breakers={name: self.breakers.of(name).state for name in self.tools},
        )

    async def last_hours(self, count: int = _HOURS) -> list[Hour]:
        """The last hours, this one included, the earliest first; also those in which nothing happened."""
        now = to_micros(self.clock.now())
        first = now - now % HOUR - (count - 1) * HOUR
        known = {hour.at: hour for hour in await self.store.hours(first)}
        wanted = [first + place * HOUR for place in range(count)]
        return [known.get(at, Hour(at)) for at in wanted]

    def _count(self, record: Record) -> None:
        try:
            event = record.event()
        except StoreError:
            return
        if isinstance(event, StepChanged) and _has_ended(event):
            name = event.name if event.name in self.tools else OTHER
            self._tallies.setdefault(name, Tally()).add(event)


def grouped(past: Sequence[ToolMetrics], tools: Collection[str]) -> list[ToolMetrics]:
    """The past of every tool of the catalog, and of everything else as one. Pure."""
    known = {one.name: one for one in past}
    others = [one for one in past if one.name not in tools]
    own = [known.get(name, ToolMetrics(name=name)) for name in sorted(tools)]
    return [*own, _together(others)] if others else own


def _has_ended(event: StepChanged) -> bool:
    """Whether it counts: a mere value (the time, a random number) takes no seconds, and is no call."""
    return event.seconds is not None and event.status in (StepStatus.COMPLETED, StepStatus.FAILED)


def _together(past: Sequence[ToolMetrics]) -> ToolMetrics:
    """Several as one. Quantiles of different things have no sum."""
    calls, succeeded = sum(one.calls for one in past), sum(one.succeeded for one in past)
    return ToolMetrics(
        name=OTHER,
        calls=calls,
        succeeded=succeeded,
        failed=sum(one.failed for one in past),
        retried=sum(one.retried for one in past),
        success_rate=succeeded / calls if calls else None,
        seconds=sum(one.seconds for one in past),
        tokens=sum(one.tokens for one in past),
        usd=sum(one.usd for one in past),
        last_at=max((one.last_at for one in past if one.last_at), default=None),
    )
