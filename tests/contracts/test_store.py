"""What every store promises, whatever it is made of."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from belayer.sessions.record import GENESIS, check_chain
from belayer.sessions.rows import SessionRow, from_state
from belayer.sessions.state import fold
from belayer.sessions.store import HOUR, Hour, Mark, Proposal, Store, Wanted
from belayer.sessions.stores.memory import MemoryStore
from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.clock import to_micros
from belayer.vocabulary.errors import (
    AlreadyDecided,
    Fenced,
    KeyReused,
    Moved,
    NotRunning,
    UnknownSession,
)
from belayer.vocabulary.events.event import Mode, Status
from belayer.vocabulary.events.lifecycle import AfterPause
from belayer.vocabulary.ids import SessionId
from tests.support.records import (
    AT,
    add,
    adding,
    beginning,
    create,
    creating,
    entry,
    named,
    now_is,
    put,
    said,
    taken,
)

ONE, TWO, THREE = named(1), named(2), named(3)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made: Store = (
        MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "belayer.db")
    )
    yield made
    await made.close()


async def seqs(store: Store, session_id: SessionId, after: int = 0, limit: int | None = None) -> list[int]:
    return [record.seq for record in await store.read(session_id, after, limit)]


async def titles(store: Store, wanted: Wanted) -> list[str]:
    return [row.title for row in await store.rows(wanted)]


class TestAppending:
    async def test_what_was_committed_is_read_back_as_it_was(self, store: Store) -> None:
        made = await create(store, ONE, beginning("ä title"), said("☃"))
        assert await store.read(ONE) == made

    async def test_a_stage_is_kept(self, store: Store) -> None:
        await create(store, ONE)
        await put(store, Proposal(ONE, (entry(said(), stage="planning"),)))
        assert (await store.read(ONE))[-1].stage == "planning"

    async def test_records_are_numbered_without_gaps(self, store: Store) -> None:
        await create(store, ONE, beginning(), said())
        await add(store, ONE, said(), said(), said())
        await add(store, ONE, said())
        assert await seqs(store, ONE) == [1, 2, 3, 4, 5, 6]

    async def test_records_of_several_commits_form_one_hash_chain(self, store: Store) -> None:
        await create(store, ONE)
        for number in range(5):
            await add(store, ONE, said(str(number)))
        row = await store.row(ONE)
        assert row is not None
        assert check_chain(await store.read(ONE)) == row.last_hash

    async def test_the_first_record_follows_the_genesis_hash(self, store: Store) -> None:
        (first,) = await create(store, ONE)
        assert first.follows(GENESIS)

    async def test_each_session_has_numbers_of_its_own(self, store: Store) -> None:
        await put(store, creating(ONE), creating(TWO), adding(ONE), adding(TWO), adding(ONE))
        assert (await seqs(store, ONE), await seqs(store, TWO)) == ([1, 2, 3], [1, 2])

    async def test_an_append_to_an_unknown_session_is_refused(self, store: Store) -> None:
        with pytest.raises(UnknownSession, match=ONE):
            await add(store, ONE)

    async def test_a_refused_append_to_an_unknown_session_leaves_nothing(self, store: Store) -> None:
        await put(store, adding(ONE))
        assert (await store.read(ONE), await store.row(ONE)) == ([], None)

    async def test_a_session_cannot_be_created_twice(self, store: Store) -> None:
        await create(store, ONE)
        with pytest.raises(AlreadyDecided, match=ONE):
            await create(store, ONE)

    async def test_creating_twice_leaves_the_first_as_it_was(self, store: Store) -> None:
        made = await create(store, ONE, beginning("first"))
        await put(store, creating(ONE, beginning("second"), said()))
        assert await store.read(ONE) == made

    async def test_creating_twice_in_one_commit_takes_only_the_first(self, store: Store) -> None:
        first, second = await put(
            store, creating(ONE, beginning("first")), creating(ONE, beginning("second"))
        )
        assert isinstance(first, list)
        assert isinstance(second, AlreadyDecided)

    async def test_two_proposals_for_one_session_in_one_commit_come_one_after_the_other(
        self, store: Store
    ) -> None:
        await create(store, ONE)
        await put(store, adding(ONE, said("first"), said("second")), adding(ONE, said("third")))
        assert [record.data for record in await store.read(ONE, 1)] == [
            b'{"text":"first","level":"info"}',
            b'{"text":"second","level":"info"}',
            b'{"text":"third","level":"info"}',
        ]

    async def test_a_session_can_be_created_and_continued_in_one_commit(self, store: Store) -> None:
        created, added = await put(store, creating(ONE), adding(ONE, taken(1), epoch=0, expected_seq=1))
        assert isinstance(created, list)
        assert isinstance(added, list)
        check_chain(created + added)

    async def test_a_refused_proposal_does_not_keep_its_neighbours_from_being_taken(
        self, store: Store
    ) -> None:
        await create(store, ONE)
        answers = await put(
            store, adding(ONE), adding(TWO), creating(ONE), creating(THREE), adding(ONE, epoch=9), adding(ONE)
        )
        assert [type(answer) for answer in answers] == [
            list,
            UnknownSession,
            AlreadyDecided,
            list,
            Fenced,
            list,
        ]
        assert (await seqs(store, ONE), await seqs(store, THREE)) == ([1, 2, 3], [1])

    async def test_an_empty_commit_changes_nothing(self, store: Store) -> None:
        assert list(await put(store)) == []

    async def test_large_data_comes_back_whole(self, store: Store) -> None:
        (_, large) = await create(store, ONE, beginning(), said("x" * 1_000_000))
        assert (await store.read(ONE))[1].data == large.data

    async def test_events_are_ordered_by_seq_even_when_the_clock_goes_back(self, store: Store) -> None:
        await create(store, ONE)
        await add(store, ONE, said("earlier"), at=AT - timedelta(days=1))
        assert await seqs(store, ONE) == [1, 2]


class TestCommittingAtOnce:
    async def test_a_commit_at_once_is_a_commit_or_nothing(self, store: Store) -> None:
        await create(store, ONE)
        answers = store.commit_now([adding(ONE), adding(TWO)])
        assert await seqs(store, ONE) == ([1] if answers is None else [1, 2])

    async def test_a_commit_at_once_refuses_what_a_commit_refuses(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(2))
        answers = store.commit_now([adding(ONE, epoch=1), adding(TWO), creating(ONE)])
        kinds = None if answers is None else [type(answer) for answer in answers]
        assert kinds in (None, [Fenced, UnknownSession, AlreadyDecided])

    async def test_commits_at_once_and_others_make_one_chain(self, store: Store) -> None:
        await create(store, ONE)
        for _ in range(5):
            store.commit_now([adding(ONE)])
            await add(store, ONE)
        check_chain(await store.read(ONE))


class TestConditions:
    async def test_a_driver_with_the_newest_epoch_may_append(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        await add(store, ONE, said(), epoch=1)
        assert await seqs(store, ONE) == [1, 2, 3]

    @pytest.mark.parametrize("epoch", [0, 1, 3])
    async def test_a_driver_with_another_epoch_is_fenced(self, store: Store, epoch: int) -> None:
        await create(store, ONE, beginning(), taken(1), taken(2))
        with pytest.raises(Fenced):
            await add(store, ONE, said(), epoch=epoch)
        assert await seqs(store, ONE) == [1, 2, 3]

    async def test_a_takeover_in_the_same_commit_already_fences(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        took, stale = await put(store, adding(ONE, taken(2), epoch=1), adding(ONE, epoch=1))
        assert isinstance(took, list)
        assert isinstance(stale, Fenced)

    async def test_only_the_first_of_two_takers_gets_the_session(self, store: Store) -> None:
        await create(store, ONE)
        first, second = await put(
            store,
            adding(ONE, taken(1, "a"), epoch=0, expected_seq=1),
            adding(ONE, taken(1, "b"), epoch=0, expected_seq=1),
        )
        row = await store.row(ONE)
        assert isinstance(first, list)
        assert isinstance(second, Fenced)
        assert row is not None
        assert (row.epoch, row.driver) == (1, "a")

    async def test_people_need_no_epoch(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(5))
        await add(store, ONE, now_is(Status.PAUSED))
        assert await seqs(store, ONE) == [1, 2, 3]

    async def test_an_append_at_the_expected_seq_is_taken(self, store: Store) -> None:
        await create(store, ONE)
        await add(store, ONE, expected_seq=1)
        assert await seqs(store, ONE) == [1, 2]

    @pytest.mark.parametrize("expected", [0, 1, 3, 99])
    async def test_an_append_at_another_seq_is_told_that_the_session_moved(
        self, store: Store, expected: int
    ) -> None:
        await create(store, ONE, beginning(), said())
        with pytest.raises(Moved):
            await add(store, ONE, expected_seq=expected)
        assert await seqs(store, ONE) == [1, 2]

    async def test_the_second_of_two_appends_at_one_expected_seq_is_told_in_the_same_commit(
        self, store: Store
    ) -> None:
        await create(store, ONE)
        first, second = await put(store, adding(ONE, expected_seq=1), adding(ONE, expected_seq=1))
        assert isinstance(first, list)
        assert isinstance(second, Moved)

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.RUNNING}))
    async def test_work_may_not_begin_in_a_session_that_does_not_run(
        self, store: Store, status: Status
    ) -> None:
        await create(store, ONE, beginning(), now_is(status))
        with pytest.raises(NotRunning, match=status):
            await add(store, ONE, needs_running=True)

    async def test_work_may_begin_in_a_session_that_runs(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        await add(store, ONE, said(), epoch=1, needs_running=True)
        assert await seqs(store, ONE) == [1, 2, 3]

    async def test_a_pause_in_the_same_commit_keeps_work_from_beginning(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        _, work = await put(
            store, adding(ONE, now_is(Status.PAUSED)), adding(ONE, epoch=1, needs_running=True)
        )
        assert isinstance(work, NotRunning)


class TestIdempotencyKeys:
    async def test_a_session_is_found_by_its_key(self, store: Store) -> None:
        await create(store, ONE, beginning(key="k'1%"))
        row = await store.started_with("k'1%")
        assert row is not None
        assert row.id == ONE

    async def test_a_key_nobody_used_finds_nothing(self, store: Store) -> None:
        await create(store, ONE)
        assert await store.started_with("k") is None

    async def test_a_key_cannot_be_used_by_a_second_session(self, store: Store) -> None:
        await create(store, ONE, beginning(key="k"))
        with pytest.raises(KeyReused, match="'k'"):
            await create(store, TWO, beginning(key="k"))
        assert await store.row(TWO) is None

    async def test_of_two_sessions_with_one_key_in_one_commit_the_first_gets_it(self, store: Store) -> None:
        first, second = await put(store, creating(ONE, beginning(key="k")), creating(TWO, beginning(key="k")))
        assert isinstance(first, list)
        assert isinstance(second, KeyReused)

    async def test_a_session_with_a_key_can_go_on(self, store: Store) -> None:
        await create(store, ONE, beginning(key="k"))
        await add(store, ONE, taken(1))
        assert await seqs(store, ONE) == [1, 2]

    async def test_a_removed_session_gives_its_key_back(self, store: Store) -> None:
        await create(store, ONE, beginning(key="k"))
        await store.remove([ONE])
        await create(store, TWO, beginning(key="k"))
        row = await store.started_with("k")
        assert row is not None
        assert row.id == TWO


class TestReading:
    async def test_an_unknown_session_has_no_records_and_no_row(self, store: Store) -> None:
        assert (await store.read(ONE), await store.row(ONE)) == ([], None)

    async def test_reading_begins_after_the_cursor(self, store: Store) -> None:
        await create(store, ONE, beginning(), *(said() for _ in range(9)))
        assert await seqs(store, ONE, 7) == [8, 9, 10]

    async def test_reading_ends_at_the_limit(self, store: Store) -> None:
        await create(store, ONE, beginning(), *(said() for _ in range(9)))
        assert await seqs(store, ONE, 2, 3) == [3, 4, 5]

    async def test_a_limit_of_nothing_gives_nothing(self, store: Store) -> None:
        await create(store, ONE)
        assert await seqs(store, ONE, 0, 0) == []

    async def test_pages_together_are_the_whole_log(self, store: Store) -> None:
        await create(store, ONE, beginning(), *(said(str(n)) for n in range(700)))
        pages = [page for start in range(0, 701, 100) for page in await store.read(ONE, start, 100)]
        assert pages == await store.read(ONE)

    @pytest.mark.parametrize("after", [3, 4, 2**31, 2**32, 2**40, 2**63, 10**30])
    async def test_a_cursor_at_or_beyond_the_end_gives_nothing(self, store: Store, after: int) -> None:
        await create(store, ONE, beginning(), said(), said())
        await create(store, TWO, beginning(), said(), said(), said())
        assert await seqs(store, ONE, after) == []

    @pytest.mark.parametrize("after", [-1, -2, -(2**40), -(10**30)])
    async def test_a_cursor_before_the_beginning_gives_everything(self, store: Store, after: int) -> None:
        await create(store, ONE, beginning(), said(), said())
        assert await seqs(store, ONE, after) == [1, 2, 3]


class TestRows:
    async def test_a_row_says_what_the_log_says(self, store: Store) -> None:
        pause = AfterPause(at=AT + timedelta(hours=1), then="cancel")
        await create(store, ONE, beginning("t", mode=Mode.AUTONOMOUS, key="k"), taken(1, "me"), said())
        await add(store, ONE, now_is(Status.PAUSED, after_pause=pause))
        records = await store.read(ONE)
        assert await store.row(ONE) == from_state(fold(ONE, records), records[-1].hash)

    async def test_a_refused_proposal_leaves_the_row_as_it_was(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        before = await store.row(ONE)
        await put(store, adding(ONE, taken(3), epoch=0), adding(ONE, now_is(Status.FAILED), expected_seq=7))
        assert await store.row(ONE) == before

    async def test_rows_come_newest_first(self, store: Store) -> None:
        await put(store, creating(TWO, beginning("2")), creating(ONE, beginning("1")), creating(THREE))
        assert [row.id for row in await store.rows(Wanted())] == [THREE, TWO, ONE]

    async def test_pages_of_rows_together_are_all_rows(self, store: Store) -> None:
        await put(store, *(creating(named(number)) for number in range(25)))
        found: list[SessionRow] = []
        while page := await store.rows(Wanted(before=found[-1].id if found else None, limit=10)):
            found += page
        assert [row.id for row in found] == [named(number) for number in reversed(range(25))]

    async def test_rows_can_be_chosen_by_status(self, store: Store) -> None:
        await put(store, creating(ONE, beginning("1")), creating(TWO, beginning("2"), now_is(Status.FAILED)))
        await create(store, THREE, beginning("3"), now_is(Status.WAITING))
        wanted = Wanted(statuses=frozenset({Status.FAILED, Status.WAITING}))
        assert await titles(store, wanted) == ["3", "2"]

    async def test_rows_can_be_chosen_by_mode(self, store: Store) -> None:
        await put(store, creating(ONE, beginning("1", mode=Mode.AUTONOMOUS)), creating(TWO, beginning("2")))
        assert await titles(store, Wanted(mode=Mode.AUTONOMOUS)) == ["1"]

    async def test_rows_can_be_chosen_by_workflow(self, store: Store) -> None:
        await put(
            store, creating(ONE, beginning("1", workflow="a")), creating(TWO, beginning("2", workflow="ab"))
        )
        assert await titles(store, Wanted(workflow="a")) == ["1"]

    async def test_all_conditions_hold_together(self, store: Store) -> None:
        await put(
            store,
            creating(ONE, beginning("x1", workflow="a")),
            creating(TWO, beginning("x2", workflow="b")),
            creating(THREE, beginning("y3", workflow="a")),
        )
        wanted = Wanted(
            statuses=frozenset({Status.QUEUED}), mode=Mode.HITL, workflow="a", text="x", before=THREE, limit=5
        )
        assert await titles(store, wanted) == ["x1"]

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("Rename the flag", "rename"),
            ("rename the flag", "THE FLAG"),
            ("100% done", "100%"),
            ("snake_case", "e_c"),
            ("it's", "it's"),
            ('say "so"', '"so"'),
            ("a\\b", "\\"),
            ("x; DROP TABLE sessions; --", "; DROP"),
            ("Ärger im Büro", "Ärger"),
            ("Ärger im Büro", "ärger"),
            ("ärger im büro", "BÜRO"),
            ("日本語の題", "語の"),
            ("party 🎉 time", "🎉"),
        ],
    )
    async def test_a_title_is_found_by_a_part_of_it(self, store: Store, title: str, text: str) -> None:
        await put(store, creating(ONE, beginning(title)), creating(TWO, beginning("zzz", workflow="zzz")))
        assert await titles(store, Wanted(text=text)) == [title]

    @pytest.mark.parametrize("text", ["%", "_", "'", "''", "\\", "*", "?", "a%c", "a_c", "' OR '1'='1"])
    async def test_a_search_takes_no_character_for_a_pattern(self, store: Store, text: str) -> None:
        await put(store, creating(ONE, beginning("abc")), creating(TWO, beginning("def")))
        assert await titles(store, Wanted(text=text)) == []

    async def test_a_session_is_found_by_its_workflow(self, store: Store) -> None:
        await put(store, creating(ONE, beginning("1", workflow="Change_Code")), creating(TWO, beginning("2")))
        assert await titles(store, Wanted(text="e_code")) == ["1"]

    async def test_a_session_is_found_by_the_beginning_of_its_id(self, store: Store) -> None:
        await put(store, creating(ONE, beginning("1")), creating(TWO, beginning("2")))
        assert await titles(store, Wanted(text=ONE[:12].upper())) == ["1"]

    async def test_an_empty_search_finds_everything(self, store: Store) -> None:
        await put(store, creating(ONE), creating(TWO))
        assert len(await store.rows(Wanted(text=""))) == 2

    async def test_a_row_can_be_replaced(self, store: Store) -> None:
        await create(store, ONE, beginning("old"))
        row = SessionRow(ONE, "w", "new", Mode.AUTONOMOUS, Status.FAILED, 1, b"h" * 32, 7, "d", 5, 1, 2, "k")
        await store.replace_row(row)
        assert await store.row(ONE) == row

    async def test_replacing_a_row_keeps_the_records(self, store: Store) -> None:
        made = await create(store, ONE, beginning(), said())
        row = await store.row(ONE)
        assert row is not None
        await store.replace_row(row)
        assert await store.read(ONE) == made

    async def test_an_append_after_a_replaced_row_is_judged_by_the_new_row(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1))
        row = await store.row(ONE)
        wrong = SessionRow(ONE, "work", "a title", Mode.HITL, Status.RUNNING, 2, b"h" * 32, 9)
        assert row is not None
        await add(store, ONE, epoch=1)
        await store.replace_row(wrong)
        with pytest.raises(Fenced):
            await add(store, ONE, epoch=1)


class TestPrefixes:
    async def test_a_whole_id_matches_itself(self, store: Store) -> None:
        await put(store, creating(ONE), creating(TWO))
        assert await store.matching(ONE) == [ONE]

    async def test_a_beginning_matches_every_id_that_has_it(self, store: Store) -> None:
        await put(store, creating(ONE), creating(TWO))
        assert await store.matching(ONE[:6]) == [ONE, TWO]

    async def test_no_more_are_given_than_tell_one_and_several_apart(self, store: Store) -> None:
        await put(store, *(creating(named(number)) for number in range(50)))
        assert 2 <= len(await store.matching("0197")) <= 10

    @pytest.mark.parametrize(
        "prefix", ["f", "0197zzzz", "%", "_", "'", "0197%", "\x00", "é", "0197\uffff", ONE + "0"]
    )
    async def test_what_no_id_begins_with_matches_nothing(self, store: Store, prefix: str) -> None:
        await put(store, creating(ONE), creating(TWO))
        assert await store.matching(prefix) == []


class TestAttention:
    async def test_queued_sessions_are_due_the_longest_waiting_first(self, store: Store) -> None:
        await create(store, ONE, at=AT + timedelta(seconds=2))
        await create(store, TWO, at=AT + timedelta(seconds=1))
        await create(store, THREE, at=AT + timedelta(seconds=3))
        assert [id_ for id_, _ in (await store.due(10)).queued] == [TWO, ONE, THREE]

    async def test_no_more_queued_sessions_are_given_than_wanted(self, store: Store) -> None:
        await put(store, *(creating(named(n), at=AT + timedelta(seconds=n)) for n in range(9)))
        assert [id_ for id_, _ in (await store.due(2)).queued] == [named(0), named(1)]

    async def test_sessions_at_work_are_given_with_their_driver(self, store: Store) -> None:
        await create(store, ONE, beginning(), taken(1, "me"))
        await create(store, TWO, beginning(), now_is(Status.RUNNING))
        assert sorted((await store.due(10)).driven) == [(ONE, "me"), (TWO, None)]

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.QUEUED, Status.RUNNING}))
    async def test_nothing_else_is_due(self, store: Store, status: Status) -> None:
        await create(store, ONE, beginning(), now_is(status))
        due = await store.due(10)
        assert (list(due.queued), list(due.driven)) == ([], [])

    async def test_a_session_is_ripe_from_its_wake_up_time_on(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.WAITING, wake_at=AT))
        wake = to_micros(AT)
        assert (await store.ripe(wake - 1), await store.ripe(wake)) == ([], [ONE])

    async def test_the_end_of_a_pause_is_a_wake_up_time(self, store: Store) -> None:
        await create(
            store, ONE, beginning(), now_is(Status.PAUSED, after_pause=AfterPause(at=AT, then="resume"))
        )
        assert await store.ripe(to_micros(AT)) == [ONE]

    async def test_a_session_that_was_woken_is_not_ripe_any_more(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.WAITING, wake_at=AT), now_is(Status.QUEUED))
        assert (await store.ripe(to_micros(AT)), await store.next_wake()) == ([], None)

    async def test_the_next_wake_up_is_the_earliest(self, store: Store) -> None:
        for number, hours in ((1, 3), (2, 1), (3, 2)):
            wake = AT + timedelta(hours=hours)
            await create(store, named(number), beginning(), now_is(Status.WAITING, wake_at=wake))
        assert await store.next_wake() == to_micros(AT + timedelta(hours=1))

    async def test_without_timers_there_is_no_next_wake_up(self, store: Store) -> None:
        await create(store, ONE)
        assert await store.next_wake() is None

    @pytest.mark.parametrize("status", [Status.WAITING, Status.PAUSED, Status.INTERRUPTED])
    async def test_a_session_nobody_touched_is_idle(self, store: Store, status: Status) -> None:
        (_, last) = await create(store, ONE, beginning(), now_is(status))
        assert (await store.idle_since(last.at), await store.idle_since(last.at + 1)) == ([], [ONE])

    async def test_any_event_makes_a_session_touched(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.WAITING))
        (last,) = await add(store, ONE, said(), at=AT + timedelta(days=1))
        assert await store.idle_since(last.at) == []

    async def test_a_session_that_waits_for_a_time_is_not_idle(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.WAITING, wake_at=AT))
        assert await store.idle_since(to_micros(AT + timedelta(days=99))) == []

    @pytest.mark.parametrize(
        "status", sorted(set(Status) - {Status.WAITING, Status.PAUSED, Status.INTERRUPTED})
    )
    async def test_only_sessions_that_wait_for_a_person_are_idle(self, store: Store, status: Status) -> None:
        await create(store, ONE, beginning(), now_is(status))
        assert await store.idle_since(to_micros(AT + timedelta(days=99))) == []


class TestRemoving:
    async def test_a_removed_session_is_gone(self, store: Store) -> None:
        await create(store, ONE, beginning(), said())
        await store.remove([ONE])
        assert (await store.read(ONE), await store.row(ONE), await store.matching(ONE)) == ([], None, [])

    async def test_removing_leaves_the_others(self, store: Store) -> None:
        made = await create(store, TWO, beginning(), said())
        await create(store, ONE, beginning(), said())
        await create(store, THREE, beginning(), said())
        await store.remove([ONE, THREE])
        assert await store.read(TWO) == made

    async def test_removing_what_is_not_there_is_no_error(self, store: Store) -> None:
        await create(store, ONE)
        await store.remove([TWO])
        assert await seqs(store, ONE) == [1]

    async def test_nothing_can_be_appended_to_a_removed_session(self, store: Store) -> None:
        await create(store, ONE, beginning(), said())
        await store.remove([ONE])
        with pytest.raises(UnknownSession):
            await add(store, ONE)

    async def test_a_removed_session_can_come_back_with_another_log(self, store: Store) -> None:
        await create(store, ONE, beginning(), said(), said())
        await store.remove([ONE])
        made = await create(store, ONE, beginning("again"))
        assert await store.read(ONE) == made

    async def test_a_new_session_never_shows_records_of_a_removed_one(self, store: Store) -> None:
        await create(store, ONE, beginning(), said(), said())
        await store.remove([ONE])
        await create(store, TWO)
        assert await seqs(store, TWO) == [1]


class TestCounting:
    async def test_every_status_is_counted(self, store: Store) -> None:
        await create(store, ONE)
        await create(store, TWO, beginning(), now_is(Status.WAITING))
        await create(store, THREE, beginning(), now_is(Status.WAITING))
        counted = (await store.counts()).by_status
        assert {status: counted.get(status, 0) for status in Status if counted.get(status)} == {
            Status.QUEUED: 1,
            Status.WAITING: 2,
        }

    async def test_a_session_that_waits_for_a_time_waits_for_no_person(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.WAITING))
        await create(store, TWO, beginning(), now_is(Status.WAITING, wake_at=AT))
        await create(
            store, THREE, beginning(), now_is(Status.PAUSED, after_pause=AfterPause(at=AT, then="resume"))
        )
        assert (await store.counts()).for_a_person == 1

    async def test_events_are_counted_over_all_sessions(self, store: Store) -> None:
        assert (await store.counts()).events == 0
        await create(store, ONE, beginning(), said())
        await create(store, TWO)
        assert (await store.counts()).events == 3

    async def test_a_store_takes_more_room_with_every_large_event(self, store: Store) -> None:
        await create(store, ONE)
        before = (await store.counts()).bytes
        await add(store, ONE, said("x" * 100_000))
        assert (await store.counts()).bytes > before + 50_000

    async def test_sessions_are_counted_by_the_hour_they_began_and_ended_in(self, store: Store) -> None:
        await create(store, ONE, at=AT)
        await create(store, TWO, at=AT + timedelta(minutes=59))
        await add(store, ONE, now_is(Status.COMPLETED), at=AT + timedelta(hours=2))
        await add(store, TWO, now_is(Status.FAILED), at=AT + timedelta(hours=2, minutes=1))
        await create(store, THREE, at=AT + timedelta(hours=2))
        first = to_micros(AT)
        assert await store.hours(first) == [Hour(first, 2), Hour(first + 2 * HOUR, 1, 1, 1, 0)]

    async def test_hours_begin_with_the_one_that_is_asked_for(self, store: Store) -> None:
        await create(store, ONE, at=AT - timedelta(minutes=1))
        await create(store, TWO, at=AT + timedelta(minutes=1))
        first = to_micros(AT)
        assert await store.hours(first + HOUR // 2) == [Hour(first, 1)]

    async def test_a_session_that_stands_still_has_not_ended(self, store: Store) -> None:
        await create(store, ONE, beginning(), now_is(Status.EXPIRED))
        assert [hour[2:] for hour in await store.hours(0)] == [(0, 0, 0)]


async def read_on(store: Store, mark: Mark) -> tuple[list[tuple[SessionId, int]], Mark]:
    """Every status change after the mark, and the mark then."""
    found: list[tuple[SessionId, int]] = []
    while True:
        changes = await store.changed_since(mark)
        found += [(record.session_id, record.seq) for record in changes.records]
        if changes.mark == mark:
            return found, mark
        mark = changes.mark


class TestReadingOn:
    async def test_status_changes_come_in_the_order_of_writing(self, store: Store) -> None:
        await create(store, TWO)
        await create(store, ONE, beginning(), said(), now_is(Status.WAITING))
        await add(store, TWO, now_is(Status.COMPLETED), said())
        assert (await read_on(store, Mark()))[0] == [(TWO, 1), (ONE, 1), (ONE, 3), (TWO, 2)]

    async def test_nothing_comes_twice_and_nothing_is_left_out(self, store: Store) -> None:
        await create(store, ONE)
        first, mark = await read_on(store, Mark())
        await add(store, ONE, said())
        between, mark = await read_on(store, mark)
        await add(store, ONE, now_is(Status.RUNNING))
        last, _ = await read_on(store, mark)
        assert (first, between, last) == ([(ONE, 1)], [], [(ONE, 3)])

    async def test_who_has_read_everything_gets_only_what_comes(self, store: Store) -> None:
        await create(store, ONE)
        mark = await store.written_last()
        await create(store, TWO)
        assert (await read_on(store, mark))[0] == [(TWO, 1)]

    async def test_an_empty_store_has_everything_to_come(self, store: Store) -> None:
        mark = await store.written_last()
        await create(store, ONE)
        assert (await read_on(store, mark))[0] == [(ONE, 1)]

    @pytest.mark.parametrize("more", [0, 1, 9])
    async def test_removing_what_was_read_last_hides_nothing_that_comes(
        self, store: Store, more: int
    ) -> None:
        await create(store, ONE, beginning(), now_is(Status.COMPLETED), at=AT)
        await create(store, TWO, beginning(), said(), now_is(Status.FAILED), at=AT + timedelta(minutes=1))
        _, mark = await read_on(store, Mark())
        await store.remove([TWO])
        later = AT + timedelta(hours=1)
        await create(store, THREE, beginning(), *[now_is(Status.WAITING)] * more, at=later)
        found, mark = await read_on(store, mark)
        assert found == [(THREE, seq) for seq in range(1, more + 2)]
        await add(store, ONE, now_is(Status.PAUSED), at=AT)
        assert (await read_on(store, mark))[0] == [(ONE, 3)]

    async def test_a_store_that_was_emptied_hides_nothing_that_comes(self, store: Store) -> None:
        await create(store, ONE)
        _, mark = await read_on(store, Mark())
        await store.remove([ONE])
        _, mark = await read_on(store, mark)
        await create(store, TWO, at=AT - timedelta(days=1))
        assert (await read_on(store, mark))[0] == [(TWO, 1)]

    async def test_a_long_log_is_read_to_its_end(self, store: Store) -> None:
        await create(store, ONE, beginning(), *[said()] * 6_000, now_is(Status.WAITING))
        assert (await read_on(store, Mark()))[0] == [(ONE, 1), (ONE, 6_002)]


async def test_a_healthy_store_reports_no_damage(store: Store) -> None:
    await create(store, ONE)
    assert await store.damage() == []
