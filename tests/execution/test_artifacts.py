"""What a step makes is kept, told, fetched, exported, and gone with its session."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer import Run, act
from belayer.execution.step import artifact_name, this_step
from belayer.vocabulary.errors import UnknownArtifact
from belayer.vocabulary.events.steps import ArtifactMade
from tests.support.engines import memory_engine

_PICTURE = b"\x89PNG" + bytes(range(256)) * 200


async def _drawn(run: Run) -> str:
    @act(effect="read")
    async def draw() -> str:
        made = await this_step().keep("page.png", "image/png", _PICTURE)
        return str(made["artifact"])

    return await run.step("look", draw)


async def test_what_a_step_made_can_be_fetched_by_the_name_it_got() -> None:
    async with memory_engine(_drawn) as engine:
        session = await engine.start(_drawn)
        name = await session.result()
        assert name == "look.page.png"
        assert await engine.artifact(session.id, "look.page.png") == ("image/png", _PICTURE)


async def test_a_name_that_nothing_has_is_refused() -> None:
    async with memory_engine(_drawn) as engine:
        session = await engine.start(_drawn)
        await session.result()
        with pytest.raises(UnknownArtifact):
            await engine.artifact(session.id, "../look.page.png")


async def test_what_was_made_travels_with_an_export() -> None:
    async with memory_engine(_drawn) as engine, memory_engine(_drawn) as other:
        session = await engine.start(_drawn)
        await session.result()
        there = await other.take_in(await engine.export(session.id))
        assert await other.artifact(there, "look.page.png") == ("image/png", _PICTURE)


async def test_a_secret_in_a_text_that_a_step_makes_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "not-for-everybody")

    async def notes(run: Run) -> None:
        @act(effect="read")
        async def write() -> None:
            await this_step().keep("notes.txt", "text/plain", b"it is not-for-everybody, really")

        await run.step("write", write)

    async with memory_engine(notes) as engine:
        session = await engine.start(notes)
        await session.result()
        _, content = await engine.artifact(session.id, "write.notes.txt")
        assert b"not-for-everybody" not in content


@given(st.text(min_size=1), st.text(max_size=300))
def test_any_key_and_name_make_a_name_that_an_event_can_hold(key: str, name: str) -> None:
    ArtifactMade(key=key, name=artifact_name(key, name), media_type="text/plain")


def test_two_keys_that_look_alike_get_two_names() -> None:
    assert artifact_name("a/b", "x") != artifact_name("a-b", "x")
