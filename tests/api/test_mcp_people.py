"""What the person behind an MCP client is asked, and what comes of what they say."""

import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, types

from belayer.api.mcp_people import approval_form, decision_from, question_form
from belayer.sessions.state import SessionState
from belayer.vocabulary.commands import Approve
from belayer.vocabulary.errors import UnfitAnswer
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.ids import RequestId, SessionId
from belayer.vocabulary.rules import Rule, Verdict
from tests.api.agents import (
    ASKS,
    Person,
    accepts,
    call,
    mounted,
    over_http,
    plan,
    questions,
    refusal,
    step,
)
from tests.support.engines import home_engine


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    home = tmp_path / "home"
    async with home_engine(home, questions, grace=0) as engine, mounted(engine, home) as url:
        yield url


async def start_asking(client: Client, prompt: str, **more: Any) -> dict[str, Any]:
    return await call(
        client,
        "engine_start",
        plan=plan(step("it", "request_input", prompt=prompt, **more)),
        wait_seconds=30,
    )


FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["name"],
}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        ({"kind": "confirm"}, {"answer": False}, False),
        ({"kind": "choice", "choices": ["a", "b"]}, {"answer": "b"}, "b"),
        ({"kind": "file"}, {"answer": "notes.md"}, "notes.md"),
        ({"kind": "form", "form": FORM}, {"name": "Ada", "count": 2}, {"name": "Ada", "count": 2}),
    ],
)
async def test_every_kind_of_question_can_be_put_to_the_person(
    url: str, mode: str, question: dict[str, Any], said: dict[str, Any], answer: Any
) -> None:
    async with over_http(url, mode, Person([accepts(**said)])) as client:
        done = await start_asking(client, "What?", **question)
    assert done["result"]["outputs"]["it"] == {"answer": answer}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_answer_that_does_not_fit_is_refused_and_the_session_waits(url: str, mode: str) -> None:
    async with over_http(url, mode, Person([accepts(answer="c"), accepts()])) as client:
        asks = plan(step("it", "request_input", prompt="?", kind="choice", choices=["a", "b"]))
        problem = await refusal(client, "engine_start", plan=asks, wait_seconds=30)
        assert problem["kind"] == "UnfitAnswer"
        assert (await refusal(client, "engine_start", plan=asks, wait_seconds=30))["kind"] == "UnfitAnswer"
        listed = await call(client, "engine_list", status=["waiting"])
    assert len(listed["sessions"]) == 2


async def test_a_form_with_parts_inside_parts_is_left_to_who_can_fill_it_in(url: str) -> None:
    nested = {"type": "object", "properties": {"who": {"type": "object"}}}
    person = Person()
    async with over_http(url, "auto", person) as client:
        begun = await start_asking(client, "Who?", kind="form", form=nested)
        (request,) = begun["pending"]
        ids = {"session_id": begun["session_id"], "request_id": request["request_id"]}
        assert (await refusal(client, "engine_answer", **ids))["kind"] == "UnfitAnswer"
        done = await call(client, "engine_answer", **ids, value={"who": {"name": "Ada"}}, wait_seconds=30)
    assert done["status"] == "completed"
    assert person.shown == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_that_asks_without_end_is_told_before_the_client_gives_up(
    url: str, mode: str
) -> None:
    person = Person([accepts(answer=str(number)) for number in range(20)])
    async with over_http(url, mode, person) as client:
        begun = await call(client, "engine_start", workflow="questions", input={"count": 12}, wait_seconds=30)
        assert begun["status"] == "waiting"
        (request,) = begun["pending"]
        done = await call(
            client,
            "engine_answer",
            session_id=begun["session_id"],
            request_id=request["request_id"],
            wait_seconds=30,
        )
    assert done["status"] == "completed"
    assert done["result"] == [str(number) for number in range(12)]


async def test_a_client_that_cannot_ask_after_all_leaves_the_session_waiting(url: str) -> None:
    broken = Person([types.ErrorData(code=-1, message="no screen")])
    async with over_http(url, "legacy", broken) as client:
        begun = await call(client, "engine_start", plan=ASKS, wait_seconds=30)
    assert begun["status"] == "waiting"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("agreed", "status"), [(True, "completed"), (False, "waiting")])
async def test_more_budget_is_given_only_with_the_persons_consent(
    url: str, mode: str, agreed: bool, status: str
) -> None:
    async with over_http(url, "auto", None) as client:
        begun = await call(
            client,
            "engine_start",
            plan=plan(step("a", "files.list"), step("b", "files.list")),
            budget={"steps": 1},
            wait_seconds=30,
        )
    (request,) = begun["pending"]
    assert request["purpose"] == "budget"
    person = Person([accepts(agreed=agreed)])
    async with over_http(url, mode, person) as client:
        then = await call(
            client,
            "engine_answer",
            session_id=begun["session_id"],
            request_id=request["request_id"],
            value="extend",
            wait_seconds=30,
        )
    assert then["status"] == status
    assert '| "extend"' in person.shown[0].message


STATE = SessionState(SessionId("0199"), title="t")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
FIELDS = st.dictionaries(
    st.text(max_size=5),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "object", 3])}, optional={"enum": JSON}
    ),
    max_size=3,
)


def asked(prompt: str = "?", **more: Any) -> InputRequested:
    return InputRequested(request_id=RequestId("r"), key="k", prompt=prompt, **more)


@given(st.fixed_dictionaries({}, optional={"properties": FIELDS | JSON, "required": JSON}))
def test_a_form_has_only_fields_of_one_value_whatever_its_schema_says(form: dict[str, Any]) -> None:
    made = question_form(STATE, asked(kind="form", form=form))
    if made is not None:
        assert made.fields
        assert set(made.required) <= set(made.fields)
        assert {one["type"] for one in made.fields.values()} <= {"string", "number", "integer", "boolean"}
        assert made.params().requested_schema["properties"] == made.fields


@given(st.text(max_size=200))
def test_what_a_session_writes_stands_behind_a_bar_and_hides_nothing(text: str) -> None:
    made = question_form(STATE, asked(text))
    assert made is not None
    first, *rest = made.message.split("\n")
    assert first == "Belayer session 0199 (t) asks:"
    assert all(line.startswith("| ") for line in rest)
    assert not {unicodedata.category(one) for one in "".join(rest)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_what_is_too_long_to_be_seen_is_not_put_up_for_approval() -> None:
    large = ApprovalRequested(
        request_id=RequestId("r"), key="k", title="much", shown={"text": "x" * 30_000}, digest="d"
    )
    with pytest.raises(UnfitAnswer):
        approval_form(STATE, large)


@pytest.mark.parametrize("offers", [None, Rule(verdict=Verdict.ALLOW, tool="http_post", host="a.example")])
def test_only_what_was_offered_can_be_allowed_for_the_session(offers: Rule | None) -> None:
    request = ApprovalRequested(request_id=RequestId("r"), key="k", title="post", digest="d", offers=offers)
    assert ("remember" in approval_form(STATE, request).fields) == (offers is not None)
    said = decision_from(request, "d", {"decision": "approve", "remember": True})
    assert said == Approve(
        request_id=RequestId("r"), digest="d", remember=None if offers is None else "session"
    )


@pytest.mark.parametrize("content", [{}, {"decision": "yes"}, {"decision": True}, {"notes": "approve"}])
def test_a_form_without_a_decision_decides_nothing(content: dict[str, Any]) -> None:
    request = ApprovalRequested(request_id=RequestId("r"), key="k", title="post", digest="d")
    with pytest.raises(UnfitAnswer):
        decision_from(request, "d", content)
