"""A script's calls are steps: done once, replayed in the order they came back, over pauses, restarts and months."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.codemode.machines import Machines
from belayer.engine import Session
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.tools.code import code
from belayer.tools.request_input import REQUEST_INPUT
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.events.event import Effect, Json, Status, StepStatus
from belayer.vocabulary.events.people import InputRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import RequestId
from belayer.wiring import Keeping, kept_in_memory
from belayer.workspace.workspace import Workspace, Workspaces
from tests.codemode.scripts import LANGUAGES, begin_script, came_to, keys_of, machines, script_engine
from tests.support.engines import (
    Gate,
    engine_on,
    events_of,
    memory_engine,
    reached,
    turns,
    until,
)
from tests.support.plans import Hands

each_language = pytest.mark.parametrize("language", LANGUAGES)


class Named(Params):
    name: str
    turns: int = 0


class World:
    """Tools that do as they are told and remember it. `mark` has an effect, `pass_` waits until it is let through."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: list[str] = []
        self.gate = Gate()

    def tools(self) -> list[AnyTool]:
        def tool(name: str, call: Any, effect: Effect) -> AnyTool:
            return Tool(name, "Do it.", Named, call, effect=effect)

        return [
            tool("look", self._mark, Effect.READ),
            tool("mark", self._mark, Effect.WRITE),
            tool("pass_", self._pass, Effect.WRITE),
        ]

    async def _mark(self, params: Named, _workspace: Workspace) -> Json:
        await turns(params.turns)
        self.done.append(params.name)
        self.keys.append(this_step().key)
        return params.name

    async def _pass(self, params: Named, _workspace: Workspace) -> Json:
        return await self.gate.pass_(params.name)


def asked(state: Any, prompt: str) -> RequestId:
    """The id of the question with these words."""
    return next(one.request_id for one in state.pending.values() if one.prompt == prompt)


async def test_a_call_is_a_step_with_its_name_and_what_it_was_given(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, "return await tools.mark({ name: 'a' })")
        assert await came_to(session) == {"value": "a", "output": "", "calls": 1}
    events = [one for one in await events_of(keeping, session.id, StepChanged) if one.key == "it/script/1"]
    assert [(one.name, one.status, one.effect) for one in events] == [
        ("mark", StepStatus.RUNNING, Effect.WRITE),
        ("mark", StepStatus.COMPLETED, Effect.WRITE),
    ]
    assert events[0].input == {"name": "a"}
    assert world.keys == ["it/script/1"]


ONE_AFTER_THE_OTHER = {
    "javascript": """
        const seen = [Date.now(), Math.random(), await tools.mark({ name: "a" })];
        seen.push(await human.ask("Go on?"), await tools.mark({ name: "b" }));
        return [...seen, Date.now(), Math.random()]
    """,
    "python": (
        "import random, time\n"
        "seen = [time.time(), random.random(), await tools.mark(name='a')]\n"
        "seen += [await human.ask('Go on?'), await tools.mark(name='b')]\n"
        "seen + [time.time(), random.random()]"
    ),
}


@each_language
async def test_what_was_done_before_a_restart_is_not_done_again(language: str, tmp_path: Path) -> None:
    keeping, world, clock = kept_in_memory(tmp_path), World(), ManualClock()
    async with script_engine(world.tools(), keeping, clock) as engine:
        session = await begin_script(engine, ONE_AFTER_THE_OTHER[language], language)
        assert (await session.settled()).status is Status.WAITING
    clock.advance(86_400 * 40)
    async with script_engine(world.tools(), keeping, clock) as engine:
        again = engine.session(session.id)
        await again.answer("yes")
        value = (await came_to(again))["value"]
    assert world.done == ["a", "b"]
    assert value[2:5] == ["a", "yes", "b"]
    assert value[0] == value[5], "time stands still for a script"
    assert 0 <= value[1] < 1
    assert value[1] != value[6]


