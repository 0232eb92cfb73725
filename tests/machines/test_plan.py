"""Any plan: what fails takes along exactly what needs it, and no stop between two commits changes how it ends."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from belayer.engine import Engine, Session
from belayer.sessions.lease import OneDriver
from belayer.sessions.state import SessionState
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import FINAL, Json, Mode, Status
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.rules import Rule, Verdict
from belayer.wiring import Keeping, kept_in_memory
from tests.support.engines import Death, Life, MortalStore, doubted, kill, while_time_flies
from tests.support.plans import Hands, begin, plan_engine, statuses, step

POSTS = Rule(verdict=Verdict.ALLOW, tool="post")
_STATUSES = ("completed", "failed", "skipped")


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a plan: which earlier ones it needs, and which status of which one it wants to see."""

    id: str
    tool: str
    needs: tuple[str, ...]
    looks_at: tuple[str, str] | None
    fails: bool

    @property
    def step(self) -> dict[str, Any]:
        when = {"when": f"steps.{self.looks_at[0]}.status == '{self.looks_at[1]}'"} if self.looks_at else {}
        return step(self.id, self.tool, needs=list(self.needs), critical=False, **when)

    def outcome(self, earlier: dict[str, str]) -> str:
        """What must become of it."""
        if any(earlier[need] != "completed" for need in self.needs):
            return "skipped"
        if self.looks_at is not None and earlier[self.looks_at[0]] != self.looks_at[1]:
            return "skipped"
        return "failed" if self.fails else "completed"


@st.composite
def graphs(draw: st.DrawFn, most: int = 12, tools: tuple[str, ...] = ("look",)) -> list[Node]:
    """Steps that may need any of those before them."""
    nodes: list[Node] = []
    for number in range(draw(st.integers(1, most))):
        earlier = [node.id for node in nodes]
        some = st.sampled_from(earlier) if earlier else st.nothing()
        nodes.append(
            Node(
                id=f"s{number}",
                tool=draw(st.sampled_from(tools)),
                needs=tuple(draw(st.lists(some, max_size=3, unique=True))) if earlier else (),
                looks_at=draw(st.none() | st.tuples(some, st.sampled_from(_STATUSES))) if earlier else None,
                fails=draw(st.integers(0, 3)) == 0,
            )
        )
    return nodes


def outcomes(nodes: list[Node]) -> dict[str, str]:
    """What must become of each step, by the words of the promise alone."""
    found: dict[str, str] = {}
    for node in nodes:
        found[node.id] = node.outcome(found)
    return found


@given(st.data(), graphs(), st.integers(1, 4))
@hypothesis_settings(max_examples=300)
def test_what_fails_takes_along_exactly_what_needs_it(
    data: st.DataObject, nodes: list[Node], parallel: int
) -> None:
    listed = data.draw(st.permutations(nodes))
    hands = Hands()
    hands.fail(*(node.id for node in nodes if node.fails))

    async def carry_out() -> dict[str, str]:
        async with plan_engine(hands) as engine:
            return await statuses(await begin(engine, *(node.step for node in listed), parallel=parallel))

    expected = outcomes(nodes)
    assert asyncio.run(carry_out()) == expected
    assert Counter(hands.tried) == Counter(id_ for id_, status in expected.items() if status != "skipped")
    assert hands.busiest <= parallel
    for node in nodes:
        needed = [hands.done.index(need) for need in node.needs if node.id in hands.done]
        assert all(place < hands.done.index(node.id) for place in needed)


Person = Callable[[Engine, Session], Awaitable[SessionState]]


@dataclass(slots=True)
class Story:
    """One plan through all its lives, and the world it works on."""

    hands: Hands
    home: Path
    plan: dict[str, Any]
    person: Person
    clock: ManualClock = field(default_factory=ManualClock)
    deaths: int = 0

    async def live(self, deaths: Sequence[Death]) -> SessionState:
        """Carry the plan out in as many lives as there are deaths, and one more."""
        inner = kept_in_memory(self.home)
        for number, death in enumerate([*deaths, None]):
            life = self.hands.life = Life()
            store = MortalStore(inner.store, life, death)
            keeping = Keeping(store, inner.blobs, OneDriver(f"life {number}"), self.home)
            with structlog.testing.capture_logs():  # nobody hears the last words of the dying
                state = await self._one_life(keeping, life)
            self.deaths += life.ended.is_set()
            if state is not None:
                return state
        raise AssertionError("the last life has no end")

    async def _one_life(self, keeping: Keeping, life: Life) -> SessionState | None:
        """Start or find the session and see it through; None when the life ended first."""
        older = asyncio.all_tasks()
        working = asyncio.create_task(self._work(keeping))
        ended = asyncio.create_task(life.ended.wait())
        first = asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        await while_time_flies(self.clock, first, real=0.0005)
        try:
            return working.result() if working.done() else None
        finally:
            await kill(asyncio.all_tasks() - older)

    async def _work(self, keeping: Keeping) -> SessionState:
        async with plan_engine(self.hands, keeping, self.clock) as engine:
            session = await begin(engine, **self.plan, policy=(POSTS,), key="the one")
            return await self.person(engine, session)


