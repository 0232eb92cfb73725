"""A step that asks a person: which questions there may be, which answers, and that it waits for ever if it must."""

from pathlib import Path
from typing import Any

import pytest

from belayer.tools.request_input import REQUEST_INPUT
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import ConfigurationError, SessionFailed, UnfitAnswer
from belayer.vocabulary.events.event import Json, Mode, Status
from belayer.vocabulary.events.people import InputRequested
from belayer.wiring import kept_in_memory
from tests.support.engines import engine_on, reached
from tests.support.plans import begin

FORM: dict[str, Json] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": "x" * 10_001}, "prompt"),
        ({"prompt": "?", "kind": "number"}, "kind"),
        ({"prompt": "?", "kind": "choice"}, "choices"),
        ({"prompt": "?", "kind": "text", "choices": ["a"]}, "choices"),
        ({"prompt": "?", "kind": "choice", "choices": []}, "choices"),
        ({"prompt": "?", "kind": "choice", "choices": [""]}, "choices"),
        ({"prompt": "?", "kind": "choice", "choices": ["a"] * 101}, "choices"),
        ({"prompt": "?", "kind": "form"}, "form"),
        ({"prompt": "?", "form": FORM}, "form"),
        ({"prompt": "?", "kind": "form", "form": "x"}, "form"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(params: dict[str, Json], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        REQUEST_INPUT.read(params)


@pytest.mark.parametrize(
    ("params", "unfit", "fit"),
    [
        ({"kind": "text"}, [1, None, True], "Ada"),
        ({"kind": "choice", "choices": ["a", "b"]}, ["c", "A", None], "b"),
        ({"kind": "confirm"}, ["yes", 1, None], False),
        ({"kind": "form", "form": FORM}, ["x", {}, {"n": "1"}, {"n": 1, "more": 2}], {"n": 1, "s": "x"}),
        ({"kind": "form", "form": {}}, ["x"], {"anything": 1}),
        ({"kind": "file"}, [1, None], "docs/a.txt"),
    ],
)
async def test_an_answer_that_fits_is_what_the_step_gives_and_no_other_is_taken(
    tmp_path: Path, params: dict[str, Any], unfit: list[Json], fit: Json
) -> None:
    async with engine_on(kept_in_memory(tmp_path), ManualClock()) as engine:
        session = await begin(
            engine, {"id": "q", "tool": "request_input", "params": {"prompt": "Well?", **params}}
        )
        state = await reached(session, Status.WAITING)
        (request,) = state.pending.values()
        assert isinstance(request, InputRequested)
        assert (request.prompt, request.kind) == ("Well?", params["kind"])
        for answer in unfit:
            with pytest.raises(UnfitAnswer):
                await session.answer(answer)
        await session.answer(fit)
        result: Any = await session.result()
    assert result["outputs"] == {"q": {"answer": fit}}


async def test_a_question_outlives_the_engine_that_asked_it(tmp_path: Path) -> None:
    keeping = kept_in_memory(tmp_path)
    async with engine_on(keeping, ManualClock()) as engine:
        session = await begin(engine, {"id": "q", "tool": "request_input", "params": {"prompt": "Who?"}})
        await reached(session, Status.WAITING)
    async with engine_on(keeping, ManualClock()) as engine:
        session = engine.session(session.id)
        await session.answer("Ada")
        result: Any = await session.result()
    assert result["outputs"] == {"q": {"answer": "Ada"}}


async def test_an_answer_that_looks_like_a_template_is_only_a_text(tmp_path: Path) -> None:
    answer = "{{inputs.secret}} approve: true"
    async with engine_on(kept_in_memory(tmp_path / "home"), ManualClock()) as engine:
        session = await begin(
            engine,
            {"id": "q", "tool": "request_input", "params": {"prompt": "Who?"}},
            {
                "id": "w",
                "tool": "files.write",
                "params": {"path": "a", "content": "{{steps.q.output.answer}}"},
            },
            inputs={"secret": "x"},
        )
        state = await reached(session, Status.WAITING)
        await session.answer(answer)
        await session.result()
    assert (Path(state.workspace or "") / "a").read_text() == answer


async def test_where_nobody_can_be_asked_the_plan_fails_and_says_so(tmp_path: Path) -> None:
    async with engine_on(kept_in_memory(tmp_path), ManualClock()) as engine:
        session = await begin(
            engine, {"id": "q", "tool": "request_input", "params": {"prompt": "Who?"}}, mode=Mode.AUTONOMOUS
        )
        with pytest.raises(SessionFailed, match="Who") as failed:
            await session.result()
    assert "hitl" in (failed.value.hint or "")
