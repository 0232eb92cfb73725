"""The engine as programs use it. Bad input gets a sentence and a way out, and changes nothing."""

import asyncio
import json
import math
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from belayer.engine import Engine, Session
from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.sessions.state import SessionState
from belayer.sessions.store import Wanted
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Answer, Approve, Fork, Reject, Start
from belayer.vocabulary.errors import (
    AlreadyDecided,
    AmbiguousPrefix,
    BadCursor,
    BelayerError,
    ConfigurationError,
    CorruptLog,
    DigestChanged,
    IllegalTransition,
    KeyReused,
    NewerStore,
    Refused,
    SessionFailed,
    UnfitAnswer,
    UnfitInput,
    UnknownRequest,
    UnknownSession,
    UnknownWorkflow,
)
from belayer.vocabulary.events.event import Budget, Json, Mode, Status
from belayer.vocabulary.events.lifecycle import Logged
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.wiring import open_engine
from tests.support.engines import damage_of, home_engine, memory_engine, reached, settings, turns

NOBODY = SessionId("01900000-0000-7000-8000-000000000000")
NOTHING = RequestId("01900000-0000-7000-8000-000000000001")


class Order(BaseModel):
    item: str
    count: int = 1


async def greet(run: Run, name: str = "Ada") -> str:
    return await run.step("greet", act(effect="read")(lambda: f"hello {name}"))


async def asking(run: Run) -> str:
    name = await run.ask("name", "Your name?")
    decided = await run.approve("plan", {"greet": name}, title="The plan")
    return f"hello {name}" if decided else "no"


async def ordering(run: Run, order: Order, at: datetime, urgent: bool = False) -> list[Json]:
    return [order.item, order.count, at.isoformat(), urgent]


async def test_ten_lines_start_a_workflow_and_give_its_result() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet, "Bob")
        assert await session.result() == "hello Bob"


async def test_a_workflow_gets_its_arguments_in_the_types_it_asks_for() -> None:
    async with memory_engine(ordering) as engine:
        at = datetime.fromisoformat("2026-01-02T03:04:05+00:00")
        session = await engine.start(ordering, Order(item="tea", count=2), at=at, urgent=True)
        assert await session.result() == ["tea", 2, "2026-01-02T03:04:05+00:00", True]


async def test_a_workflow_need_not_be_announced_before_it_is_started() -> None:
    async with memory_engine() as engine:
        assert await (await engine.start(greet)).result() == "hello Ada"


async def test_a_workflow_can_be_started_by_name() -> None:
    async with memory_engine(greet) as engine:
        session_id = await engine.begin(Start(workflow="greet", input={"name": "Eve"}))
        assert await engine.session(session_id).result() == "hello Eve"


async def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    async with memory_engine(greet) as engine:
        with pytest.raises(UnknownWorkflow) as refused:
            await engine.begin(Start(workflow="gret"))
        assert "greet" in (refused.value.hint or "")
        assert await engine.sessions() == []


def not_async(run: Run) -> None: ...


async def without_run() -> None: ...


async def test_something_that_is_no_workflow_is_refused_with_an_example() -> None:
    async with memory_engine() as engine:
        for call in (not_async, without_run, "greet"):
            with pytest.raises(ConfigurationError) as refused:
                await engine.start(call)  # pyright: ignore[reportArgumentType]
            assert "async" in (refused.value.hint or "")


async def test_every_problem_with_an_input_by_name_is_in_one_message() -> None:
    async with memory_engine(ordering) as engine:
        with pytest.raises(UnfitInput) as refused:
            await engine.begin(Start(workflow="ordering", input={"at": "never", "colour": "red"}))
        for part in ("order", "at", "colour"):
            assert part in refused.value.detail
        assert await engine.sessions() == []


