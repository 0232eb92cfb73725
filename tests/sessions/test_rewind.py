"""Which state of the files belongs to an event."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from belayer.sessions.record import Record, in_force
from belayer.sessions.rewind import restoring, snapshot_at
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Effect, Snapshot, Status, StepStatus
from belayer.vocabulary.events.lifecycle import Resumed, SessionChanged, WorkspaceRestored
from belayer.vocabulary.events.steps import StepChanged
from tests.support.records import beginning, named, said
from tests.support.records import records as log_of

RUNNING, COMPLETED, FAILED, PAUSED = (
    StepStatus.RUNNING,
    StepStatus.COMPLETED,
    StepStatus.FAILED,
    StepStatus.PAUSED,
)


def files(name: str) -> Snapshot:
    return Snapshot(tree=hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest())


def wrote(status: StepStatus, state: str | None, key: str = "w") -> StepChanged:
    kept = files(state) if state is not None else None
    return StepChanged(key=key, name="write", status=status, effect=Effect.WRITE, workspace=kept)


def rewound(seq: int, state: str | None = None) -> SessionChanged:
    restores = files(state) if state is not None else None
    return SessionChanged(status=Status.PAUSED, rewound_to=seq, epoch=2, restores=restores)


def log(*events: AnyEvent) -> list[Record]:
    return log_of(named(1), beginning(), *events)


def state_at(records: list[Record], seq: int) -> str | None:
    """The name of the state."""
    found = snapshot_at(records, seq)
    names = {files(name).tree: name for name in ("0", "1", "1+", "2", "3", "4")}
    return None if found is None else names[found.tree]


TWO_STEPS = log(
    said(),  # 2
    wrote(RUNNING, "0"),  # 3
    wrote(COMPLETED, "1"),  # 4
    said(),  # 5
    wrote(RUNNING, "1+", "v"),  # 6
    wrote(COMPLETED, "2", "v"),  # 7
    said(),  # 8
)


def test_before_the_first_effect_the_files_are_as_they_were_when_it_began() -> None:
    assert state_at(TWO_STEPS, 1) == "0"
    assert state_at(TWO_STEPS, 2) == "0"


def test_within_a_step_the_files_are_as_they_were_when_it_began() -> None:
    assert state_at(TWO_STEPS, 3) == "0"
    assert state_at(TWO_STEPS, 6) == "1+"


def test_just_after_a_step_the_files_are_as_it_left_them() -> None:
    assert state_at(TWO_STEPS, 4) == "1"


def test_what_a_person_changed_between_two_steps_stays() -> None:
    assert state_at(TWO_STEPS, 5) == "1+"


def test_where_nothing_was_done_to_the_files_since_there_is_nothing_to_bring_back() -> None:
    assert state_at(TWO_STEPS, 7) is None
    assert state_at(TWO_STEPS, 8) is None
    assert state_at(log(said(), said()), 1) is None


def test_a_step_that_was_cut_off_has_touched_the_files() -> None:
    records = log(said(), wrote(RUNNING, "0"))
    assert state_at(records, 2) == "0"
    assert state_at(records, 3) is None


def test_a_step_that_failed_or_was_stopped_may_have_touched_the_files() -> None:
    for status in (FAILED, PAUSED):
        records = log(wrote(RUNNING, "0"), wrote(status, "1"), said())
        assert (state_at(records, 1), state_at(records, 2), state_at(records, 3)) == ("0", "0", None)


def test_a_step_after_which_the_files_could_not_be_kept_is_gone_back_behind_all_the_same() -> None:
    records = log(wrote(RUNNING, "0"), wrote(COMPLETED, None), said())
    assert state_at(records, 1) == "0"


def test_what_a_rewind_left_behind_counts_no_more() -> None:
    records = log(*(record.event() for record in TWO_STEPS[1:]), rewound(4, "1"), WorkspaceRestored(tree="x"))
    assert state_at(records, 3) == "0"
    assert state_at(records, 2) == "0"


def test_files_that_a_rewind_has_not_come_to_yet_are_brought_back_by_the_next() -> None:
    """It went back to 4 and was cut off: the files are still as step v left them."""
    records = log(*(record.event() for record in TWO_STEPS[1:]), rewound(4, "1"))
    for seq in (4, 5, 6, 7, 8):
        assert state_at(records, seq) == "1"


def test_after_a_rewind_that_left_the_files_they_are_as_the_next_step_found_them() -> None:
    records = log(
        *(record.event() for record in TWO_STEPS[1:]),
        rewound(4),  # 9
        Resumed(from_status=Status.PAUSED),  # 10
        wrote(RUNNING, "2", "v"),  # 11
        wrote(COMPLETED, "3", "v"),  # 12
    )
    assert state_at(records, 10) == "2"


def test_a_rewind_says_which_files_have_to_follow() -> None:
    (event, line) = restoring([rewound(4), said()], files("1"))
    assert isinstance(event, SessionChanged)
    assert (event.restores, event.rewound_to) == (files("1"), 4)
    assert line == said()


steps = st.lists(st.sampled_from(["effect", "line"]), min_size=1, max_size=8)


@given(steps, st.data())
def test_what_comes_after_the_next_effect_does_not_matter(kinds: list[str], data: st.DataObject) -> None:
    events: list[AnyEvent] = []
    for number, kind in enumerate(kinds):
        effect = [wrote(RUNNING, f"{number}-", str(number)), wrote(COMPLETED, f"{number}+", str(number))]
        events += effect if kind == "effect" else [said()]
    records = log(*events)
    seq = data.draw(st.integers(1, len(records)))
    kept = snapshot_at(records, seq)
    more = snapshot_at(log(*events, wrote(RUNNING, "later", "l"), wrote(COMPLETED, "last", "l")), seq)
    assert kept is None or more == kept
    assert in_force(records) == records
