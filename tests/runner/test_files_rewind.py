"""A rewind brings the files back with the log, whole or not at all, even if the process dies in between."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from belayer.engine import Engine, Session
from belayer.sessions.decide import decide
from belayer.sessions.rewind import restoring, snapshot_at
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Rewind
from belayer.vocabulary.errors import IllegalTransition, WorkspaceMoved
from belayer.vocabulary.events.event import Status, StepStatus
from belayer.vocabulary.events.lifecycle import SessionChanged, WorkspaceRestored
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import damage_of, engine_on, events_of, reached, records_of
from tests.support.plans import begin
from tests.support.records import writing
from tests.workspace.trees import git, held, make

BEFORE = {"a.txt": b"0", "old.txt": b"old", "docs/x": b"x"}


def write(id_: str, path: str, content: str) -> dict[str, Any]:
    return {"id": id_, "tool": "files.write", "params": {"path": path, "content": content}}


PLAN: tuple[dict[str, Any], ...] = (
    write("one", "a.txt", "1"),
    {"id": "who", "tool": "request_input", "params": {"prompt": "Who?"}},
    write("two", "a.txt", "2 {{steps.who.output.answer}}"),
    write("three", "new/b.txt", "b"),
    {"id": "four", "tool": "files.delete", "params": {"path": "old.txt"}},
)


@dataclass
class Scene:
    """A folder, and a plan carried out in it, with a person who answers Ada."""

    work: Path
    keeping: Keeping
    clock: ManualClock = field(default_factory=ManualClock)

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        async with engine_on(self.keeping, self.clock) as engine:
            yield engine

    async def played(self, engine: Engine) -> Session:
        session = await begin(engine, *PLAN, workspace=self.work)
        await self.play(session)
        return session

    async def play(self, session: Session, name: str = "Ada") -> None:
        """Answer what is asked, to the end."""
        if (await session.settled()).status is Status.WAITING:
            await session.answer(name)
        await session.result()

    async def seq(self, session: Session, key: str, status: StepStatus = StepStatus.COMPLETED) -> int:
        """The last event of a step with this status."""
        for record in reversed(await records_of(self.keeping, session.id)):
            event = record.event()
            if isinstance(event, StepChanged) and (event.key, event.status) == (key, status):
                return record.seq
        raise AssertionError(f"{key} was never {status}")

    def held(self) -> dict[str, bytes]:
        return files_in(self.work)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path: content for path, (_, _, content) in held(folder).items() if ".git" not in path}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    make(tmp_path / "work", BEFORE)
    return Scene(tmp_path / "work", kept_in_memory(tmp_path / "home"))


AFTER = {"a.txt": b"2 Ada", "new/b.txt": b"b", "docs/x": b"x"}


async def test_files_and_log_go_back_together_and_on_again(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        assert scene.held() == AFTER
        state = await session.rewind(await scene.seq(session, "one"))
        assert state.status is Status.PAUSED
        assert scene.held() == BEFORE | {"a.txt": b"1"}
        (told,) = await events_of(scene.keeping, session.id, WorkspaceRestored)
        assert (told.written, told.deleted, told.skipped) == (2, 1, ())
        await session.resume()
        await scene.play(session, "Bob")
        assert scene.held() == AFTER | {"a.txt": b"2 Bob"}
        assert await damage_of(engine) == []


async def test_a_rewind_to_before_the_first_effect_brings_back_what_was_there_at_first(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        await session.rewind(1)
        assert scene.held() == BEFORE
        await session.resume()
        await scene.play(session)
        assert scene.held() == AFTER


@pytest.mark.parametrize("key", ["one", "two", "three", "four"])
async def test_the_preview_is_what_then_happens(scene: Scene, key: str) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        make(scene.work, {"mine.txt": b"a person's", "docs/x": b"changed"})
        before, seq = scene.held(), await scene.seq(session, key, StepStatus.RUNNING)
        changes = await engine.files_after(session.id, seq)
        assert scene.held() == before
        await session.rewind(seq)
        after = scene.held()
        assert {change.path for change in changes} == {
            path for path in before | after if before.get(path) != after.get(path)
        }
        assert {change.path for change in changes if change.kind == "delete"} == before.keys() - after.keys()


async def test_where_nothing_was_done_since_the_preview_is_empty_and_the_files_stay(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        seq = await scene.seq(session, "four")
        make(scene.work, {"mine.txt": b"a person's"})
        assert await engine.files_after(session.id, seq) == []
        await session.rewind(seq)
        assert scene.held() == AFTER | {"mine.txt": b"a person's"}


async def test_what_a_person_changed_before_they_answered_stays_when_it_goes_back_to_the_answer(
    scene: Scene,
) -> None:
    async with scene.engine() as engine:
        session = await begin(engine, *PLAN, workspace=scene.work)
        await reached(session, Status.WAITING)
        make(scene.work, {"docs/x": b"by hand"})
        await scene.play(session)
        await session.rewind(await scene.seq(session, "who"))
        assert scene.held() == BEFORE | {"a.txt": b"1", "docs/x": b"by hand"}


async def test_files_stay_where_only_the_log_is_to_go_back(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        await engine.tell(session.id, Rewind(seq=1, files=False))
        assert scene.held() == AFTER
        assert await events_of(scene.keeping, session.id, WorkspaceRestored) == []
        await session.resume()
        await reached(session, Status.WAITING)
        assert scene.held() == AFTER | {"a.txt": b"1"}


async def test_a_moved_repository_is_left_alone_and_so_is_the_log(scene: Scene) -> None:
    git(scene.work, "init", "-q")
    git(scene.work, "add", "a.txt")
    git(scene.work, "commit", "-q", "-m", "first")
    async with scene.engine() as engine:
        session = await scene.played(engine)
        seq = await scene.seq(session, "one")
        git(scene.work, "commit", "-q", "--allow-empty", "-m", "second")
        before, files = await session.state(), scene.held()
        for refused in (engine.files_after(session.id, seq), session.rewind(seq)):
            with pytest.raises(WorkspaceMoved) as moved:
                await refused
            assert "Check out" in (moved.value.hint or "")
        assert (await session.state(), scene.held()) == (before, files)
        git(scene.work, "reset", "-q", "--soft", "HEAD~1")
        await session.rewind(seq)
        assert scene.held()["a.txt"] == b"1"


async def test_a_running_session_is_not_rewound_and_its_files_stay(scene: Scene) -> None:
    async with engine_on(scene.keeping, scene.clock, drives="none") as engine:
        session = await begin(engine, *PLAN, workspace=scene.work)
        with pytest.raises(IllegalTransition):
            await session.rewind(1)
    assert scene.held() == BEFORE


async def cut_off(scene: Scene, session: Session, seq: int) -> None:
    """A rewind by a process that dies before it comes to the files."""
    kept = snapshot_at(await records_of(scene.keeping, session.id), seq)
    assert kept is not None
    async with writing(scene.keeping.store, scene.clock) as log:
        await log.decide(session.id, lambda state, now: restoring(decide(state, Rewind(seq=seq), now), kept))


async def test_a_rewind_that_was_cut_off_is_finished_before_anything_else_is_done(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
    await cut_off(scene, session, await scene.seq(session, "one"))
    assert scene.held() == AFTER
    async with scene.engine() as engine:
        session = engine.session(session.id)
        await session.resume()
        await reached(session, Status.WAITING)
        assert scene.held() == BEFORE | {"a.txt": b"1"}
        assert len(await events_of(scene.keeping, session.id, WorkspaceRestored)) == 1
        await scene.play(session)
        assert scene.held() == AFTER
        assert len(await events_of(scene.keeping, session.id, WorkspaceRestored)) == 1
        assert await damage_of(engine) == []


@pytest.mark.parametrize("key", ["one", "two", "four"])
async def test_a_second_rewind_makes_up_for_one_that_was_cut_off(scene: Scene, key: str) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
    later = await scene.seq(session, key)
    await cut_off(scene, session, await scene.seq(session, "one"))
    async with scene.engine() as engine:
        await engine.session(session.id).rewind(later)
        assert scene.held() == BEFORE | {"a.txt": b"1"}


async def test_a_rewind_that_cannot_be_finished_holds_the_session_until_it_can(scene: Scene) -> None:
    git(scene.work, "init", "-q")
    git(scene.work, "add", "a.txt")
    git(scene.work, "commit", "-q", "-m", "first")
    async with scene.engine() as engine:
        session = await scene.played(engine)
    await cut_off(scene, session, await scene.seq(session, "one"))
    git(scene.work, "commit", "-q", "--allow-empty", "-m", "second")
    async with scene.engine() as engine:
        session = engine.session(session.id)
        await session.resume()
        state = await reached(session, Status.PAUSED)
        assert "repository" in (state.reason or "")
        assert scene.held() == AFTER
        git(scene.work, "reset", "-q", "--soft", "HEAD~1")
        await session.resume()
        await scene.play(session)
        assert scene.held() == AFTER


async def test_rewinds_can_follow_each_other(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        await session.rewind(await scene.seq(session, "three"))
        assert scene.held() == AFTER | {"old.txt": b"old"}
        await session.rewind(await scene.seq(session, "one"))
        assert scene.held() == BEFORE | {"a.txt": b"1"}
        await session.rewind(1)
        assert scene.held() == BEFORE
        for name in ("Bob", "Cy"):
            await session.resume()
            await scene.play(session, name)
            assert scene.held() == AFTER | {"a.txt": f"2 {name}".encode()}
            await session.rewind(1)
            assert scene.held() == BEFORE
        assert await damage_of(engine) == []


async def test_effects_after_a_rewind_are_made_anew_under_keys_of_their_own(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        await session.rewind(await scene.seq(session, "one"))
        await session.resume()
        await scene.play(session)
    begun = [
        event
        for event in await events_of(scene.keeping, session.id, StepChanged)
        if event.status is StepStatus.RUNNING and event.idempotency_key is not None
    ]
    assert [event.key for event in begun] == ["one", "two", "three", "four", "two", "three", "four"]
    assert len({event.idempotency_key for event in begun}) == len(begun)


async def test_what_was_too_large_to_keep_is_left_alone_and_told(scene: Scene) -> None:
    with (scene.work / "huge").open("wb") as file:
        file.truncate(20_000_001)
    async with scene.engine() as engine:
        session = await scene.played(engine)
        begun = [
            event
            for event in await events_of(scene.keeping, session.id, StepChanged)
            if event.workspace is not None
        ]
        assert all(event.workspace is not None and event.workspace.truncated for event in begun)
        (scene.work / "huge").write_bytes(b"small now")
        with (scene.work / "also huge").open("wb") as file:
            file.truncate(20_000_001)
        await session.rewind(1)
        assert {path for path in scene.held() if path not in BEFORE} == {"huge", "also huge"}
        assert (scene.work / "huge").read_bytes() == b"small now"
        (told,) = await events_of(scene.keeping, session.id, WorkspaceRestored)
        assert [line.partition(":")[0] for line in told.skipped] == ["also huge", "huge"]


async def test_a_fork_has_a_log_and_files_of_its_own_and_repeats_no_effect_of_its_origin(
    scene: Scene,
) -> None:
    async with scene.engine() as engine:
        session = await begin(engine, *PLAN, workspace=scene.work)
        await reached(session, Status.WAITING)
        fork = await session.fork()
        original, files = await session.state(), scene.held()
        await fork.resume()
        await scene.play(fork, "Bob")
        assert await session.state() == original
        assert scene.held() == files
        folder = (await fork.state()).workspace
        assert folder is not None
        assert files_in(Path(folder)) == AFTER | {"a.txt": b"2 Bob"}
        begun = [
            event.key
            for event in await events_of(scene.keeping, fork.id, StepChanged)
            if event.status is StepStatus.RUNNING and event.idempotency_key is not None
        ]
        assert begun == ["one", "two", "three", "four"]
        assert (await reached(session, Status.WAITING)).pending == original.pending


async def test_the_log_says_which_files_a_rewind_wants_back_before_it_touches_them(scene: Scene) -> None:
    async with scene.engine() as engine:
        session = await scene.played(engine)
        seq = await scene.seq(session, "one")
        wanted = snapshot_at(await records_of(scene.keeping, session.id), seq)
        await session.rewind(seq)
    told = [record.event() for record in await records_of(scene.keeping, session.id)][-2:]
    assert isinstance(told[0], SessionChanged)
    assert (told[0].rewound_to, told[0].restores) == (seq, wanted)
    assert isinstance(told[1], WorkspaceRestored)