async def test_every_problem_with_arguments_is_in_one_message() -> None:
    async with memory_engine(ordering) as engine:
        with pytest.raises(UnfitInput) as refused:
            await engine.start(ordering, at="never", colour="red")
        for part in ("order", "at", "colour"):
            assert part in refused.value.detail
        assert "order" in (refused.value.hint or "")


STARTS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "too many arguments": lambda engine: engine.start(greet, "a", "b"),
    "an argument that is no JSON": lambda engine: engine.start(greet, object()),
    "an argument of another type": lambda engine: engine.start(greet, 7),
    "a number that is none": lambda engine: engine.start(_any, math.nan),
    "a text that is none": lambda engine: engine.start(_any, "\ud800"),
    "a very deep value": lambda engine: engine.start(_any, _nested(1000)),
    "an empty title": lambda engine: engine.start(greet, title=""),
    "an endless title": lambda engine: engine.start(greet, title="x" * 10_000),
    "an unknown mode": lambda engine: engine.start(greet, mode="manual"),  # pyright: ignore[reportArgumentType]
    "an empty key": lambda engine: engine.start(greet, idempotency_key=""),
}


async def _any(run: Run, value: Any) -> Any:
    return value


def _nested(depth: int) -> Json:
    value: Json = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("bad", STARTS)
async def test_a_start_is_refused_with_a_reason_because_of(bad: str) -> None:
    async with memory_engine(greet, _any) as engine:
        with pytest.raises(BelayerError) as refused:
            await STARTS[bad](engine)
        assert refused.value.hint is not None
        assert await engine.sessions() == []


@pytest.mark.parametrize("depth", range(180, 260, 5))
async def test_a_deep_input_is_either_refused_or_can_be_read(depth: int) -> None:
    async with memory_engine(_any, drives="none") as engine:
        try:
            session = await engine.start(_any, _nested(depth))
        except BelayerError:
            assert await engine.sessions() == []
        else:
            assert (await session.state()).input == {"value": _nested(depth)}


Deed = Callable[[Session, SessionState], Awaitable[object]]


async def waiting(engine: Engine) -> Session:
    session = await engine.start(asking)
    await session.settled()
    return session


def _question(state: SessionState) -> RequestId:
    return next(iter(state.pending))


UNKNOWN: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "state": lambda engine: engine.state(NOBODY),
    "answer": lambda engine: engine.session(NOBODY).answer("x"),
    "tell": lambda engine: engine.tell(NOBODY, Answer(request_id=NOTHING, value="x")),
    "pause": lambda engine: engine.session(NOBODY).pause(),
    "resume": lambda engine: engine.session(NOBODY).resume(),
    "interrupt": lambda engine: engine.session(NOBODY).interrupt(),
    "cancel": lambda engine: engine.session(NOBODY).cancel(),
    "rewind": lambda engine: engine.session(NOBODY).rewind(1),
    "fork": lambda engine: engine.fork(Fork(session_id=NOBODY)),
    "checkpoint": lambda engine: engine.session(NOBODY).checkpoint("here"),
    "settled": lambda engine: engine.settled(NOBODY),
    "result": lambda engine: engine.session(NOBODY).result(),
    "export": lambda engine: engine.export(NOBODY),
    "find": lambda engine: engine.find("0190"),
    "find nothing": lambda engine: engine.find("  "),
    "follow": lambda engine: _first_frame(engine, NOBODY),
    "events": lambda engine: engine.events(NOBODY),
}


async def _first_frame(engine: Engine, session_id: SessionId) -> None:
    async for _ in engine.follow(session_id):
        return


@pytest.mark.parametrize("deed", UNKNOWN)
async def test_an_unknown_session_is_said_to_be_unknown_to(deed: str) -> None:
    async with memory_engine(asking) as engine:
        await waiting(engine)
        with pytest.raises(UnknownSession) as refused:
            async with asyncio.timeout(2):
                await UNKNOWN[deed](engine)
        assert refused.value.hint is not None


