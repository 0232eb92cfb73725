"""A person is asked through the log, answers in the kind that was asked for, and decides on exactly what was shown."""

from contextlib import suppress
from typing import Any

import pytest

from belayer.engine import Session
from belayer.execution.approvals import seal
from belayer.execution.run import Run
from belayer.vocabulary.commands import Approve, Reject
from belayer.vocabulary.errors import AlreadyDecided, DigestChanged, UnfitAnswer, UnknownRequest
from belayer.vocabulary.events.event import Json, Status
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded
from belayer.vocabulary.ids import RequestId
from belayer.wiring import kept_in_memory
from tests.support.engines import events_of, memory_engine

FORM = {
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tall": {"type": "boolean"}},
    "required": ["name"],
}

FITTING: list[tuple[dict[str, Any], Json]] = [
    ({}, "Ada"),
    ({}, ""),
    ({"kind": "confirm"}, True),
    ({"kind": "confirm"}, False),
    ({"choices": ["red", "blue"]}, "blue"),
    ({"kind": "file"}, "report.pdf"),
    ({"form": FORM}, {"name": "Ada", "age": 36}),
    ({"form": FORM}, {"name": "Ada"}),
    ({"kind": "form"}, {"anything": [1, None]}),
]

UNFIT: list[tuple[dict[str, Any], Json]] = [
    ({}, 3),
    ({}, None),
    ({"kind": "confirm"}, "yes"),
    ({"kind": "confirm"}, 1),
    ({"choices": ["red", "blue"]}, "green"),
    ({"choices": ["red", "blue"]}, None),
    ({"kind": "file"}, {"name": "x"}),
    ({"form": FORM}, "Ada"),
    ({"form": FORM}, {}),
    ({"form": FORM}, {"name": "Ada", "age": "old"}),
    ({"form": FORM}, {"name": "Ada", "age": True}),
    ({"form": FORM}, {"name": "Ada", "shoe": 41}),
]


@pytest.mark.parametrize(("asked", "answer"), FITTING)
async def test_a_fitting_answer_is_what_the_workflow_gets(asked: dict[str, Any], answer: Json) -> None:
    async def workflow(run: Run) -> Json:
        return await run.ask("it", "What?", **asked)

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        await session.answer(answer)
        assert await session.result() == answer


@pytest.mark.parametrize(("asked", "answer"), UNFIT)
async def test_an_unfit_answer_is_refused_with_what_would_fit(asked: dict[str, Any], answer: Json) -> None:
    async def workflow(run: Run) -> Json:
        return await run.ask("it", "What?", **asked)

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        before = await session.settled()
        with pytest.raises(UnfitAnswer) as refused:
            await session.answer(answer)
        assert refused.value.hint is not None
        assert (await session.state()).seq == before.seq