@each_language
async def test_time_and_chance_are_those_of_the_first_run(language: str, tmp_path: Path) -> None:
    source = {
        "javascript": "const x = [Date.now(), Math.random()]; await tools.mark({ name: `${x}` }); await human.ask('?')",
        "python": "import random, time\nx = [time.time(), random.random()]\n"
        "await tools.mark(name=str(x))\nawait human.ask('?')",
    }
    keeping, world, clock = kept_in_memory(tmp_path), World(), ManualClock()
    async with script_engine(world.tools(), keeping, clock) as engine:
        session = await begin_script(engine, source[language], language)
        await session.settled()
    clock.advance(1000)
    async with script_engine(world.tools(), keeping, clock) as engine:
        await engine.session(session.id).answer("yes")
        await came_to(engine.session(session.id))
    assert len(world.done) == 1


@each_language
async def test_a_script_can_wait_for_a_month_and_nothing_of_it_stays_behind(
    language: str, tmp_path: Path
) -> None:
    source = {
        "javascript": "const a = await clock.now(); await clock.sleep(30 * 86400); return await clock.now() - a",
        "python": "import asyncio\na = await clock.now()\nawait asyncio.sleep(30 * 86400)\nawait clock.now() - a",
    }
    clock, keeping = ManualClock(), kept_in_memory(tmp_path)
    async with script_engine([], keeping, clock) as engine:
        session = await begin_script(engine, source[language], language)
        state = await reached(session, Status.WAITING)
        assert state.wake_at == clock.now() + timedelta(days=30)
    clock.advance(86_400 * 31)
    async with script_engine([], keeping, clock) as engine:
        value = (await came_to(engine.session(session.id)))["value"]
    assert value == 31 * 86_400 * 1000


async def test_no_worker_is_kept_for_a_script_that_waits(tmp_path: Path) -> None:
    async with machines() as known:
        keeping = kept_in_memory(tmp_path)
        script = code(lambda: Toolbox([]), Workspaces(tmp_path), known)

        async def asking(run: Run) -> Json:
            assert script.conduct is not None
            return await script.conduct(script.read({"source": "return await human.ask('?')"}), run)

        async with memory_engine(asking, keeping=keeping) as engine:
            session = await engine.start(asking)
            await session.settled()
            assert known._living == set()
            await session.answer("yes")
            assert await session.result() == {"value": "yes", "output": "", "calls": 1}
            assert len(known._living) == 1, "one is kept warm"