REFUSALS: dict[str, tuple[Deed, type[Refused]]] = {
    "an answer to a request that does not exist": (
        lambda session, _: session.answer("x", NOTHING),
        UnknownRequest,
    ),
    "an answer that does not fit": (lambda session, _: session.answer(7), UnfitAnswer),
    "an approval of a question": (
        lambda session, state: session.engine.tell(
            session.id, Approve(request_id=_question(state), digest="")
        ),
        UnfitAnswer,
    ),
    "an approval where none is asked for": (lambda session, _: session.approve(), UnknownRequest),
    "a resume of a waiting session": (lambda session, _: session.resume(), IllegalTransition),
    "a rewind beyond the end": (lambda session, state: session.rewind(state.seq + 5), BadCursor),
    "a fork beyond the end": (lambda session, state: session.fork(state.seq + 5), BadCursor),
}


@pytest.mark.parametrize("deed", REFUSALS)
async def test_nothing_is_changed_by(deed: str) -> None:
    do, error = REFUSALS[deed]
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        before = await session.state()
        with pytest.raises(error) as refused:
            await do(session, before)
        assert refused.value.detail.endswith(".")
        assert refused.value.hint is not None
        assert (await session.state()).seq == before.seq
        assert len(await engine.sessions()) == 1


AFTER_THE_END: dict[str, Deed] = {
    "pause": lambda session, _: session.pause(),
    "resume": lambda session, _: session.resume(),
    "interrupt": lambda session, _: session.interrupt(),
    "cancel": lambda session, _: session.cancel(),
    "answer": lambda session, _: session.answer("x", NOTHING),
}


@pytest.mark.parametrize("deed", AFTER_THE_END)
async def test_an_ended_session_refuses_to(deed: str) -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        await session.result()
        before = await session.state()
        with pytest.raises(IllegalTransition, match="completed") as refused:
            await AFTER_THE_END[deed](session, before)
        assert "rewind" in (refused.value.hint or "")
        assert (await session.state()).seq == before.seq


async def test_a_second_answer_is_refused_and_the_first_counts() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        request_id = _question(await session.state())
        await session.answer("Ada", request_id)
        with pytest.raises(AlreadyDecided, match="Ada"):
            await session.answer("Bob", request_id)
        await session.settled()
        await session.approve()
        assert await session.result() == "hello Ada"


async def test_the_same_answer_again_is_no_second_answer() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        request_id = _question(await session.state())
        await session.answer("Ada", request_id)
        before = await session.settled()
        await session.answer("Ada", request_id)
        assert (await session.state()).seq == before.seq


async def test_of_two_answers_at_once_one_counts_and_the_other_is_told() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        request_id = _question(await session.state())
        given = await asyncio.gather(
            *(session.answer(name, request_id) for name in ("Ada", "Bob", "Eve")), return_exceptions=True
        )
        assert sorted(type(answer).__name__ for answer in given) == [
            "AlreadyDecided",
            "AlreadyDecided",
            "SessionState",
        ]


async def test_of_an_approval_and_a_rejection_at_once_one_counts() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        await session.answer("Ada")
        await session.settled()
        given = await asyncio.gather(session.approve(), session.reject(), return_exceptions=True)
        assert sum(isinstance(decision, AlreadyDecided) for decision in given) == 1


async def test_an_old_digest_is_refused_and_the_approval_stays_open() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        await session.answer("Ada")
        state = await session.settled()
        for verb in (Approve, Reject):
            with pytest.raises(DigestChanged):
                await engine.tell(session.id, verb(request_id=_question(state), digest="old"))
        assert (await session.state()).pending == state.pending


BAD_VALUES: dict[str, Callable[[], Any]] = {
    "not a number": lambda: {"x": math.nan},
    "infinity": lambda: {"x": math.inf},
    "half a surrogate": lambda: {"x": "\ud800"},
    "a very deep value": lambda: {"x": _nested(5000)},
    "no JSON": lambda: {"x": object()},
}