FORMS: list[dict[str, Any]] = [
    {"properties": {"name": "string"}},
    {"properties": {"name": True}},
    {"properties": ["name"]},
    {"properties": {"name": {}}, "required": 5},
    {"required": "name"},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
async def test_a_form_that_is_no_proper_schema_does_not_stop_the_engine(form: dict[str, Any]) -> None:
    async def workflow(run: Run) -> Json:
        return await run.ask("it", "What?", form=form)

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        with suppress(UnfitAnswer):
            await session.answer({"name": "Ada"})
        other = await engine.start(workflow)
        assert (await other.settled()).status in (Status.WAITING, Status.FAILED)


async def approving(run: Run) -> list[Json]:
    decision = await run.approve("plan", {"delete": ["a.txt"]}, title="The plan")
    return [bool(decision), decision.notes]


async def asked(session: Session) -> ApprovalRequested:
    (request,) = (await session.settled()).pending.values()
    assert isinstance(request, ApprovalRequested)
    return request


async def test_an_approval_is_a_decision_that_is_true() -> None:
    async with memory_engine(approving) as engine:
        session = await engine.start(approving)
        await session.settled()
        await session.approve(notes="go ahead")
        assert await session.result() == [True, "go ahead"]


async def test_a_rejection_is_a_decision_that_is_false_and_no_failure() -> None:
    async with memory_engine(approving) as engine:
        session = await engine.start(approving)
        await session.settled()
        await session.reject("not that file")
        assert await session.result() == [False, "not that file"]


async def test_what_is_shown_is_sealed_as_it_is_shown() -> None:
    async with memory_engine(approving) as engine:
        request = await asked(await engine.start(approving))
    assert request.shown == {"delete": ["a.txt"]}
    assert request.digest == seal("The plan", request.shown)


def test_a_seal_does_not_depend_on_the_order_of_keys() -> None:
    assert seal("t", {"a": 1, "b": 2}) == seal("t", {"b": 2, "a": 1})


@pytest.mark.parametrize("other", [("t", {"a": 2}), ("u", {"a": 1}), ("t", {"a": "1"}), ("t", [["a", 1]])])
def test_a_seal_is_another_for_other_content(other: tuple[str, Json]) -> None:
    assert seal("t", {"a": 1}) != seal(*other)


@pytest.mark.parametrize("verb", [Approve, Reject])
async def test_a_decision_on_an_old_digest_is_refused(verb: type[Approve] | type[Reject]) -> None:
    async with memory_engine(approving) as engine:
        session = await engine.start(approving)
        request = await asked(session)
        before = await session.state()
        with pytest.raises(DigestChanged) as refused:
            await engine.tell(session.id, verb(request_id=request.request_id, digest="0" * 64))
        assert refused.value.hint is not None
        assert (await session.state()).seq == before.seq


async def test_approving_twice_decides_once() -> None:
    keeping = kept_in_memory()
    async with memory_engine(approving, keeping=keeping) as engine:
        session = await engine.start(approving)
        request = await asked(session)
        command = Approve(request_id=request.request_id, digest=request.digest)
        await engine.tell(session.id, command)
        await engine.tell(session.id, command)
        await session.result()
        await engine.tell(session.id, command)
    assert len(await events_of(keeping, session.id, Responded)) == 1


async def test_the_first_decision_counts() -> None:
    async with memory_engine(approving) as engine:
        session = await engine.start(approving)
        request = await asked(session)
        await session.approve()
        with pytest.raises(AlreadyDecided, match="approved"):
            await engine.tell(session.id, Reject(request_id=request.request_id, digest=request.digest))
        assert await session.result() == [True, None]


async def test_an_approval_is_not_an_answer() -> None:
    async with memory_engine(approving) as engine:
        session = await engine.start(approving)
        await session.settled()
        with pytest.raises(UnfitAnswer):
            await session.answer("yes")


async def test_a_question_cannot_be_approved() -> None:
    async def workflow(run: Run) -> str:
        return await run.ask("it", "What?")

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        (request,) = (await session.settled()).pending.values()
        with pytest.raises(UnfitAnswer):
            await engine.tell(session.id, Approve(request_id=request.request_id, digest=""))


async def test_an_approval_of_one_session_is_none_of_another() -> None:
    async with memory_engine(approving) as engine:
        first, second = await engine.start(approving), await engine.start(approving)
        request = await asked(first)
        await asked(second)
        with pytest.raises(UnknownRequest):
            await engine.tell(second.id, Approve(request_id=request.request_id, digest=request.digest))


async def test_a_large_thing_can_be_approved() -> None:
    async def workflow(run: Run) -> bool:
        return bool(await run.approve("plan", ["x" * 1000] * 100))

    async with memory_engine(workflow) as engine:
        session = await engine.start(workflow)
        await session.settled()
        await session.approve()
        assert await session.result() is True


async def test_a_question_is_asked_once_however_often_it_is_replayed() -> None:
    keeping = kept_in_memory()

    async def workflow(run: Run) -> list[Json]:
        return [await run.ask(key, f"{key}?") for key in ("first", "second", "third")]

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        for answer in ("1", "2", "3"):
            await session.settled()
            await session.answer(answer)
        assert await session.result() == ["1", "2", "3"]
    asked_for = await events_of(keeping, session.id, InputRequested)
    assert [request.key for request in asked_for] == ["first", "second", "third"]


async def test_an_answer_may_come_after_any_number_of_restarts() -> None:
    keeping = kept_in_memory()

    async def workflow(run: Run) -> Json:
        return await run.ask("it", "What?")

    async with memory_engine(workflow, keeping=keeping) as engine:
        session = await engine.start(workflow)
        request_id: RequestId
        (request_id,) = (await session.settled()).pending
    for _ in range(5):
        async with memory_engine(workflow, keeping=keeping) as engine:
            assert list((await engine.state(session.id)).pending) == [request_id]
    async with memory_engine(workflow, keeping=keeping) as engine:
        await engine.session(session.id).answer("late")
        assert await engine.session(session.id).result() == "late"
