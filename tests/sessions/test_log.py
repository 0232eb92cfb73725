"""The only writer: groups of appends in one commit, and decisions on the state of the moment."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from belayer.sessions.decide import decide
from belayer.sessions.log import Decide, Log
from belayer.sessions.record import Record, check_chain
from belayer.sessions.redact import Redactor
from belayer.sessions.state import SessionState, fold
from belayer.sessions.store import Store
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import ManualClock, to_micros
from belayer.vocabulary.commands import Answer, Approve, Cancel, Command, Pause, Reject, Rewind, Start
from belayer.vocabulary.errors import (
    AlreadyDecided,
    BelayerError,
    Fenced,
    IllegalTransition,
    Moved,
    StoreFull,
    UnknownSession,
)
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.events.lifecycle import Begun, SessionChanged
from tests.support.records import (
    AT,
    Watched,
    add,
    approval,
    asked,
    beginning,
    create,
    named,
    now_is,
    question,
    said,
    taken,
    writing,
)

ONE, TWO = named(1), named(2)
FULL = StoreFull("The disk is full.", "Make space.")


@pytest.fixture(params=["memory", "sqlite"])
async def watched(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Watched]:
    inner: Store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "b.db")
    yield Watched(inner)
    await inner.close()


@pytest.fixture
async def store(watched: Watched) -> Store:
    return watched.as_store()


def to(command: Command) -> Decide:
    return lambda state, now: decide(state, command, now)


class TestGroups:
    async def test_appends_that_wait_together_share_a_commit(self, watched: Watched, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            before = len(watched.sizes)
            await asyncio.gather(*(log.append(ONE, [said(str(n))]) for n in range(500)))
        assert len(watched.sizes) - before <= 50

    async def test_a_thousand_new_sessions_need_few_commits(self, watched: Watched, store: Store) -> None:
        async with writing(store) as log:
            await asyncio.gather(*(log.create(named(n), [beginning()]) for n in range(1000)))
        assert len(watched.sizes) <= 50

    async def test_more_appends_than_fit_one_group_all_arrive(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            await asyncio.gather(*(log.append(ONE, [said(str(n))]) for n in range(4500)))
        records = await store.read(ONE)
        check_chain(records)
        assert len(records) == 4501

    async def test_appends_keep_the_order_in_which_they_came(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            appended = await asyncio.gather(*(log.append(ONE, [said(str(n))]) for n in range(100)))
        assert [records[0].seq for records in appended] == list(range(2, 102))

    async def test_events_of_one_append_stay_together(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            appended = await asyncio.gather(*(log.append(ONE, [said(), said(), said()]) for _ in range(50)))
        assert all([r.seq - records[0].seq for r in records] == [0, 1, 2] for records in appended)

    async def test_a_refused_append_does_not_hurt_its_neighbours(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning(), taken(1)])
            answers = await asyncio.gather(
                log.append(ONE, [said()], epoch=1),
                log.append(ONE, [said()], epoch=0),
                log.append(TWO, [said()]),
                log.append(ONE, [said()], expected_seq=1),
                log.append(ONE, [said()], epoch=1),
                return_exceptions=True,
            )
        kinds = [type(answer) for answer in answers]
        assert kinds == [list, Fenced, UnknownSession, Moved, list]

    async def test_an_append_is_made_even_if_its_appender_stops_waiting(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            appender = asyncio.create_task(log.append(ONE, [said("left behind")]))
            await asyncio.sleep(0)
            appender.cancel()
            await asyncio.wait({appender})
            await log.append(ONE, [said("later")])
        assert len(await store.read(ONE)) == 3

    async def test_an_event_gets_the_time_of_the_clock(self, store: Store) -> None:
        clock = ManualClock(AT)
        async with writing(store, clock) as log:
            await log.create(ONE, [beginning()])
            clock.advance(90)
            (record,) = await log.append(ONE, [said()])
        assert record.at == to_micros(AT + timedelta(seconds=90))

    async def test_a_secret_does_not_reach_the_store(self, store: Store) -> None:
        async with writing(store, redactor=Redactor(["hunter2hunter2"])) as log:
            await log.create(ONE, [beginning("say hunter2hunter2"), said("hunter2hunter2")])
        assert b"hunter2" not in b"".join(record.data for record in await store.read(ONE))

    async def test_a_secret_does_not_reach_the_list_of_sessions(self, store: Store) -> None:
        async with writing(store, redactor=Redactor(["hunter2hunter2"])) as log:
            await log.create(ONE, [beginning("say hunter2hunter2")])
        row = await store.row(ONE)
        assert row is not None
        assert row.title == "say [redacted]"


class TestListeners:
    async def test_listeners_hear_every_record_once_and_in_order(self, store: Store) -> None:
        heard: list[Record] = []
        async with writing(store) as log:
            log.listen(heard.extend)
            await log.create(ONE, [beginning()])
            await asyncio.gather(*(log.append(ONE, [said(str(n))]) for n in range(50)))
            await log.decide(ONE, to(Cancel()))
        assert heard == await store.read(ONE)

    async def test_listeners_hear_before_the_appender_goes_on(self, store: Store) -> None:
        order: list[str] = []
        async with writing(store) as log:
            log.listen(lambda _: order.append("listener"))
            await log.create(ONE, [beginning()])
            order.append("appender")
        assert order == ["listener", "appender"]

    async def test_listeners_hear_nothing_of_what_was_refused(self, store: Store) -> None:
        heard: list[Record] = []
        async with writing(store) as log:
            await log.create(ONE, [beginning(), taken(1)])
            log.listen(heard.extend)
            with pytest.raises(Fenced):
                await log.append(ONE, [said()], epoch=0)
        assert heard == []


class TestDecisions:
    async def test_of_fifty_approvals_and_rejections_exactly_one_decides(self, store: Store) -> None:
        commands = [Approve(request_id=asked(), digest="d1"), Reject(request_id=asked(), digest="d1")]
        async with writing(store) as log:
            await log.create(ONE, [beginning(), approval(), now_is(Status.WAITING)])
            await asyncio.gather(
                *(log.decide(ONE, to(commands[n % 2])) for n in range(50)), return_exceptions=True
            )
        decisions = [record for record in await store.read(ONE) if record.type == "user_response"]
        assert len(decisions) == 1

    async def test_who_agrees_with_the_decision_is_not_refused_and_who_does_not_is_told(
        self, store: Store
    ) -> None:
        commands = [Approve(request_id=asked(), digest="d1"), Reject(request_id=asked(), digest="d1")]
        async with writing(store) as log:
            await log.create(ONE, [beginning(), approval(), now_is(Status.WAITING)])
            answers = await asyncio.gather(
                *(log.decide(ONE, to(commands[n % 2])) for n in range(50)), return_exceptions=True
            )
        assert sum(isinstance(answer, AlreadyDecided) for answer in answers) == 25
        assert sum(isinstance(answer, list) for answer in answers) == 25

    async def test_two_processes_cannot_both_decide(self, watched: Watched, store: Store) -> None:
        async with writing(store) as mine, writing(store) as theirs:
            await mine.create(ONE, [beginning(), question(), now_is(Status.WAITING)])
            answers = await asyncio.gather(
                *(
                    log.decide(ONE, to(Answer(request_id=asked(), value=str(place))))
                    for place, log in enumerate([mine, theirs] * 10)
                ),
                return_exceptions=True,
            )
        responses = [record for record in await store.read(ONE) if record.type == "user_response"]
        assert len(responses) == 1
        assert sum(isinstance(answer, list) for answer in answers) == 1

    async def test_a_decision_sees_what_another_process_appended(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            await log.state(ONE)
            await add(store, ONE, now_is(Status.CANCELLED))
            with pytest.raises(IllegalTransition):
                await log.decide(ONE, to(Pause()))

    async def test_a_decision_for_nothing_writes_nothing(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            assert await log.decide(ONE, lambda state, now: []) == []
        assert len(await store.read(ONE)) == 1

    async def test_a_decision_for_an_unknown_session_is_refused(self, store: Store) -> None:
        async with writing(store) as log:
            with pytest.raises(UnknownSession):
                await log.decide(ONE, to(Cancel()))

    async def test_decisions_on_many_sessions_share_commits(self, watched: Watched, store: Store) -> None:
        async with writing(store) as log:
            await asyncio.gather(*(log.create(named(n), [beginning()]) for n in range(100)))
            before = len(watched.sizes)
            await asyncio.gather(*(log.decide(named(n), to(Cancel())) for n in range(100)))
        assert len(watched.sizes) - before <= 20

    async def test_an_append_in_the_same_group_does_not_undo_a_decision(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning(), taken(1)])
            answers = await asyncio.gather(
                log.append(ONE, [said()], epoch=1, needs_running=True),
                log.decide(ONE, to(Pause())),
                log.append(ONE, [said()], epoch=1, needs_running=True),
                return_exceptions=True,
            )
        records = await store.read(ONE)
        check_chain(records)
        paused = next(place for place, record in enumerate(records) if b"paused" in record.data)
        assert isinstance(answers[1], list)
        assert [record.type for record in records[paused + 1 :]] == []


class TestTrouble:
    async def test_a_full_store_is_told_to_everybody_who_waits(self, watched: Watched, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            watched.trouble = FULL
            answers = await asyncio.gather(
                *(log.append(ONE, [said()]) for _ in range(20)),
                *(log.decide(ONE, to(Cancel())) for _ in range(3)),
                return_exceptions=True,
            )
        assert [type(answer) for answer in answers] == [StoreFull] * 23

    async def test_the_log_goes_on_when_the_store_can_write_again(
        self, watched: Watched, store: Store
    ) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            watched.trouble = FULL
            with pytest.raises(StoreFull):
                await log.append(ONE, [said()])
            watched.trouble = None
            await log.append(ONE, [said()])
            await log.decide(ONE, to(Cancel()))
        records = await store.read(ONE)
        check_chain(records)
        assert len(records) == 3

    async def test_a_commit_whose_end_is_unknown_leaves_a_log_that_can_go_on(
        self, watched: Watched, store: Store
    ) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning(), question(), now_is(Status.WAITING)])
            watched.trouble, watched.strikes = FULL, "after"
            with pytest.raises(StoreFull):
                await log.decide(ONE, to(Answer(request_id=asked(), value="yes")))
            watched.trouble = None
            await log.decide(ONE, to(Answer(request_id=asked(), value="yes")))
        responses = [record for record in await store.read(ONE) if record.type == "user_response"]
        assert len(responses) == 1

    @pytest.mark.parametrize(
        "make",
        [
            pytest.param(lambda: Pause(timeout=timedelta.max), id="a pause beyond the end of time"),
            pytest.param(lambda: Answer(request_id=asked(), value="\udcff"), id="a text that is not Unicode"),
            pytest.param(
                lambda: Answer(request_id=asked(), value=nested(220)), id="a value too deep to read"
            ),
        ],
    )
    async def test_a_command_that_cannot_be_carried_out_is_refused(
        self, store: Store, make: Callable[[], Command]
    ) -> None:
        async with asyncio.timeout(10), writing(store) as log:
            await log.create(ONE, [beginning(), question(kind="form"), now_is(Status.WAITING)])
            with pytest.raises((BelayerError, ValidationError)):
                await log.decide(ONE, to(make()))

    async def test_a_decider_that_breaks_does_not_stop_the_log(self, store: Store) -> None:
        def broken(state: SessionState, now: datetime) -> Sequence[AnyEvent]:
            raise ZeroDivisionError

        async with asyncio.timeout(10), writing(store) as log:
            await log.create(ONE, [beginning()])
            with pytest.raises(ZeroDivisionError):
                await log.decide(ONE, broken)
            await log.append(ONE, [said()])
        assert len(await store.read(ONE)) == 2

    async def test_an_event_that_cannot_be_written_does_not_stop_the_log(self, store: Store) -> None:
        async with asyncio.timeout(10), writing(store) as log:
            await log.create(ONE, [beginning()])
            with contextlib.suppress(ValueError, BelayerError):
                await log.append(ONE, [said("\udcff")])
            await log.append(ONE, [said()])
        assert len(await store.read(ONE)) == 2

    async def test_an_append_of_nothing_does_not_stop_the_log(self, store: Store) -> None:
        async with asyncio.timeout(10), writing(store) as log:
            await log.create(ONE, [beginning()])
            await quietly(log.append(ONE, []))
            await log.append(ONE, [said()])
        assert len(await store.read(ONE)) == 2

    @pytest.mark.parametrize("depth", range(194, 204))
    async def test_an_answer_that_was_acknowledged_can_be_read(self, store: Store, depth: int) -> None:
        async with asyncio.timeout(10), writing(store) as log:
            await log.create(ONE, [beginning(), question(kind="form"), now_is(Status.WAITING)])
            with contextlib.suppress(BelayerError):
                await log.decide(ONE, to(Answer(request_id=asked(), value=nested(depth))))
        assert fold(ONE, await store.read(ONE)).workflow == "work"

    @pytest.mark.parametrize("depth", range(194, 204))
    async def test_a_session_that_was_acknowledged_can_be_read(self, store: Store, depth: int) -> None:
        async with asyncio.timeout(10), writing(store) as log:
            with contextlib.suppress(BelayerError):
                start = Start(workflow="work", input=nested(depth))
                begun = Begun(workflow="work", title="t", mode=Mode.HITL, input=start.input)
                await log.create(ONE, [SessionChanged(status=Status.QUEUED, begun=begun)])
        records = await store.read(ONE)
        assert not records or fold(ONE, records).workflow == "work"


def nested(depth: int) -> Any:
    """An object in an object in an object …"""
    value: Any = {}
    for _ in range(depth):
        value = {"x": value}
    return value


async def quietly(append: Any) -> None:
    """Whatever it says is fine, as long as it says something."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(2):
            await append