async def filling(run: Run) -> Json:
    return await run.ask("form", "Fill this in.", kind="form")


@pytest.mark.parametrize("bad", BAD_VALUES)
async def test_an_answer_is_refused_that_holds(bad: str) -> None:
    async with memory_engine(filling) as engine:
        session = await engine.start(filling)
        before = await session.settled()
        with pytest.raises(BelayerError):
            await session.answer(BAD_VALUES[bad]())
        assert (await session.state()).seq == before.seq


@pytest.mark.parametrize("depth", range(180, 260, 5))
async def test_a_deep_answer_is_either_refused_or_comes_back(depth: int) -> None:
    async with memory_engine(filling) as engine:
        session = await engine.start(filling)
        await session.settled()
        try:
            await session.answer({"x": _nested(depth)})
        except BelayerError:
            await session.answer({"x": 1})
        assert (await reached(session, Status.COMPLETED, Status.FAILED)).status is Status.COMPLETED
        assert await damage_of(engine) == []


async def test_an_answer_that_equals_a_secret_number_does_not_damage_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOOR_TOKEN", "12345678")
    async with memory_engine(filling) as engine:
        session = await engine.start(filling)
        await session.settled()
        await session.answer({"amount": 12345678})
        await session.settled()
        assert await damage_of(engine) == []


async def test_an_answer_in_which_a_secret_s_shape_spans_two_fields_does_not_damage_the_log() -> None:
    async with memory_engine(filling) as engine:
        session = await engine.start(filling)
        await session.settled()
        await session.answer({"a": "-----BEGIN PRIVATE KEY-----", "b": {"c": "-----END PRIVATE KEY-----"}})
        await session.settled()
        assert await damage_of(engine) == []


async def test_a_session_is_found_by_its_id_and_by_the_beginning_of_it() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        for prefix in (session.id, session.id[:20], session.id[:1], f"  {session.id.upper()} "):
            assert await engine.find(prefix) == session.id


async def test_a_beginning_that_several_share_is_refused_with_their_ids() -> None:
    async with memory_engine(greet) as engine:
        first, second = await engine.start(greet), await engine.start(greet)
        with pytest.raises(AmbiguousPrefix) as refused:
            await engine.find(first.id[:8])
        assert first.id in refused.value.detail
        assert second.id in refused.value.detail


@pytest.mark.parametrize("prefix", ["%", "_", "'", "0190%", "\x7f", "é", "x" * 10_000])
async def test_a_beginning_is_taken_as_it_is(prefix: str, tmp_path: Path) -> None:
    async with home_engine(tmp_path, greet, drives="none") as engine:
        await engine.start(greet)
        with pytest.raises(UnknownSession):
            await engine.find(prefix)


async def test_the_same_key_gives_the_same_session() -> None:
    async with memory_engine(greet) as engine:
        first = await engine.start(greet, "Ada", idempotency_key="k")
        second = await engine.start(greet, "Ada", idempotency_key="k")
        assert first.id == second.id
        await first.result()
        assert (await engine.start(greet, "Ada", idempotency_key="k")).id == first.id
        assert len(await engine.sessions()) == 1


async def test_the_same_key_used_at_once_gives_the_same_session() -> None:
    async with memory_engine(greet) as engine:
        started = await asyncio.gather(*(engine.start(greet, "Ada", idempotency_key="k") for _ in range(5)))
        assert len({session.id for session in started}) == 1


async def test_the_same_key_used_in_two_engines_at_once_gives_the_same_session(tmp_path: Path) -> None:
    async with (
        home_engine(tmp_path, greet, drives="none") as first,
        home_engine(tmp_path, greet, drives="none") as second,
    ):
        started = await asyncio.gather(
            *(engine.start(greet, "Ada", idempotency_key="k") for engine in (first, second) * 3)
        )
        assert len({session.id for session in started}) == 1