async def test_parallel_calls_run_at_once(tmp_path: Path) -> None:
    world = World()
    async with script_engine(world.tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(
            engine, "return await Promise.all(['a', 'b', 'c'].map(name => tools.pass_({ name })))"
        )
        await world.gate.reached(3)
        world.gate.open()
        assert (await came_to(session))["value"] == ["a", "b", "c"]


RACE = """
    const first = await Promise.race([human.ask("A?"), human.ask("B?")]);
    await tools.mark({ name: first });
    return [first, await human.ask("Go on?")]
"""


async def test_the_first_answer_wins_a_race_and_wins_it_again_on_every_replay(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, RACE)
        state = await session.settled()
        await session.answer("b", asked(state, "B?"))
        state = await session.settled()
        await session.answer("a", asked(state, "A?"))
        state = await session.settled()
    async with script_engine(world.tools(), keeping) as engine:
        again = engine.session(session.id)
        await again.answer("yes", asked(state, "Go on?"))
        assert (await came_to(again))["value"] == ["b", "yes"]
    assert world.done == ["b"]


@pytest.mark.parametrize("order", [("A?", "B?"), ("B?", "A?")])
async def test_answers_that_came_while_nobody_drove_come_back_in_the_order_of_the_log(
    order: tuple[str, str], tmp_path: Path
) -> None:
    keeping, world, clock = kept_in_memory(tmp_path), World(), ManualClock()
    async with script_engine(world.tools(), keeping, clock) as engine:
        session = await begin_script(engine, RACE)
        state = await session.settled()
    async with engine_on(keeping, clock, drives="none") as engine:
        for prompt in order:
            clock.advance(1)
            await engine.session(session.id).answer(prompt, asked(state, prompt))
    async with script_engine(world.tools(), keeping, clock) as engine:
        again = engine.session(session.id)
        await again.settled()
        await again.answer("yes", asked(await again.state(), "Go on?"))
        assert (await came_to(again))["value"] == [order[0], "yes"]


async def test_sleeps_that_ended_while_nobody_drove_come_back_in_the_order_they_ended(tmp_path: Path) -> None:
    keeping, clock = kept_in_memory(tmp_path), ManualClock()
    source = """
        const late = clock.sleep(200).then(() => "late"), soon = clock.sleep(100).then(() => "soon");
        return await Promise.race([late, soon])
    """
    async with script_engine([], keeping, clock) as engine:
        session = await begin_script(engine, source)
        await reached(session, Status.WAITING)
    clock.advance(1000)
    async with script_engine([], keeping, clock) as engine:
        assert (await came_to(engine.session(session.id)))["value"] == "soon"


async def test_while_one_branch_waits_the_others_go_on(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    source = """
        const slow = human.ask("Slow?");
        const quick = (async () => { for (const name of ["a", "b", "c"]) await tools.mark({ name }) })();
        return await Promise.all([slow, quick])
    """
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, source)
        assert (await session.settled()).status is Status.WAITING
        assert world.done == ["a", "b", "c"]
        await session.answer("yes")
        assert (await came_to(session))["value"] == ["yes", None]
    assert world.done == ["a", "b", "c"]


async def test_every_way_to_wait_for_many_comes_out_the_same_after_a_restart(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    source = """
        const call = (name, turns) => tools.look({ name, turns });
        const bad = () => tools.look({ wrong: 1 });
        const seen = [
            await Promise.all([call("a", 9), call("b", 0)]),
            await Promise.race([call("c", 9), call("d", 0)]),
            await Promise.any([bad(), call("e", 5)]),
            (await Promise.allSettled([bad(), call("f", 1)])).map(one => one.status),
        ];
        await tools.mark({ name: JSON.stringify(seen) });
        await human.ask("Go on?");
        return seen
    """
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, source)
        await session.settled()
    async with script_engine(world.tools(), keeping) as engine:
        await engine.session(session.id).answer("yes")
        value = (await came_to(engine.session(session.id)))["value"]
    assert value == [["a", "b"], "d", "e", ["rejected", "fulfilled"]]


@each_language
async def test_a_script_that_ended_is_not_run_again(language: str, tmp_path: Path) -> None:
    keeping, source = kept_in_memory(tmp_path), {"javascript": "return 7", "python": "7"}
    workspaces, lives = Workspaces(tmp_path), list[Machines]()

    async def twice(run: Run) -> Json:
        script = code(lambda: Toolbox([]), workspaces, lives[-1])
        assert script.conduct is not None
        first = await script.conduct(script.read({"source": source[language], "language": language}), run)
        await run.ask("go", "Go on?")
        return first

    async with machines() as known, machines() as unused:
        lives.append(known)
        async with memory_engine(twice, keeping=keeping) as engine:
            session = await engine.start(twice)
            await session.settled()
            lives.append(unused)
            await session.answer("yes")
            assert await session.result() == {"value": 7, "output": "", "calls": 0}
            assert unused._living == set()


async def test_the_second_try_of_a_step_begins_anew(tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    source = "await tools.request_input({ prompt: 'Which?' }); return await tools.put({ name: 'a' })"
    hands.fail("a")
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, source)
        for answer in ("x", "retry", "y"):
            await session.settled()
            if answer == "y":
                hands.failing.clear()
            await session.answer(answer)
        assert (await came_to(session))["value"] == {"name": "a"}
    keys = await keys_of(keeping, session.id)
    assert "it/script/2" in keys
    assert "it/script#2/2" in keys


class Story:
    """A workflow that runs a script, which can be rewritten between two replays."""

    def __init__(self, source: str, tools: list[AnyTool], known: Machines, home: Path) -> None:
        self.source = source
        self._code = code(lambda: Toolbox(tools), Workspaces(home), known)

    async def story(self, run: Run) -> Json:
        assert self._code.conduct is not None
        given = {"source": self.source, "tools": ["*"]}
        return await self._code.conduct(self._code.read(given), run)


WAITS = "; return await human.ask('Go on?')"
BOTH = "Promise.all([human.ask('Go on?'), tools.mark({ name: 'x' })]);"
REWRITTEN = {
    "other arguments": ("await tools.mark({ name: 'a' })" + WAITS, "await tools.mark({ name: 'b' })" + WAITS),
    "another tool": ("await tools.mark({ name: 'a' })" + WAITS, "await tools.look({ name: 'a' })" + WAITS),
    "a question instead of a call": (
        "await tools.mark({ name: 'a' })" + WAITS,
        "await human.ask('a')" + WAITS,
    ),
    "a time instead of a call": ("await tools.mark({ name: 'a' })" + WAITS, "await clock.now()" + WAITS),
    "a sleep instead of a call": ("await tools.mark({ name: 'a' })" + WAITS, "await clock.sleep(0)" + WAITS),
    "a tool that asks instead of a call": (
        "await tools.mark({ name: 'a' })" + WAITS,
        "await tools.request_input({ prompt: 'a' })" + WAITS,
    ),
    "another question": ("await human.ask('Go on?')", "await human.ask('Stop?')"),
    "another sleep": ("await clock.sleep(1e6)", "await clock.sleep(2e6)"),
    "another order": (
        "const a = tools.mark({ name: 'a' }), b = tools.look({ name: 'b' }); await a; await b" + WAITS,
        "await tools.mark({ name: 'a' }); await tools.look({ name: 'b' }); "
        "const c = tools.look({ name: 'c' }), d = tools.look({ name: 'd' }); await c" + WAITS,
    ),
}


@pytest.mark.parametrize(("first", "second"), REWRITTEN.values(), ids=REWRITTEN.keys())
async def test_a_script_that_tells_another_story_is_held_and_both_are_named(
    first: str, second: str, tmp_path: Path
) -> None:
    keeping, world, clock = kept_in_memory(tmp_path), World(), ManualClock()
    async with machines() as known:
        told = Story(first, [*world.tools(), REQUEST_INPUT], known, tmp_path)
        async with memory_engine(told.story, keeping=keeping, clock=clock) as engine:
            session = await engine.start(told.story)
            assert (await session.settled()).status is Status.WAITING
            before, asked_before = list(world.done), len(await events_of(keeping, session.id, InputRequested))
            told.source = second
            await session.pause()
            await session.resume()
            held = await session.settled()
            assert held.status is Status.PAUSED
            assert held.reason is not None
            assert "the log has" in held.reason
            assert "the code now asks for" in held.reason
            assert world.done in (before, [*before, "c", "d"])
            assert len(await events_of(keeping, session.id, InputRequested)) == asked_before


async def test_a_script_goes_on_after_a_pause_in_the_middle(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    source = "await tools.pass_({ name: 'a' }); await tools.mark({ name: 'b' }); return 'done'"
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, source)
        await world.gate.reached()
        await session.pause()
        world.gate.open()
        await until(lambda: world.gate.through == ["a"])
        await turns()
        assert (await session.state()).status is Status.PAUSED
        assert world.done == []
        await session.resume()
        assert (await came_to(session))["value"] == "done"
    assert world.gate.through == ["a"]
    assert world.done == ["b"]


async def test_an_interrupt_stops_a_call_under_way_and_leaves_it_in_doubt(tmp_path: Path) -> None:
    keeping, world = kept_in_memory(tmp_path), World()
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, "return await tools.pass_({ name: 'a' })")
        await world.gate.reached()
        await session.interrupt()
        await until(lambda: world.gate.stopped == ["a"])
        world.gate.open()
        await session.resume()
        state = await session.settled()
        (question,) = state.pending.values()
        assert isinstance(question, InputRequested)
        assert question.purpose == "in_doubt"


