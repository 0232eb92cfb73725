"""What the log already knows about each key: the memory that a replay runs on. Read once, then only looked up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from belayer.sessions.record import Record, in_force
from belayer.vocabulary.clock import to_micros
from belayer.vocabulary.errors import Category
from belayer.vocabulary.events.event import Effect, Snapshot, StepStatus, Usage
from belayer.vocabulary.events.lifecycle import (
    CheckpointMade,
    Logged,
    Rehomed,
    SessionChanged,
    WorkspaceRestored,
)
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded
from belayer.vocabulary.events.steps import Planned, Retried, StepChanged
from belayer.vocabulary.ids import RequestId
from belayer.vocabulary.rules import Rule

GATE = "#gate/"
STEP, SKIP, QUESTION, APPROVAL = "step", "skip", "question", "approval"
Moment = tuple[int, int]
"""When something came (microseconds), and its place in the log."""
_ENDED = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)


@dataclass(slots=True)
class Trace:
    """What happened under one step's key."""

    first: StepChanged
    last: StepChanged
    failed_attempt: int = 0
    failures: Counter[Category] = field(default_factory=Counter[Category])

    def retried(self, event: Retried) -> None:
        self.failed_attempt = event.attempt
        self.failures[event.problem.category] += 1

    @property
    def outcome(self) -> StepChanged | None:
        return self.last if self.last.status in _ENDED else None

    @property
    def attempts(self) -> int:
        return max(self.last.attempt, self.failed_attempt)

    @property
    def in_doubt(self) -> bool:
        """Begun, not ended, and not known to have failed or never to have begun at all."""
        return (
            self.outcome is None
            and self.last.status is not StepStatus.PENDING
            and self.last.attempt > self.failed_attempt
        )


@dataclass(slots=True)
class Journal:
    """One session's recorded past, by key."""

    last_seq: int = 0
    generation: int = 0
    usage: Usage = field(default_factory=Usage)
    steps: dict[str, Trace] = field(default_factory=dict[str, Trace])
    requests: dict[str, InputRequested | ApprovalRequested] = field(
        default_factory=dict[str, InputRequested | ApprovalRequested]
    )
    answers: dict[RequestId, Responded] = field(default_factory=dict[RequestId, Responded])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, Moment] = field(default_factory=dict[str, Moment])
    grants: int = 1
    remembered: list[Rule] = field(default_factory=list[Rule])
    unrestored: Snapshot | None = None
    rehomed: Rehomed | None = None

    def answer_to(self, request: InputRequested | ApprovalRequested) -> Responded | None:
        return self.answers.get(request.request_id)

    def knows(self, key: str) -> bool:
        """Whether anything is on record under this key, and be it the question whether it may be done."""
        return key in self.kinds or f"{GATE}{key}/1" in self.kinds

    def ready_since(self, key: str) -> Moment | None:
        """When the last thing came that this key waited for: its outcome, or the answers and sleeps under it.

        None for a key that has waited for nothing yet, or still does.
        """
        if key in self.ended:
            return self.ended[key]
        under = f"{key}/"
        if any(self.answer_to(one) is None for name, one in self.requests.items() if name.startswith(under)):
            return None
        ends = [moment for name, moment in self.ended.items() if name.startswith(under)]
        sleeps = [trace.first.wake_at for name, trace in self.steps.items() if name.startswith(under)]
        return max([*ends, *((to_micros(wake_at), 0) for wake_at in sleeps if wake_at)], default=None)


def read(records: Sequence[Record]) -> Journal:
    """The journal of a whole log."""
    journal = Journal(last_seq=records[-1].seq if records else 0)
    kept = in_force(records)
    copied_at = _rehome(journal, records)
    _read_kept(journal, kept, copied_at)
    if len(kept) < len(records):
        _count_dropped(journal, records, {record.seq for record in kept})
    for request in journal.requests.values():
        journal.grants += _is_grant(journal, request)
        if (rule := _remembered(journal, request)) is not None:
            journal.remembered.append(rule)
    return journal


def _rehome(journal: Journal, records: Sequence[Record]) -> int:
    """Where a copy begins to go its own way, whatever was rewound since; 0 for a session that is no copy."""
    for record in reversed(records):
        if record.type == "rehomed":
            event = record.event()
            assert isinstance(event, Rehomed)
            journal.rehomed = event
            return record.seq
    return 0


def _read_kept(journal: Journal, records: Iterable[Record], copied_at: int) -> None:
    asked: dict[RequestId, str] = {}
    for record in records:
        match event := record.event():
            case StepChanged():
                _step(journal, event)
                if event.status in _ENDED:
                    journal.ended[event.key] = (record.at, record.seq)
            case Retried():
                if event.key in journal.steps:
                    journal.steps[event.key].retried(event)
            case InputRequested() | ApprovalRequested():
                journal.requests[event.key] = event
                asked[event.request_id] = event.key
                journal.kinds[event.key] = QUESTION if isinstance(event, InputRequested) else APPROVAL
            case Responded() if record.seq < copied_at and _drop_gate(journal, event):
                pass
            case Responded():
                journal.answers[event.request_id] = event
                if event.request_id in asked:
                    journal.ended[asked[event.request_id]] = (record.at, record.seq)
            case SessionChanged() if event.rewound_to is not None:
                journal.generation = record.seq
                journal.unrestored = event.restores if record.seq > copied_at else None
            case WorkspaceRestored():
                journal.unrestored = None
            case Logged() | Planned() | CheckpointMade() if event.key is not None:
                journal.kinds[event.key] = event.type
            case _:
                pass


def _drop_gate(journal: Journal, answer: Responded) -> bool:
    """Forget a call's approval that was given to the session this one is a copy of; whether it was one."""
    for key, request in journal.requests.items():
        if request.request_id == answer.request_id and key.startswith(GATE):
            del journal.requests[key]
            return True
    return False


def _step(journal: Journal, event: StepChanged) -> None:
    journal.usage = journal.usage.plus(event.spent())
    trace = journal.steps.get(event.key)
    if trace is None:
        journal.steps[event.key] = Trace(event, event)
        journal.kinds[event.key] = _kind(event)
    else:
        trace.last = event


def _kind(event: StepChanged) -> str:
    """A mere value (the time, a random number, a sleep) reads, and takes no time."""
    if event.status is StepStatus.SKIPPED:
        return SKIP
    return STEP if event.effect is not Effect.READ or event.seconds is not None else event.name


def _count_dropped(journal: Journal, records: Sequence[Record], kept: set[int]) -> None:
    for record in records:
        if record.seq not in kept and record.type == "step":
            event = record.event()
            if isinstance(event, StepChanged):
                journal.usage = journal.usage.plus(event.spent())


def _remembered(journal: Journal, request: InputRequested | ApprovalRequested) -> Rule | None:
    """What a person does not want to be asked again in this session."""
    answer = journal.answer_to(request)
    if answer is None or not answer.approved or answer.remember is None:
        return None
    return request.offers if isinstance(request, ApprovalRequested) else None


def _is_grant(journal: Journal, request: InputRequested | ApprovalRequested) -> bool:
    answer = journal.answer_to(request)
    return (
        isinstance(request, InputRequested)
        and request.purpose == "budget"
        and answer is not None
        and answer.value == "extend"
    )