OTHERS: list[dict[str, Any]] = [{"name": "Bob"}, {"mode": Mode.AUTONOMOUS}]


@pytest.mark.parametrize("other", OTHERS, ids=str)
async def test_the_same_key_for_another_request_is_refused(other: dict[str, Any]) -> None:
    async with memory_engine(greet) as engine:
        await engine.start(greet, name="Ada", idempotency_key="k")
        with pytest.raises(KeyReused) as refused:
            await engine.start(greet, **{"name": "Ada", "idempotency_key": "k", **other})
        assert refused.value.hint is not None
        assert len(await engine.sessions()) == 1


async def test_the_same_key_gives_the_same_session_although_its_input_holds_a_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOOR_PASSWORD", "hunter2-hunter2")
    async with memory_engine(greet) as engine:
        first = await engine.start(greet, "hunter2-hunter2", idempotency_key="k")
        assert (await engine.start(greet, "hunter2-hunter2", idempotency_key="k")).id == first.id


async def test_a_secret_in_an_input_or_an_answer_goes_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOOR_PASSWORD", "hunter2-hunter2")
    async with memory_engine(greet, asking) as engine:
        greeted = await engine.start(greet, "open with hunter2-hunter2")
        await greeted.result()
        asked = await waiting(engine)
        await asked.answer("it is hunter2-hunter2")
        await asked.settled()
        for session, says in ((greeted, "What it is to do held"), (asked, "The answer held")):
            records = await engine.records(session.id)
            assert "hunter2" not in str(records)
            (warning,) = [one for one in (record.event() for record in records) if isinstance(one, Logged)]
            assert warning.level == "warning"
            assert says in warning.text


async def test_a_follower_gets_what_was_and_what_comes() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        seen: list[int] = []

        async def follow() -> None:
            nonlocal seen
            async for frame in engine.follow(session.id):
                seen += [frame.seq] if frame.seq is not None else []

        following = asyncio.create_task(follow())
        await turns()
        await session.answer("Ada")
        await session.settled()
        await session.approve()
        await session.result()
        await turns()
        following.cancel()
        assert seen == list(range(1, (await session.state()).seq + 1))


async def test_a_follower_with_a_cursor_gets_what_comes_after_it() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        async with aclosing(engine.follow(session.id, 2)) as frames:  # pyright: ignore[reportArgumentType]
            assert (await anext(frames)).seq == 3


async def test_a_follower_beyond_the_end_keeps_nothing_from_others() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)

        async def follow_far() -> None:
            async for _ in engine.follow(session.id, 10_000):
                pass

        far = asyncio.create_task(follow_far())
        await turns()
        ending = asyncio.create_task(session.result())
        await turns()
        await session.cancel()
        with pytest.raises(SessionFailed):
            async with asyncio.timeout(3):
                await ending
        far.cancel()


async def test_every_frame_is_one_line_of_json_with_the_envelope_of_the_protocol() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        await session.result()
        for seq, line in enumerate(await engine.events(session.id), 1):
            frame = json.loads(line)
            assert list(frame) == ["seq", "session_id", "type", "stage", "timestamp", "data"]
            assert (frame["seq"], frame["session_id"]) == (seq, session.id)


async def test_watching_gives_the_state_that_each_event_leads_to() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        statuses: list[Status] = []
        async for state, _ in engine.watch(session.id):
            statuses.append(state.status)
            if state.status is Status.COMPLETED:
                break
    assert statuses[0] is Status.QUEUED
    assert Status.RUNNING in statuses


async def test_watching_goes_on_over_a_rewind() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        await session.result()
        await session.rewind(1)
        await session.resume()
        await reached(session, Status.COMPLETED)
        last = (await session.state()).seq
        async for state, _ in engine.watch(session.id):
            if state.seq == last:
                assert state.status is Status.COMPLETED
                break