class TestState:
    async def test_the_state_is_the_fold_of_the_log(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning(), question()])
            await log.append(ONE, [now_is(Status.WAITING)])
            await log.decide(ONE, to(Answer(request_id=asked(), value="x")))
            assert await log.state(ONE) == fold(ONE, await store.read(ONE))

    async def test_the_state_after_a_rewind_is_the_fold_of_the_log(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning(), question(), now_is(Status.WAITING)])
            await log.decide(ONE, to(Answer(request_id=asked(), value="x")))
            await log.state(ONE)
            await log.append(ONE, [now_is(Status.PAUSED)])
            await log.decide(ONE, to(Rewind(seq=3)))
            await log.append(ONE, [said()])
            assert await log.state(ONE) == fold(ONE, await store.read(ONE))

    async def test_the_state_follows_another_process(self, store: Store) -> None:
        async with writing(store) as log:
            await log.create(ONE, [beginning()])
            await log.state(ONE)
            await add(store, ONE, now_is(Status.CANCELLED))
            assert (await log.state(ONE)).status is Status.CANCELLED

    async def test_the_states_of_many_sessions_are_kept_apart(self, store: Store) -> None:
        async with writing(store) as log:
            for number in range(100):
                await create(store, named(number), beginning(str(number)))
            for number in (*range(100), *range(100)):
                assert (await log.state(named(number))).title == str(number)

    async def test_there_is_no_state_of_an_unknown_session(self, store: Store) -> None:
        async with writing(store) as log:
            with pytest.raises(UnknownSession, match=ONE):
                await log.state(ONE)


async def test_a_log_whose_session_was_removed_does_not_bring_it_back(store: Store) -> None:
    async with writing(store) as log:
        await log.create(ONE, [beginning()])
        await log.state(ONE)
        await store.remove([ONE])
        with pytest.raises(UnknownSession):
            await log.decide(ONE, to(Cancel()))
        assert isinstance(log, Log)
