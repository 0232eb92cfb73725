"""Short ways to say what a log holds, and a log that runs for as long as a test needs it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast

from belayer.sessions.blobs import Blobs
from belayer.sessions.fork import fork_session
from belayer.sessions.log import Log
from belayer.sessions.portable import import_session
from belayer.sessions.record import GENESIS, Entry, Record, chain
from belayer.sessions.redact import Redactor
from belayer.sessions.store import Proposal, Store
from belayer.vocabulary.clock import Clock, ManualClock, to_micros
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.events.catalog import AnyEvent, to_data
from belayer.vocabulary.events.event import Mode, Status, StepStatus
from belayer.vocabulary.events.lifecycle import Begun, Logged, SessionChanged
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import RequestId, SessionId, new_session_id

AT = datetime(2026, 1, 1, tzinfo=UTC)


def named(number: int) -> SessionId:
    """A session id that sorts by its number."""
    return SessionId(f"0197{number:04x}-0000-7000-8000-{number:012x}")


def asked(number: int = 1) -> RequestId:
    """A request id."""
    return RequestId(f"0198{number:04x}-0000-7000-8000-{number:012x}")


def beginning(
    title: str = "a title",
    *,
    workflow: str = "work",
    mode: Mode = Mode.HITL,
    key: str | None = None,
    status: Status = Status.QUEUED,
    **more: Any,
) -> SessionChanged:
    """The first event of a session."""
    begun = Begun(workflow=workflow, title=title, mode=mode, idempotency_key=key, input={"n": 1})
    return SessionChanged(status=status, begun=begun, **more)


def now_is(status: Status, **more: Any) -> SessionChanged:
    return SessionChanged(status=status, **more)


def taken(epoch: int, driver: str = "driver") -> SessionChanged:
    """A driver takes the session."""
    return SessionChanged(status=Status.RUNNING, epoch=epoch, driver=driver)


def said(text: str = "a line") -> Logged:
    return Logged(text=text)


def stepped(key: str, status: StepStatus = StepStatus.COMPLETED, **more: Any) -> StepChanged:
    return StepChanged(key=key, name="act", status=status, **more)


def question(number: int = 1, **more: Any) -> InputRequested:
    return InputRequested(request_id=asked(number), key=f"ask/{number}", prompt="Which?", **more)


def approval(number: int = 1, digest: str = "d1", shown: Any = "a plan") -> ApprovalRequested:
    return ApprovalRequested(
        request_id=asked(number), key=f"approve/{number}", title="Plan", shown=shown, digest=digest
    )


def entry(event: AnyEvent, at: datetime = AT, stage: str | None = None) -> Entry:
    return Entry(event.type, type(event).version, to_micros(at), to_data(event), stage)


def entries(*events: AnyEvent, at: datetime = AT) -> tuple[Entry, ...]:
    """Entries a second apart."""
    return tuple(entry(event, at + timedelta(seconds=place)) for place, event in enumerate(events))


def records(session_id: SessionId, *events: AnyEvent) -> list[Record]:
    """A log as it would be stored."""
    return chain(session_id, 0, GENESIS, entries(*events))


def creating(session_id: SessionId, *events: AnyEvent, at: datetime = AT) -> Proposal:
    return Proposal(session_id, entries(*(events or (beginning(),)), at=at), creates=True)


def adding(session_id: SessionId, *events: AnyEvent, at: datetime = AT, **conditions: Any) -> Proposal:
    return Proposal(session_id, entries(*(events or (said(),)), at=at), **conditions)


async def put(store: Store, *proposals: Proposal) -> Sequence[list[Record] | Exception]:
    return await store.commit(proposals)


async def create(store: Store, session_id: SessionId, *events: AnyEvent, at: datetime = AT) -> list[Record]:
    """Create a session straight in the store; a refusal is raised."""
    (answer,) = await store.commit([creating(session_id, *events, at=at)])
    if isinstance(answer, Exception):
        raise answer
    return answer


async def add(store: Store, session_id: SessionId, *events: AnyEvent, **conditions: Any) -> list[Record]:
    """Append straight to the store; a refusal is raised."""
    (answer,) = await store.commit([adding(session_id, *events, **conditions)])
    if isinstance(answer, Exception):
        raise answer
    return answer


class Watched:
    """A store that counts its commits and fails when told to: before it writes, or after, when nobody knows."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.sizes: list[int] = []
        self.trouble: StoreError | None = None
        self.strikes: Literal["before", "after"] = "before"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def as_store(self) -> Store:
        return cast("Store", self)

    async def commit(self, proposals: Sequence[Proposal]) -> Sequence[list[Record] | Exception]:
        self._strike("before")
        answers = await self._inner.commit(proposals)
        self._strike("after")
        self.sizes.append(len(proposals))
        return answers

    def commit_now(self, proposals: Sequence[Proposal]) -> Sequence[list[Record] | Exception] | None:
        self._strike("before")
        answers = self._inner.commit_now(proposals)
        self._strike("after")
        if answers is not None:
            self.sizes.append(len(proposals))
        return answers

    def _strike(self, when: Literal["before", "after"]) -> None:
        if self.trouble is not None and self.strikes == when:
            raise self.trouble


@asynccontextmanager
async def writing(
    store: Store, clock: Clock | None = None, redactor: Redactor | None = None
) -> AsyncIterator[Log]:
    """A log that commits what waits until the block ends. Should its writer die, the block is cancelled."""
    log = Log(store, clock or ManualClock(AT), redactor or Redactor())
    raised: BaseException | None = None
    async with asyncio.TaskGroup() as group:
        writer = group.create_task(log.run())
        try:
            yield log
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # raised below, outside the group that would wrap it
            raised = error
        finally:
            writer.cancel()
    if raised is not None:
        raise raised


async def forked(log: Log, store: Store, command: Fork, at: datetime) -> SessionId:
    """A fork of a session that works in no folder."""

    async def nowhere(_shared: Sequence[Record]) -> None:
        return None

    session_id = new_session_id(at)
    await fork_session(log, store, command, session_id, nowhere)
    return session_id


async def imported(log: Log, store: Store, blobs: Blobs, content: bytes) -> SessionId:
    """A session from its file; if it needs a folder, it gets the name of one."""
    return await import_session(log, store, blobs, content, lambda session_id: f"/workspaces/{session_id}")