async def test_a_failed_session_says_what_went_wrong_and_what_to_do() -> None:
    async def failing(run: Run) -> None:
        raise ZeroDivisionError("nothing to share with")

    async with memory_engine(failing) as engine:
        session = await engine.start(failing)
        with pytest.raises(SessionFailed, match="nothing to share with") as failed:
            await session.result()
        assert failed.value.hint is not None
        assert failed.value.session_id == session.id


async def test_a_result_that_json_cannot_hold_fails_the_session_with_a_reason() -> None:
    async def strange(run: Run) -> object:
        return object()

    async with memory_engine(strange) as engine:
        session = await engine.start(strange)
        with pytest.raises(SessionFailed, match="cannot be kept"):
            await session.result()


async def test_a_large_result_comes_back() -> None:
    async def large(run: Run) -> str:
        return "x" * 200_000

    async with memory_engine(large) as engine:
        assert await (await engine.start(large)).result() == "x" * 200_000


async def test_a_large_input_arrives() -> None:
    async def length(run: Run, text: str) -> int:
        return len(text)

    async with memory_engine(length) as engine:
        assert await (await engine.start(length, "x" * 200_000)).result() == 200_000


async def test_sessions_are_listed_newest_first_and_can_be_chosen() -> None:
    clock = ManualClock()
    async with memory_engine(greet, asking, clock=clock) as engine:
        first = await engine.start(greet, title="First of all")
        clock.advance(1)
        second = await waiting(engine)
        await first.result()
        assert [row.id for row in await engine.sessions()] == [second.id, first.id]
        chosen = await engine.sessions(Wanted(statuses=frozenset({Status.WAITING})))
        assert [row.id for row in chosen] == [second.id]
        assert [row.id for row in await engine.sessions(Wanted(text="OF ALL"))] == [first.id]


async def test_a_session_without_an_open_request_says_so() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet)
        await session.result()
        with pytest.raises(UnknownRequest, match="asks nothing now"):
            await session.answer("x")


async def test_a_session_with_several_open_requests_wants_one_named() -> None:
    async def both(run: Run) -> list[Json]:
        async def one(run: Run) -> Json:
            return await run.ask("one", "One?")

        return await run.parallel("side", [one, one])

    async with memory_engine(both) as engine:
        session = await engine.start(both)
        await session.settled()
        with pytest.raises(UnknownRequest, match="2 open requests"):
            await session.answer("x")


async def test_a_checkpoint_of_a_person_is_kept_with_its_name() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        state = await session.checkpoint("before the answer")
        assert list(state.checkpoints.values()) == ["before the answer"]


async def test_a_budget_is_kept_with_the_session() -> None:
    async with memory_engine(greet) as engine:
        session = await engine.start(greet, budget=Budget(tokens=5))
        assert (await session.state()).budget == Budget(tokens=5)


async def test_an_exported_session_arrives_elsewhere_and_goes_on_there() -> None:
    async with memory_engine(asking) as engine:
        session = await waiting(engine)
        await session.answer("Ada")
        await session.settled()
        content = await engine.export(session.id)
    async with memory_engine(asking) as engine:
        arrived = engine.session(await engine.take_in(content))
        assert (await arrived.state()).status is Status.PAUSED
        await arrived.resume()
        await reached(arrived, Status.WAITING)
        await arrived.approve()
        assert await arrived.result() == "hello Ada"


async def test_old_sessions_that_ended_are_pruned_and_no_others() -> None:
    clock = ManualClock()
    async with memory_engine(greet, asking, clock=clock) as engine:
        ended, open_ = await engine.start(greet), await waiting(engine)
        await ended.result()
        clock.advance(1000)
        assert [row.id for row in await engine.prune(older_than=timedelta(seconds=10), dry_run=True)] == [
            ended.id
        ]
        assert len(await engine.sessions()) == 2
        await engine.prune(older_than=timedelta(seconds=10))
        assert [row.id for row in await engine.sessions()] == [open_.id]