async def test_calls_that_nobody_waited_for_are_made_and_their_failure_is_told(tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    hands.fail("b")
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(
            engine, "tools.put({ name: 'a' });\ntools.put({ name: 'b' });\nreturn 'done'"
        )
        came = await came_to(session)
    assert came["value"] == "done"
    assert came["output"] == "tools.put in line 2 failed, and the script did not wait for it."
    assert hands.done == ["a"]


async def test_a_line_is_shown_once_however_often_the_script_is_replayed(tmp_path: Path) -> None:
    keeping, shown = kept_in_memory(tmp_path), list[str]()
    say = "console.log('{}'); await human.ask('?');"
    source = say.format("one") + say.format("two") + "console.log('three')"

    async def listen(session: Session) -> None:
        async for frame in session.engine.follow(session.id):
            told = json.loads(frame.wire)
            if frame.seq is None and told["type"] == "log":
                shown.append(told["data"]["text"])

    async with script_engine([], keeping) as engine:
        session = await begin_script(engine, source)
        listening = asyncio.create_task(listen(session))
        for _ in range(2):
            await session.settled()
            await session.answer("yes")
        assert (await came_to(session))["output"] == "one\ntwo\nthree"
        await turns()
        listening.cancel()
    assert shown in (["one", "two", "three"], ["two", "three"]), "who comes late has missed a line"


Tree = tuple[str, Any]

names = st.integers(0, 25).map(lambda number: chr(97 + number))
leaf = st.tuples(st.just("call"), st.tuples(names, st.integers(0, 12)))


def trees(*kinds: str) -> st.SearchStrategy[Tree]:
    """Calls in each other: one after the other, all at once, the first of them."""
    return st.recursive(
        leaf,
        lambda inner: st.tuples(st.sampled_from(kinds), st.lists(inner, min_size=1, max_size=3)),
        max_leaves=8,
    )


def in_javascript(tree: Tree) -> str:
    kind, content = tree
    if kind == "call":
        return f"tools.look({{ name: '{content[0]}', turns: {content[1]} }})"
    inner = ", ".join(in_javascript(one) for one in content)
    if kind == "one after the other":
        steps = "; ".join(f"seen.push(await {in_javascript(one)})" for one in content)
        return f"(async () => {{ const seen = []; {steps}; return seen }})()"
    return f"Promise.{kind}([{inner}])"


def in_python(tree: Tree, lines: list[str]) -> str:
    kind, content = tree
    if kind == "call":
        return f"tools.look(name='{content[0]}', turns={content[1]})"
    inner = [in_python(one, lines) for one in content]
    name = f"f{len(lines)}"
    body = [f"    seen.append(await {one})" for one in inner]
    if kind == "all":
        body = [f"    seen = await asyncio.gather({', '.join(inner)})"]
    lines += [f"async def {name}():", "    seen = []", *body, "    return seen"]
    return f"{name}()"


async def replays_to_the_same(source: str, language: str, home: Path) -> None:
    """The script notes what it came to, waits, and comes to the same again: else its note would not fit the log."""
    keeping: Keeping = kept_in_memory(home)
    world = World()
    async with script_engine(world.tools(), keeping) as engine:
        session = await begin_script(engine, source, language)
        assert (await session.settled()).status is Status.WAITING
        calls = list(world.done)
        await session.answer("yes")
        value = (await came_to(session))["value"]
    assert world.done == calls, "nothing is done again"
    assert value == world.done[-1]


@settings(max_examples=25)
@given(tree=trees("one after the other", "all", "race", "any", "allSettled"))
async def test_any_tree_of_calls_in_javascript_replays_to_the_same(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = f"""
        const note = JSON.stringify(await {in_javascript(tree)});
        await tools.mark({{ name: note }});
        await human.ask("Go on?");
        return note
    """
    await replays_to_the_same(source, "javascript", tmp_path_factory.mktemp("home"))


@settings(max_examples=25)
@given(tree=trees("one after the other", "all"))
async def test_any_tree_of_calls_in_python_replays_to_the_same(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = ["import asyncio"]
    expression = in_python(tree, lines)
    lines += [
        f"note = str(await {expression})",
        "await tools.mark(name=note)",
        "await human.ask('?')",
        "note",
    ]
    await replays_to_the_same("\n".join(lines), "python", tmp_path_factory.mktemp("home"))
