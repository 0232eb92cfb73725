"""One session being driven: taken, replayed, run until it ends or has to wait, and stopped when a person says so."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from belayer.execution.drive import Drive
from belayer.execution.executor import Breakers, Executor
from belayer.execution.journal import Journal
from belayer.execution.journal import read as read_journal
from belayer.execution.limits import Limits
from belayer.execution.recorder import Kept, Recorder, asides
from belayer.execution.retry import RetryPolicy
from belayer.execution.rulebook import Rulebook
from belayer.execution.run import Run
from belayer.execution.suspended import Halted, Suspended
from belayer.sessions.blobs import Blobs
from belayer.sessions.feed import Feed
from belayer.sessions.lease import Drivers
from belayer.sessions.log import Log
from belayer.sessions.record import Record, check_chain
from belayer.sessions.redact import Redactor
from belayer.sessions.rows import SessionRow
from belayer.sessions.store import Store
from belayer.vocabulary.clock import Clock, sleep
from belayer.vocabulary.errors import (
    BelayerError,
    CorruptLog,
    Fenced,
    LogicError,
    Moved,
    NotReady,
    NotRunning,
    ReplayMismatch,
    StepFailed,
    UnfitInput,
    WorkspaceMoved,
)
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.lifecycle import Begun, ErrorMet, SessionChanged
from belayer.vocabulary.ids import SessionId
from belayer.workflows.workflow import Workflows
from belayer.workspace.workspace import Workspaces

_logger = structlog.get_logger()

Ending = list[SessionChanged | ErrorMet]

_CORRECT_IT = "This is an error in the workflow; correct it, then rewind the session or start anew."


@dataclass(frozen=True, slots=True)
class Parts:
    """What it takes to drive sessions."""

    store: Store
    log: Log
    feed: Feed
    blobs: Blobs
    redactor: Redactor
    clock: Clock
    drivers: Drivers
    workflows: Workflows
    breakers: Breakers
    retry: RetryPolicy
    limits: Limits
    rulebook: Rulebook
    workspaces: Workspaces
    grace: float
    sandbox: str | None = None


@dataclass(slots=True)
class Driving:
    """The drive of one session, from taking it to letting go."""

    parts: Parts
    session_id: SessionId
    _drive: Drive | None = None
    _halt: asyncio.Future[None] | None = None
    _stopped: str | None = None
    _stopping_now: bool = False

    def stop(self, reason: str, *, now: bool) -> None:
        """Begin nothing new; with `now`, also stop what is under way."""
        self._stopped = reason
        if self._drive is not None:
            self._drive.stopped = reason
        if now:
            self._stopping_now = True
            self._halted()

    async def go(self) -> bool:
        """Drive the session until it waits, ends, is stopped, or is somebody else's; whether it was driven at all."""
        while self._stopped is None:
            drive = await self._take()
            if drive is None:
                return False
            if not await self._once(drive):
                break
        return True

    async def _take(self) -> Drive | None:
        """Raise the epoch, so that whoever drove it before can record nothing more; None if it is not to be driven.

        The whole log is checked and read first: one that is damaged, or newer than this code, is not touched.
        """
        while True:
            row = await self.parts.store.row(self.session_id)
            if row is None or not _takeable(row, self.parts.drivers):
                return None
            records = await self.parts.store.read(self.session_id, 0, row.last_seq)
            check_chain(records)
            if len(records) < row.last_seq:
                raise CorruptLog(self.session_id, len(records) + 1, "the record is missing")
            begun, journal = _begun(records), read_journal(records)
            taking = SessionChanged(
                status=Status.RUNNING,
                epoch=row.epoch + 1,
                driver=self.parts.drivers.me,
                sandbox=self.parts.sandbox,
            )
            try:
                await self.parts.log.append(
                    self.session_id, [taking], epoch=row.epoch, expected_seq=row.last_seq
                )
            except (Moved, Fenced):
                continue
            return self._prepared(begun, journal, row.epoch + 1, row.last_seq + 1)

    def _prepared(self, begun: Begun, journal: Journal, epoch: int, last_seq: int) -> Drive:
        parts = self.parts
        if journal.rehomed is not None:
            begun = begun.model_copy(update={"workspace": journal.rehomed.workspace, "policy": None})
        recorder = Recorder(
            parts.log, parts.feed, parts.blobs, parts.redactor, parts.clock, self.session_id, epoch, last_seq
        )
        files = parts.workspaces.of(Path(begun.workspace)) if begun.workspace else None
        executor = Executor(recorder, parts.clock, parts.breakers, parts.retry, parts.limits, files)
        drive = Drive(self.session_id, begun, journal, recorder, executor, journal.usage)
        drive.stopped = self._stopped
        self._drive = drive
        return drive

    async def _once(self, drive: Drive) -> bool:
        """Replay and run once; whether to go on at once, because somebody wrote in the meantime."""
        ending = await self._work(self._run(drive))
        if ending is None:
            return False
        try:
            await drive.recorder.end(*ending)
        except Moved:
            return True
        except (NotRunning, Fenced):
            return False
        return False

    async def _run(self, drive: Drive) -> Ending | None:
        """How the session stands once its workflow has gone as far as it can."""
        run = Run(drive)
        try:
            workflow = self.parts.workflows.named(drive.begun.workflow)
            await self._make_ready(drive)
            kept = await drive.recorder.keep(await workflow(run, drive.begun.input))
            ending = _completed(kept)
        except (NotReady, UnfitInput, WorkspaceMoved) as error:
            ending = _held(error)
        except BelayerError as error:
            ending = _failed(error)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            ending = _failed(LogicError("The workflow cancelled itself.", _CORRECT_IT))
        except (Exception, BaseExceptionGroup, Suspended, Halted) as error:  # one of the two doors
            ending = _failed(LogicError(f"The workflow failed: {type(error).__name__}: {error}", _CORRECT_IT))
            if run.left is None and drive.halted is None:
                _logger.exception("workflow raised", error=type(error).__name__)
        return self._left(run, drive) if run.left or drive.halted else ending

    async def _make_ready(self, drive: Drive) -> None:
        """See that the rules can be read and the files are there, as the log says they are."""
        drive.policy = self.parts.rulebook.rules()
        if drive.begun.workspace is None:
            return
        workspace = self.parts.workspaces.of(Path(drive.begun.workspace))
        await workspace.check()
        if drive.journal.unrestored is not None:  # a rewind was stopped before it came to the files
            await drive.recorder.append(await workspace.restore(drive.journal.unrestored))

    def _left(self, run: Run, drive: Drive) -> Ending | None:
        """What a run that left amounts to, whatever its workflow made of that."""
        if drive.halted is not None:
            error = drive.halted.error
            if isinstance(error, ReplayMismatch):
                return _held(error)
            _logger.warning("drive ended", problem=error.detail)
            return None
        if self._stopped is not None:
            return [SessionChanged(status=Status.QUEUED, reason=self._stopped)]
        assert run.left is not None
        return [SessionChanged(status=Status.WAITING, reason=run.left.reason, wake_at=run.left.wake_at)]

    async def _work(self, run: Coroutine[Any, Any, Ending | None]) -> Ending | None:
        """Await the run; when the session is stopped: cancel, give it grace, then leave it behind."""
        work = asyncio.create_task(run)
        self._halt = asyncio.get_running_loop().create_future()
        work.add_done_callback(lambda _: self._halted())
        try:
            if not self._stopping_now:
                await self._halt
            return work.result() if work.done() else None
        finally:
            if not work.done():
                await self._give_grace(work)

    def _halted(self) -> None:
        if self._halt is not None and not self._halt.done():
            self._halt.set_result(None)

    async def _give_grace(self, work: asyncio.Task[Any]) -> None:
        for _ in range(2):
            work.cancel()
            patience = asyncio.create_task(sleep(self.parts.clock, self.parts.grace))
            await asyncio.wait({work, patience}, return_when=asyncio.FIRST_COMPLETED)
            patience.cancel()
            if work.done():
                return
        _logger.error("step would not stop and was left behind", grace=self.parts.grace)


def is_free(driver: str | None, drivers: Drivers) -> bool:
    """Whether nobody else is, or may still be, at work on a session with this driver."""
    return driver is None or driver == drivers.me or not drivers.alive(driver)


def _takeable(row: SessionRow, drivers: Drivers) -> bool:
    return row.status in (Status.QUEUED, Status.RUNNING) and is_free(row.driver, drivers)


def _begun(records: list[Record]) -> Begun:
    first = records[0].event()
    if not isinstance(first, SessionChanged) or first.begun is None:
        raise CorruptLog(records[0].session_id, 1, "it does not say what the session is for")
    return first.begun


def _completed(kept: Kept) -> Ending:
    return [SessionChanged(status=Status.COMPLETED, result=kept.value, aside=asides(result=kept))]


def _held(error: BelayerError) -> Ending:
    """The session is not at fault: it goes on once the code is as it should be."""
    return [ErrorMet(problem=error.problem()), SessionChanged(status=Status.PAUSED, reason=error.detail)]


def _failed(error: BelayerError) -> Ending:
    step = error.key if isinstance(error, StepFailed) else None
    return [
        ErrorMet(problem=error.problem(), step=step),
        SessionChanged(status=Status.FAILED, reason=error.detail),
    ]
