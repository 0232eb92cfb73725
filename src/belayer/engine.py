"""The engine as programs use it: start, follow, answer, stop, go back. The CLI and the API are built on this."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from belayer.execution.rulebook import Rulebook
from belayer.runner.driving import Parts
from belayer.runner.vitals import Vitals
from belayer.sessions.blobs import whole
from belayer.sessions.decide import ask_anew, decide
from belayer.sessions.feed import Frame, TooSlow
from belayer.sessions.fork import fork_session
from belayer.sessions.history import History, load
from belayer.sessions.integrity import Finding, verify
from belayer.sessions.portable import export_session, import_session
from belayer.sessions.prune import all_rows, choose, remove
from belayer.sessions.record import Record, check_chain
from belayer.sessions.redact import MARK
from belayer.sessions.rewind import restoring, snapshot_at, workspace_of
from belayer.sessions.rows import SessionRow
from belayer.sessions.state import SessionState, advance, copied, fold, needs_fold
from belayer.sessions.store import Changes, Mark, Wanted
from belayer.tools.mcp_servers import McpServers
from belayer.tools.suggestions import Suggestion, suggested
from belayer.tools.toolbox import Toolbox
from belayer.tools.trial import Trial, calls_of, tried
from belayer.tools.view import ToolView, view_tool
from belayer.vocabulary.commands import (
    Answer,
    Approve,
    Cancel,
    Command,
    Fork,
    Interrupt,
    MakeCheckpoint,
    Pause,
    Reject,
    Resume,
    Rewind,
    Start,
)
from belayer.vocabulary.errors import (
    AmbiguousPrefix,
    CorruptLog,
    DigestChanged,
    KeyReused,
    Problem,
    SessionFailed,
    StoreError,
    TooManySessions,
    UnfitInput,
    UnknownArtifact,
    UnknownRequest,
    UnknownSession,
)
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import FINAL, Budget, Json, Mode, Status
from belayer.vocabulary.events.lifecycle import Begun, Logged, SessionChanged
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.ids import RequestId, SessionId, new_session_id
from belayer.vocabulary.rules import Rule
from belayer.workflows.graph.repositories import Repositories
from belayer.workflows.workflow import as_workflow
from belayer.workspace.plan import Change

_STATUS_EVENTS = frozenset({"session"})
_AT_REST = frozenset(Status) - {Status.QUEUED, Status.RUNNING}
_LIVE = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.PAUSED})
_SESSIONS_TRIED = 200


class Engine:
    """Everything one can do with sessions."""

    def __init__(
        self,
        parts: Parts,
        tools: Toolbox,
        history: History,
        vitals: Vitals,
        repositories: Repositories,
        servers: McpServers,
    ) -> None:
        self._parts = parts
        self.repositories = repositories
        self.servers = servers
        self._tools = tools
        self._history = history
        self._vitals = vitals
        self._starting = asyncio.Lock()

    async def start(
        self,
        workflow: Callable[..., Awaitable[Any]],
        *args: Any,
        title: str | None = None,
        mode: Mode | Literal["hitl", "autonomous"] = Mode.HITL,
        budget: Budget | None = None,
        idempotency_key: str | None = None,
        **kwargs: Any,
    ) -> "Session":
        """Start a workflow function with its arguments."""
        known = as_workflow(workflow)
        self._parts.workflows.add(known)
        given = known.bind(*args, **kwargs)
        try:
            command = Start.model_validate(
                {
                    "workflow": known.name,
                    "input": given,
                    "title": title,
                    "mode": mode,
                    "budget": budget or Budget(),
                    "idempotency_key": idempotency_key,
                }
            )
        except ValidationError as error:
            raise _unfit(error) from error
        return Session(self, await self.begin(command))

    async def carry_out(
        self,
        plan: Mapping[str, Json],
        inputs: Mapping[str, Json] | None = None,
        *,
        workspace: Path | str | None = None,
        title: str | None = None,
        mode: Mode | Literal["hitl", "autonomous"] = Mode.HITL,
        policy: Sequence[Rule] | None = None,
        budget: Budget | None = None,
        idempotency_key: str | None = None,
    ) -> "Session":
        """Start a plan; UnfitPlan with every problem at once if it cannot work. Its workspace is the given folder, or
        one of its own."""
        given = {
            "workflow": "plan",
            "input": {"plan": plan, "inputs": inputs or {}},
            "title": title or plan.get("title"),
            "mode": mode,
            "policy": policy,
            "budget": budget or Budget(),
            "workspace": workspace and str(workspace),
            "idempotency_key": idempotency_key,
        }
        try:
            command = Start.model_validate(given)
        except ValidationError as error:
            raise _unfit(error) from error
        return Session(self, await self.begin(command))

    async def begin(self, command: Start, *, most_live: int = 0) -> SessionId:
        """Start a workflow by name. The same idempotency key gives the same session.

        TooManySessions if so many are live already; 0 is no limit.
        """
        if most_live == 0:
            return await self._begin(command)
        async with self._starting:
            if await self._started_before(command) is None:
                await self._refuse_too_many(most_live)
            return await self._begin(command)

    async def _refuse_too_many(self, most: int) -> None:
        live = await self._parts.store.rows(Wanted(statuses=_LIVE, limit=most))
        if len(live) >= most:
            named = "; ".join(f"{row.title} ({row.id}, {row.status})" for row in live)
            raise TooManySessions(
                f"{most} sessions are live, which is as many as may be: {named}.",
                "Wait until one ends, cancel one, or raise BELAYER_MAX_SESSIONS.",
            )

    async def _begin(self, command: Start) -> SessionId:
        workflow = self._parts.workflows.named(command.workflow)
        workflow.refuse_unfit(command.input)
        earlier = await self._started_before(command)
        if earlier is not None:
            return earlier
        session_id = new_session_id(self._parts.clock.now())
        workspace = command.workspace and str(self._parts.workspaces.given(command.workspace))
        if workspace is None and workflow.in_workspace:
            workspace = str(self._parts.workspaces.private(session_id))
        begun = Begun(
            workflow=command.workflow,
            title=command.title or command.workflow,
            mode=command.mode,
            input=command.input,
            budget=command.budget,
            idempotency_key=command.idempotency_key,
            workspace=workspace,
            policy=command.policy,
        )
        try:
            queued = SessionChanged(status=Status.QUEUED, begun=begun)
            await self._parts.log.create(
                session_id, [queued, *self._warnings(command.input, "What it is to do")]
            )
        except KeyReused:  # somebody used it at the same moment
            return await self._started_before(command) or session_id
        return session_id

    def _warnings(self, given: Json, what: str) -> list[Logged]:
        """What goes on record goes without its secrets, and is carried out without them: that must be told."""
        written, redactor = to_json(given), self._parts.redactor
        if redactor.data(written) is written:
            return []
        places = ", ".join(filter(None, islice(redactor.places(given), 3)))
        told = (
            f"{what} held something that looks like a secret{f' ({places})' if places else ''}. The log keeps no"
            f" secrets, so {MARK} stands in its place, also in what is carried out. Let the tool take it from Belayer's"
            " settings, or from a file that only it reads."
        )
        return [Logged(text=told, level="warning")]

    async def find(self, prefix: str) -> SessionId:
        """The session whose id this is, or begins like this."""
        found = await self._parts.store.matching(prefix.strip().lower()) if prefix.strip() else []
        if not found:
            raise UnknownSession(f"There is no session {prefix!r}.", "List the sessions with `belayer ls`.")
        if len(found) > 1 and prefix not in found:
            raise AmbiguousPrefix(
                f"Several sessions begin with {prefix!r}: {', '.join(found)}{', …' if len(found) > 2 else ''}.",
                "Give more of the id.",
            )
        return found[0]

    def session(self, session_id: SessionId) -> "Session":
        return Session(self, session_id)

    async def sessions(self, wanted: Wanted | None = None) -> list[SessionRow]:
        """Sessions, newest first."""
        return await self._parts.store.rows(wanted or Wanted())

    async def row(self, session_id: SessionId) -> SessionRow:
        """The session's entry in the list."""
        row = await self._parts.store.row(session_id)
        if row is None:
            raise UnknownSession(f"There is no session {session_id}.", "List the sessions with `belayer ls`.")
        return row

    async def records(self, session_id: SessionId) -> list[Record]:
        """The whole log; CorruptLog if it is not what was written."""
        row = await self.row(session_id)
        records = await self._parts.store.read(session_id)
        check_chain(records)
        if len(records) < row.last_seq:
            raise CorruptLog(session_id, len(records) + 1, "the record is missing")
        return records

    async def state(self, session_id: SessionId) -> SessionState:
        """What the session is now; the caller's own copy."""
        return await self._with_result(fold(session_id, await self.records(session_id)))

    async def glance(self, session_id: SessionId) -> SessionState:
        """What the session is now, by what was read of it before: only what is new is read and checked."""
        row = await self.row(session_id)
        state = copied(await self._parts.log.state(session_id))
        if state.seq < row.last_seq:
            raise CorruptLog(session_id, state.seq + 1, "the record is missing")
        return await self._with_result(state)

    async def follow(self, session_id: SessionId, after: int = 0) -> AsyncGenerator[Frame]:
        """Every event after the cursor, then live."""
        await self.row(session_id)
        async for frame in self._parts.feed.follow(session_id, after):
            yield frame

    async def events(self, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[bytes]:
        """The envelopes of the events after the cursor."""
        await self.row(session_id)
        return [record.wire() for record in await self._parts.store.read(session_id, after, limit)]

    async def watch(self, session_id: SessionId) -> AsyncGenerator[tuple[SessionState, Frame]]:
        """Every frame from the first on, each with the state it leads to; one that is too slow catches up."""
        state = SessionState(session_id)
        seen = 0
        while True:
            try:
                async for frame in self.follow(session_id, seen):
                    if frame.record is not None:
                        state = await self._after(state, frame.record, seen)
                        seen = frame.record.seq
                    yield state, frame
            except TooSlow:
                continue

    async def settled(self, session_id: SessionId) -> SessionState:
        """The state once the session is neither queued nor running."""
        await self._reached(session_id, _AT_REST)
        return await self.state(session_id)

    async def result(self, session_id: SessionId) -> Json:
        """The result, once the session has ended; SessionFailed if it ended without one."""
        ending = await self._reached(session_id, FINAL)
        if ending is not None and ending.status is Status.COMPLETED:
            return await whole(self._parts.blobs, "result", ending.result, ending.aside)
        state = await self.state(session_id)
        if state.status is not Status.COMPLETED:
            raise SessionFailed(session_id, state.problem or _ended(state))
        return state.result

    async def artifact(self, session_id: SessionId, name: str) -> tuple[str, bytes]:
        """The media type and content of something that the session made; UnknownArtifact if it made no such thing."""
        made = (await self.glance(session_id)).artifacts.get(name)
        if made is None or made.aside is None:
            raise UnknownArtifact(
                f"Session {session_id} has made nothing that is called {name!r}.",
                f"See what it has made: belayer show {session_id}",
            )
        return made.media_type, await self._parts.blobs.get(made.aside["content"].digest)

    async def tell(self, session_id: SessionId, command: Command) -> SessionState:
        """Carry a command out, or refuse it with a reason; the state afterwards."""
        match command:
            case Rewind():
                await self._rewind(session_id, command)
            case Approve():
                await self._approve(session_id, command)
            case Answer():
                await self._answer(session_id, command)
            case _:
                await self._parts.log.decide(session_id, lambda state, now: decide(state, command, now))
        return await self.glance(session_id)

    async def files_after(self, session_id: SessionId, seq: int) -> list[Change]:
        """What a rewind to this event would do to the workspace's files."""
        records = await self.records(session_id)
        kept, folder = snapshot_at(records, seq), workspace_of(records)
        if kept is None or folder is None:
            return []
        return await self._parts.workspaces.of(folder).changes(kept)

    async def _rewind(self, session_id: SessionId, command: Rewind) -> None:
        """Log and files go back together: the log says that the files have to follow, then they do."""
        records = await self.records(session_id)
        kept, folder = snapshot_at(records, command.seq), workspace_of(records)
        if not command.files or kept is None or folder is None:
            await self._parts.log.decide(session_id, lambda state, now: decide(state, command, now))
            return
        workspace = self._parts.workspaces.of(folder)
        await workspace.changes(kept)  # raises if the files cannot be brought back, before anything is done
        await self._parts.log.decide(
            session_id, lambda state, now: restoring(decide(state, command, now), kept)
        )
        done = await workspace.restore(kept)
        await self._parts.log.decide(session_id, lambda _state, _now: [done])

    async def _answer(self, session_id: SessionId, command: Answer) -> None:
        warnings = self._warnings(command.value, "The answer")

        def settle(state: SessionState, now: datetime) -> Sequence[AnyEvent]:
            answered = decide(state, command, now)
            return [*answered, *warnings] if answered else answered

        await self._parts.log.decide(session_id, settle)

    async def _approve(self, session_id: SessionId, command: Approve) -> None:
        """An approval of what has changed since it was shown is refused, and the session asks anew."""
        state = await self._parts.log.state(session_id)
        request = state.pending.get(command.request_id)
        targets = request.targets if isinstance(request, ApprovalRequested) else None
        folder = state.workspace
        if targets and folder and await self._parts.workspaces.of(Path(folder)).digests(targets) != targets:
            await self._parts.log.decide(session_id, ask_anew)
            raise DigestChanged(
                "The files it touches have changed since it was shown. Nothing was approved.",
                "The session asks again with what is there now; look at it, then decide.",
            )
        await self._parts.log.decide(session_id, lambda state, now: decide(state, command, now))

    async def past(self) -> History:
        """What the last sessions say of each tool."""
        await load(self._parts.store, self._history)
        return self._history

    async def tools(self) -> list[ToolView]:
        """Every tool with its health, its breaker and what the past says of it."""
        metrics = {one.name: one for one in (await self.past()).metrics()}
        return [
            await view_tool(tool, self._parts.breakers.of(tool.name), metrics.get(tool.name))
            for tool in self._tools.tools()
        ]

    @property
    def vitals(self) -> Vitals:
        """How it is: what metrics are made of."""
        return self._vitals

    async def written_last(self) -> Mark:
        """The mark of somebody who has read everything."""
        return await self._parts.store.written_last()

    async def changed_since(self, mark: Mark) -> Changes:
        """The next status changes of all sessions, in the order of writing."""
        return await self._parts.store.changed_since(mark)

    @property
    def toolbox(self) -> Toolbox:
        """The tools there are, and what each takes."""
        return self._tools

    @property
    def rulebook(self) -> Rulebook:
        """The rules for all sessions."""
        return self._parts.rulebook

    async def try_rule(self, rule: Rule, sessions: int = _SESSIONS_TRIED) -> Trial:
        """What the rule would have meant for the calls of the last sessions."""
        return tried(rule, await self._last_logs(sessions), self._tools)

    async def suggestions(self, sessions: int = _SESSIONS_TRIED) -> list[Suggestion]:
        """Rules that a person's own decisions in the last sessions suggest."""
        calls = [call for log in await self._last_logs(sessions) for call in calls_of(log, self._tools)]
        return suggested(calls, self.rulebook.rules())

    async def _last_logs(self, sessions: int) -> list[list[Record]]:
        """The logs of the last sessions. A damaged one says nothing."""
        logs: list[list[Record]] = []
        for row in await self._parts.store.rows(Wanted(limit=sessions)):
            with suppress(StoreError):
                logs.append(await self.records(row.id))
        return logs

    async def fork(self, command: Fork) -> SessionId:
        """Begin another session with the same past, and with files of its own as they were then."""
        session_id = new_session_id(self._parts.clock.now())

        async def branched(shared: Sequence[Record]) -> str | None:
            folder = workspace_of(shared)
            if folder is None:
                return None
            kept = snapshot_at(await self.records(command.session_id), shared[-1].seq)
            return str(await self._parts.workspaces.branched(folder, session_id, kept))

        await fork_session(self._parts.log, self._parts.store, command, session_id, branched)
        return session_id

    async def export(self, session_id: SessionId) -> bytes:
        return await export_session(self._parts.store, self._parts.blobs, session_id)

    async def take_in(self, content: bytes) -> SessionId:
        """Import a session's file."""
        parts = self._parts
        return await import_session(
            parts.log, parts.store, parts.blobs, content, lambda id_: str(parts.workspaces.private(id_))
        )

    async def verify(self, *, rebuild: bool = False) -> AsyncGenerator[Finding]:
        async for finding in verify(self._parts.store, self._parts.blobs, rebuild=rebuild):
            yield finding

    async def prune(
        self, *, older_than: timedelta | None = None, keep: int | None = None, dry_run: bool = False
    ) -> list[SessionRow]:
        """Remove ended sessions past the age or beyond the count; those that go."""
        chosen = choose(await all_rows(self._parts.store), self._parts.clock.now(), older_than, keep)
        if chosen and not dry_run:
            left = {folder for row in chosen for folder in await self._folders_of(row.id)}
            await remove(self._parts.store, self._parts.blobs, [row.id for row in chosen])
            await self._forget_files(left)
        return chosen

    async def _forget_files(self, folders: set[Path]) -> None:
        """Remove what was kept of these workspaces, but for those that sessions still work in."""
        for row in await all_rows(self._parts.store) if folders else ():
            folders -= await self._folders_of(row.id)
        for folder in folders:
            await asyncio.to_thread(self._parts.workspaces.forget, folder)

    async def _folders_of(self, session_id: SessionId) -> set[Path]:
        """The folders a session may have worked in, as far as its log can be read."""
        try:
            named = workspace_of(await self._parts.store.read(session_id, 0, 1))
        except StoreError:
            named = None
        return {self._parts.workspaces.own(session_id), *([named] if named else [])}

    async def _after(self, state: SessionState, record: Record, seen: int) -> SessionState:
        """The state once the record counts too."""
        if record.seq <= state.seq:
            return state
        check_chain([record], seen, state.last_hash)
        if needs_fold([record]):
            return await self.state(record.session_id)
        advance(state, [record])
        return await self._with_result(state)

    async def _with_result(self, state: SessionState) -> SessionState:
        state.result = await whole(self._parts.blobs, "result", state.result, state.result_aside)
        return state

    async def _reached(self, session_id: SessionId, statuses: Collection[Status]) -> SessionChanged | None:
        """Wait until the session has one of the statuses; the event that says so, unless it had it before."""
        row = await self.row(session_id)
        if row.status in statuses:
            return None
        async for frame in self._parts.feed.follow(session_id, row.last_seq, _STATUS_EVENTS):
            event = frame.record.event() if frame.record else None
            if isinstance(event, SessionChanged) and event.status in statuses:
                return event
        return None

    async def _started_before(self, command: Start) -> SessionId | None:
        """The session that the command's idempotency key has started, if it was the same command."""
        if command.idempotency_key is None:
            return None
        row = await self._parts.store.started_with(command.idempotency_key)
        if row is None:
            return None
        (first,) = await self._parts.store.read(row.id, 0, 1)
        begun = first.event()
        assert isinstance(begun, SessionChanged)
        if begun.begun is None or not self._is_same(command, begun.begun):
            raise KeyReused(
                f"The idempotency key {command.idempotency_key!r} started session {row.id} with another request.",
                "Use a new key for a new request.",
            )
        return row.id

    def _is_same(self, command: Start, begun: Begun) -> bool:
        """Whether the session was begun by this command. What was recorded has no secrets in it."""
        clean = from_json(self._parts.redactor.data(to_json(command.input)))
        folder = command.workspace and str(self._parts.workspaces.given(command.workspace))
        title = command.title or command.workflow
        return begun.input in (command.input, clean) and (
            begun.workflow, begun.mode, begun.title, begun.budget, begun.policy, folder or begun.workspace,
        ) == (command.workflow, command.mode, title, command.budget, command.policy, begun.workspace)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Session:
    """One session, for Python programs."""

    engine: Engine
    id: SessionId

    async def state(self) -> SessionState:
        return await self.engine.state(self.id)

    async def settled(self) -> SessionState:
        """The state once it waits, is stopped or has ended."""
        return await self.engine.settled(self.id)

    async def result(self) -> Json:
        """The result, once the session has ended; SessionFailed if it ended without one."""
        return await self.engine.result(self.id)

    async def answer(self, value: Json, request_id: RequestId | None = None) -> SessionState:
        """Answer the given request, or the one that is open."""
        chosen = request_id or _the_one(await self.state())
        return await self.engine.tell(self.id, Answer(request_id=chosen, value=value))

    async def approve(self, request_id: RequestId | None = None, notes: str | None = None) -> SessionState:
        """Approve what is shown now."""
        request = await self._approval(request_id)
        command = Approve(request_id=request.request_id, digest=request.digest, notes=notes)
        return await self.engine.tell(self.id, command)

    async def reject(self, reason: str | None = None, request_id: RequestId | None = None) -> SessionState:
        """Reject what is shown now."""
        request = await self._approval(request_id)
        command = Reject(request_id=request.request_id, digest=request.digest, reason=reason)
        return await self.engine.tell(self.id, command)

    async def pause(
        self, *, timeout: timedelta | None = None, then: Literal["resume", "cancel"] = "resume"
    ) -> SessionState:
        return await self.engine.tell(self.id, Pause(timeout=timeout, then=then))

    async def resume(self) -> SessionState:
        return await self.engine.tell(self.id, Resume())

    async def interrupt(self) -> SessionState:
        return await self.engine.tell(self.id, Interrupt())

    async def cancel(self) -> SessionState:
        return await self.engine.tell(self.id, Cancel())

    async def checkpoint(self, name: str) -> SessionState:
        return await self.engine.tell(self.id, MakeCheckpoint(name=name))

    async def rewind(self, seq: int) -> SessionState:
        return await self.engine.tell(self.id, Rewind(seq=seq))

    async def fork(self, seq: int | None = None) -> "Session":
        return Session(self.engine, await self.engine.fork(Fork(session_id=self.id, seq=seq)))

    async def _approval(self, request_id: RequestId | None) -> ApprovalRequested:
        state = await self.state()
        chosen = request_id or _the_one(state)
        request = state.pending.get(chosen)
        if not isinstance(request, ApprovalRequested):
            raise UnknownRequest(
                f"Session {self.id} has no open approval {chosen}.", "Answer it if it is a question."
            )
        return request


def _the_one(state: SessionState) -> RequestId:
    if len(state.pending) == 1:
        return next(iter(state.pending))
    what = "asks nothing now" if not state.pending else f"has {len(state.pending)} open requests"
    raise UnknownRequest(f"Session {state.id} {what}.", "Wait until it asks, or name the request.")


def _unfit(error: ValidationError) -> UnfitInput:
    problems = [
        f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors(include_url=False)
    ]
    return UnfitInput(f"The session cannot be started like this: {'; '.join(problems)}.", "Correct these.")


def _ended(state: SessionState) -> Problem:
    return Problem(
        kind="Ended",
        category=SessionFailed.category,
        detail=f"Session {state.id} was {state.status}: {state.reason}.",
    )