def steps_of(state: SessionState) -> dict[str, Json]:
    assert state.status is Status.COMPLETED, state.problem
    assert isinstance(state.result, dict)
    steps = state.result["steps"]
    assert isinstance(steps, dict)
    return steps


async def nobody(_engine: Engine, session: Session) -> SessionState:
    return await session.settled()


deaths = st.builds(Death, st.integers(1, 20), st.booleans())


@given(graphs(most=6, tools=("look", "post")), st.integers(1, 3), st.lists(deaths, min_size=1, max_size=3))
@hypothesis_settings(max_examples=150)
def test_no_stop_changes_how_a_plan_ends_or_does_anything_twice(
    nodes: list[Node], parallel: int, deaths: list[Death]
) -> None:
    hands = Hands()
    hands.fail(*(node.id for node in nodes if node.fails))
    plan = {"steps": [node.step for node in nodes], "parallel": parallel, "mode": Mode.AUTONOMOUS}
    with TemporaryDirectory() as folder:
        state = asyncio.run(Story(hands, Path(folder), plan, nobody).live(deaths))
    expected = outcomes(nodes)
    assert steps_of(state) == expected
    posts = [node.id for node in nodes if node.tool == "post" and expected[node.id] == "completed"]
    assert Counter(id_ for id_ in hands.done if id_ in posts) == Counter(posts)


PLAN: dict[str, Any] = {
    "parallel": 3,
    "steps": [
        step("look"),
        step("ask", "request_input", params={"prompt": "Which colour?"}),
        step("letter", "send", needs=["look"]),
        step("side", "post"),
        {
            "id": "write", "tool": "files.write",
            "params": {"path": "a.txt", "content": "It is {{steps.ask.output.answer}}.\n"},
        },
        {
            "id": "mend", "tool": "files.edit", "needs": ["write"],
            "params": {"path": "a.txt", "old": "It is", "new": "That was"},
        },
        step("weak", fallback={"tool": "put", "params": {"name": "instead"}}),
        step("broken", needs=["side"]),
        step("vain", critical=False),
        step("late", needs=["vain"]),
        step("last", "send", needs=["letter", "mend", "weak", "broken"]),
    ],
}  # fmt: skip
ONCE = ("letter", "side", "instead", "last")


async def person(hands: Hands, engine: Engine, session: Session) -> SessionState:
    """Answers whatever is asked, and tells the truth about what happened."""
    watching = engine.watch(session.id)
    async with aclosing(watching) as frames:
        async for state, _ in frames:
            if state.status in FINAL:
                return state
            for request in list(state.pending.values()):
                if request.request_id in (await session.state()).answered:
                    continue
                if isinstance(request, ApprovalRequested):
                    await session.approve(request.request_id)
                else:
                    await session.answer(await _answer(engine, session, request, hands), request.request_id)
    raise AssertionError("a session is watched until it ends")


async def _answer(engine: Engine, session: Session, request: InputRequested, hands: Hands) -> Json:
    match request.purpose:
        case "failure":
            return {"choice": "edit", "params": {"name": "mended"}}
        case "in_doubt":
            key = await doubted(engine, session.id, request.request_id)
            done = [name for name, path in hands.deeds if path == key]
            return {"choice": "happened", "output": {"name": done[0]}} if done else "did not happen"
        case _:
            return "blue"


def check(story: Story, state: SessionState) -> None:
    """The promises."""
    assert steps_of(state) == {
        **{one["id"]: "completed" for one in PLAN["steps"]},
        "vain": "failed",
        "late": "skipped",
    }
    done = Counter(story.hands.done)
    assert {name: done[name] for name in ONCE} == dict.fromkeys(ONCE, 1)
    assert state.workspace is not None
    assert Path(state.workspace, "a.txt").read_text() == "That was blue.\n"


async def live(deaths: Sequence[Death]) -> int:
    """Carry out the plan of all trades through these deaths; how many there were."""
    hands = Hands()
    hands.fail("weak", "broken", "vain")
    with TemporaryDirectory() as folder:
        story = Story(hands, Path(folder), PLAN, partial(person, hands))
        check(story, await story.live(deaths))
    return story.deaths


@pytest.mark.parametrize("before", [True, False], ids=["lost", "not-acknowledged"])
async def test_a_plan_survives_a_stop_at_any_commit(before: bool) -> None:
    commit, died = 0, 1
    while died:
        commit += 1
        died = await live([Death(commit, before)])
    assert commit > 30


@given(st.lists(st.builds(Death, st.integers(1, 40), st.booleans()), min_size=2, max_size=4))
@hypothesis_settings(max_examples=100)
def test_a_plan_survives_one_stop_after_another(deaths: list[Death]) -> None:
    asyncio.run(live(deaths))