async def test_a_store_from_the_future_is_refused_and_not_touched(tmp_path: Path) -> None:
    async with home_engine(tmp_path, drives="none"):
        pass
    with sqlite3.connect(tmp_path / "belayer.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(NewerStore, match="999") as refused:
        async with home_engine(tmp_path):
            pass
    assert refused.value.hint is not None
    connection = sqlite3.connect(tmp_path / "belayer.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (999,)
    connection.close()


async def test_a_damaged_record_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    async with home_engine(tmp_path, asking) as engine:
        session = await waiting(engine)
    connection = sqlite3.connect(tmp_path / "belayer.db")
    connection.execute(
        "UPDATE events SET data = replace(data, 'Your name', 'Your fame') WHERE type = 'request_input'"
    )
    connection.commit()
    connection.close()
    async with home_engine(tmp_path, asking) as engine:
        with pytest.raises(CorruptLog) as refused:
            await engine.session(session.id).answer("Ada")
        assert session.id in refused.value.detail
        assert f"seq {refused.value.seq}" in refused.value.detail
        assert "export" in (refused.value.hint or "")
        other = await engine.start(asking)
        assert (await other.settled()).status is Status.WAITING


async def test_what_was_kept_of_a_workspace_goes_with_the_last_session_that_worked_there(
    tmp_path: Path,
) -> None:
    plan: Any = {"steps": [{"id": "w", "tool": "files.write", "params": {"path": "a", "content": "1"}}]}
    (tmp_path / "shared").mkdir()
    async with open_engine(tmp_path / "home") as engine:
        for folder in (tmp_path / "shared", tmp_path / "shared", None):
            await (await engine.carry_out(plan, workspace=folder)).result()
        await engine.prune(keep=2)
        assert len(list((tmp_path / "home" / "snapshots").iterdir())) == 2
        await engine.prune(keep=0)
        assert list((tmp_path / "home" / "snapshots").iterdir()) == []
        assert list((tmp_path / "home" / "workspaces").iterdir()) == []
        assert (tmp_path / "shared" / "a").read_text() == "1"


@pytest.mark.parametrize("change", [{"title": "b"}, {"budget": Budget(steps=3)}, {"mode": Mode.AUTONOMOUS}])
async def test_a_key_that_comes_back_with_anything_else_is_refused(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    plan: Any = {"steps": [{"id": "w", "tool": "wait", "params": {"seconds": 0}}]}
    given: dict[str, Any] = {"title": "a", "workspace": tmp_path, "idempotency_key": "k"}
    async with open_engine(tmp_path / "home") as engine:
        first = await engine.carry_out(plan, **given)
        assert (await engine.carry_out(plan, **given)).id == first.id
        with pytest.raises(KeyReused):
            await engine.carry_out(plan, **given | change)


async def test_a_session_says_which_sandbox_its_commands_get(tmp_path: Path) -> None:
    async with open_engine(settings=settings(tmp_path / "home", sandbox="none")) as engine:
        plan: dict[str, Json] = {
            "steps": [{"id": "a", "tool": "shell.run", "params": {"command": "echo hi"}}]
        }
        session = await engine.carry_out(plan)
        assert await session.result()
        assert (await session.state()).sandbox == "none"


async def test_where_commands_are_switched_off_everything_else_works(tmp_path: Path) -> None:
    async with open_engine(settings=settings(tmp_path / "home", sandbox="off")) as engine:
        plan: dict[str, Json] = {
            "steps": [
                {"id": "a", "tool": "shell.run", "params": {"command": "echo hi"}, "critical": False},
                {"id": "b", "tool": "files.write", "params": {"path": "b", "content": "b"}},
            ]
        }
        session = await engine.carry_out(plan)
        await session.result()
        state = await session.state()
        assert state.sandbox == "missing"
        problem = state.steps["a"].problem
        assert problem is not None
        assert problem.kind == "NoSandbox"
