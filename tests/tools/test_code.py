"""The tool that runs scripts: what it takes, which tools a script has, and that each call is ruled like any other."""

from pathlib import Path
from typing import Any

import pytest

from belayer.tools.code import NAME, code
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Effect, Json, Mode, Status, StepStatus
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.rules import Rule, Verdict
from belayer.wiring import kept_in_memory
from belayer.workflows.plan.source import read_plan
from belayer.workspace.workspace import Workspace, Workspaces
from tests.codemode.scripts import LANGUAGES, begin_script, came_to, keys_of, machines, script_engine
from tests.support.engines import events_of
from tests.support.plans import Hands, begin

each_language = pytest.mark.parametrize("language", LANGUAGES)


async def the_tool(tmp_path: Path) -> AnyTool:
    async with machines() as known:
        return code(lambda: Toolbox([]), Workspaces(tmp_path), known)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "source"),
        ({"source": ""}, "source"),
        ({"source": "x" * 200_001}, "source"),
        ({"source": "1", "language": "perl"}, "language"),
        ({"source": "1", "limits": {"cpu": 1e9}}, "limits.cpu"),
        ({"source": "1", "limits": {"memory": 0}}, "limits.memory"),
        ({"source": "1", "limits": {"wall": float("nan")}}, "limits.wall"),
        ({"source": "1", "limits": {"patience": 1}}, "limits.patience"),
        ({"source": "1", "code": "1"}, "code"),
    ],
)
async def test_what_is_no_script_is_refused(params: dict[str, Json], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=says):
        (await the_tool(tmp_path)).read(params)


SEEN = {
    "javascript": "const all = (o, p) => Object.keys(o).flatMap(k => [p + k, ...all(o[k], p + k + '.')]);"
    "return all(tools, '').sort()",
}


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (
            None,
            {"look", "call", "files", "files.read", "files.list", "files.search", "request_input", "wait"},
        ),
        ([], set[str]()),
        (["look"], {"look"}),
        (["files.re*", "put"], {"files", "files.read", "put"}),
        (
            ["files"],
            {
                "files",
                *(f"files.{one}" for one in ["read", "list", "search", "write", "edit", "move", "delete"]),
            },
        ),
    ],
)
async def test_a_script_has_the_tools_it_was_given_and_no_others(
    patterns: list[str] | None, names: set[str], tmp_path: Path
) -> None:
    async with script_engine(Hands().tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, SEEN["javascript"], tools=patterns)
        assert set((await came_to(session))["value"]) == names


@pytest.mark.parametrize("pattern", ["no_such_tool", "files.rad", NAME, "code*"])
async def test_a_pattern_that_fits_no_tool_is_a_mistake_worth_telling(pattern: str, tmp_path: Path) -> None:
    async with script_engine(Hands().tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, "return 1", tools=[pattern], mode=Mode.AUTONOMOUS)
        state = await session.settled()
    assert state.status is Status.FAILED
    assert state.problem is not None
    assert pattern in state.problem.detail


@each_language
async def test_a_script_works_on_files_with_what_it_is_given(language: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one two\n")
    source = {
        "javascript": """
            const { text } = await tools.files.read({ path: input.path });
            console.log("read", text.length);
            await tools.files.write({ path: "b.txt", content: text.toUpperCase() });
            return { words: text.trim().split(" ") }
        """,
        "python": (
            "text = (await tools.files.read(path=input['path']))['text']\n"
            "print('read', len(text))\n"
            "await tools.files.write(path='b.txt', content=text.upper())\n"
            "{'words': text.strip().split(' ')}"
        ),
    }
    keeping = kept_in_memory(tmp_path / "home")
    async with script_engine(Hands().tools(), keeping) as engine:
        session = await begin_script(
            engine, source[language], language, tools=["files"], given={"path": "a.txt"}, workspace=work
        )
        came = await came_to(session)
    assert came == {"value": {"words": ["one", "two"]}, "output": "read 8", "calls": 2}
    assert (work / "b.txt").read_text() == "ONE TWO\n"


async def test_a_later_step_of_the_plan_can_use_what_a_script_gave(tmp_path: Path) -> None:
    hands = Hands()
    async with script_engine(hands.tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin(
            engine,
            {
                "id": "think",
                "tool": "code",
                "params": {"source": "console.log('x'); return { name: 'from a script' }"},
            },
            {"id": "do", "tool": "put", "params": {"name": "{{steps.think.output.value.name}}"}},
        )
        await session.result()
    assert hands.done == ["from a script"]


@each_language
async def test_parameters_that_do_not_fit_never_leave_the_script(language: str, tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    source = {
        "javascript": """
            try { await tools.put({ wrong: 1 }) } catch (e) { return [e.name, e.tool, e.kind, e.category, e.message] }
        """,
        "python": "try:\n  await tools.put(wrong=1)\nexcept Exception as e:\n  said = str(e)\nsaid",
    }
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, source[language], language)
        value: Any = (await came_to(session))["value"]
    said = value if language == "python" else value[-1]
    assert "The parameters do not fit put: " in said
    assert "name: Field required" in said
    if language == "javascript":
        assert value[:4] == ["ToolError", "put", "ConfigurationError", "configuration"]
    assert await keys_of(keeping, session.id) == ["it/script/now", "it/script/random", "it/script", "it"]
    assert hands.tried == []


@each_language
async def test_an_effect_inside_a_script_waits_for_its_approval(language: str, tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    source = {
        "javascript": "return await tools.send({ name: 'letter', host: 'example.org' })",
        "python": "await tools.send(name='letter', host='example.org')",
    }
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, source[language], language)
        state = await session.settled()
        (request,) = state.pending.values()
        assert isinstance(request, ApprovalRequested)
        assert request.title == "send on example.org (it/script/1)"
        assert hands.done == []
    async with script_engine(hands.tools(), keeping) as engine:
        again = engine.session(session.id)
        await again.approve()
        assert (await came_to(again))["value"] == {"name": "letter"}
    assert hands.done == ["letter"]


async def test_a_no_reaches_the_script_as_an_error_it_can_live_with(tmp_path: Path) -> None:
    hands = Hands()
    source = "try { await tools.send({ name: 'x' }) } catch (e) { return [e.kind, e.message] }"
    async with script_engine(hands.tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source)
        await session.settled()
        await session.reject("not today")
        kind, message = (await came_to(session))["value"]
    assert kind == "Rejected"
    assert "not today" in message
    assert hands.done == []


@pytest.mark.parametrize("tool", ["put", "request_input"])
async def test_what_a_rule_forbids_is_forbidden_to_scripts(tool: str, tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    params = {"put": "{ name: 'x' }", "request_input": "{ prompt: 'Who?' }"}
    source = f"try {{ await tools.{tool}({params[tool]}) }} catch (e) {{ await human.ask(e.kind) }}"
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, source, policy=(Rule(verdict=Verdict.DENY, tool=tool),))
        await session.settled()
        (question,) = (await session.state()).pending.values()
        assert isinstance(question, InputRequested)
        assert question.prompt == "PolicyDenied"
        await session.answer("all right")
        await came_to(session)
    failed = [
        one for one in await events_of(keeping, session.id, StepChanged) if one.status is StepStatus.FAILED
    ]
    assert [one.key for one in failed] == ["it/script/1"]
    assert hands.done == []


ASKS_FIRST = (Rule(verdict=Verdict.ASK, tool=NAME),)


async def test_a_rule_that_asks_about_scripts_asks_before_the_first_line_runs(tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    source = "await tools.look({ name: 'x' }); await human.ask('Go on?'); return 'done'"
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, source, policy=ASKS_FIRST)
        await session.settled()
        (request,) = (await session.state()).pending.values()
        assert isinstance(request, ApprovalRequested)
        assert source in str(request.shown)
        assert hands.tried == []
        await session.approve()
        await session.settled()
        (question,) = (await session.state()).pending.values()
        assert isinstance(question, InputRequested)
        await session.answer("yes")
        assert (await came_to(session))["value"] == "done"
    assert len(await events_of(keeping, session.id, ApprovalRequested)) == 1


async def test_a_script_that_a_person_says_no_to_does_nothing(tmp_path: Path) -> None:
    keeping, hands = kept_in_memory(tmp_path), Hands()
    async with script_engine(hands.tools(), keeping) as engine:
        session = await begin_script(engine, "await tools.look({ name: 'x' })", policy=ASKS_FIRST)
        await session.settled()
        await session.reject("not this one")
        await session.settled()
    failed = [
        one for one in await events_of(keeping, session.id, StepChanged) if one.status is StepStatus.FAILED
    ]
    assert [one.key for one in failed] == ["it"]
    assert "not this one" in str(failed[0].problem)
    assert hands.tried == []


async def test_a_rule_that_asks_holds_for_what_a_script_waits_with(tmp_path: Path) -> None:
    keeping = kept_in_memory(tmp_path)
    source = "try { await tools.wait({ seconds: 5 }); return 'waited' } catch (e) { return e.kind }"
    rules = (Rule(verdict=Verdict.ASK, tool="wait"),)
    async with script_engine(Hands().tools(), keeping) as engine:
        session = await begin_script(engine, source, policy=rules)
        await session.settled()
        (request,) = (await session.state()).pending.values()
        assert isinstance(request, ApprovalRequested)
        await session.reject("no time")
        assert (await came_to(session))["value"] == "Rejected"


@each_language
async def test_a_script_may_ask_in_every_way_a_person_can_answer(language: str, tmp_path: Path) -> None:
    source = {
        "javascript": """
            return [
                await human.ask("Who?"),
                await human.ask("Which?", { choices: ["a", "b"] }),
                await human.ask("Sure?", { kind: "confirm" }),
                (await tools.request_input({ prompt: "And?" })).answer,
            ]
        """,
        "python": (
            "[await human.ask('Who?'), await human.ask('Which?', choices=['a', 'b']),"
            " await human.ask('Sure?', kind='confirm'),"
            " (await tools.request_input(prompt='And?'))['answer']]"
        ),
    }
    answers: list[Json] = ["Ada", "b", True, "that"]
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source[language], language)
        for answer in answers:
            await session.settled()
            await session.answer(answer)
        assert (await came_to(session))["value"] == answers


@pytest.mark.parametrize(
    "call",
    ["human.ask()", "human.ask('x', { choices: 7 })", "human.ask('x', { kind: 'form' })", "clock.sleep(-1)"],
)
async def test_a_question_that_makes_no_sense_is_an_error_in_the_script(call: str, tmp_path: Path) -> None:
    source = f"try {{ await {call} }} catch (e) {{ return e.message }}"
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source)
        assert "do not fit" in (await came_to(session))["value"]


async def test_an_autonomous_script_that_asks_is_told_that_nobody_is_there(tmp_path: Path) -> None:
    source = "try { await human.ask('Who?') } catch (e) { return e.kind }"
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source, mode=Mode.AUTONOMOUS)
        assert (await came_to(session))["value"] == "NeedsPerson"


@each_language
async def test_what_an_autonomous_script_may_not_do_says_how_to_allow_it(
    language: str, tmp_path: Path
) -> None:
    source = {"javascript": "await tools.send({ name: 'a', host: 'example.org' })",
              "python": "await tools.send(name='a', host='example.org')"}  # fmt: skip
    async with script_engine(Hands().tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source[language], language, mode=Mode.AUTONOMOUS)
        state = await session.settled()
    assert state.problem is not None
    assert "belayer policy allow --tool send --host example.org" in state.problem.detail


async def test_scripts_that_go_too_far_stand_in_nobody_elses_way(tmp_path: Path) -> None:
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        for _ in range(6):
            session = await begin_script(
                engine, "await clock.now()", limits={"calls": 0}, mode=Mode.AUTONOMOUS
            )
            problem = (await session.settled()).problem
            assert problem is not None
            assert "0 calls" in problem.detail
        assert (await came_to(await begin_script(engine, "return 'fine'")))["value"] == "fine"


async def test_the_timeout_of_its_step_binds_a_script(tmp_path: Path) -> None:
    step: dict[str, Any] = {"id": "it", "tool": "code", "params": {"source": "for (;;);"}, "timeout": 0.5}
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin(engine, step, mode=Mode.AUTONOMOUS)
        problem = (await session.settled()).problem
    assert problem is not None
    assert "0.5 s of running time" in problem.detail


async def test_a_script_takes_as_long_as_it_took(tmp_path: Path) -> None:
    clock, keeping = ManualClock(), kept_in_memory(tmp_path)

    async def take_a_while(_params: Params, _workspace: Workspace) -> Json:
        clock.advance(3.0)
        return None

    slow: AnyTool = Tool("slow", "slow", Params, take_a_while, effect=Effect.READ)
    async with script_engine([slow], keeping, clock) as engine:
        session = await begin_script(engine, "await tools.slow({}); await tools.slow({})")
        await came_to(session)
        (ended,) = [one for one in await events_of(keeping, session.id, StepChanged) if one.key == "it"]
    assert ended.seconds == 6.0


FAILING = {
    "javascript": ("console.log('so far');\nconst x = null;\nx.y;", "line 3: TypeError"),
    "python": ("print('so far')\nx = None\nx.y", "line 3: AttributeError"),
}


@each_language
async def test_a_failure_names_the_line_and_shows_what_was_printed(language: str, tmp_path: Path) -> None:
    source, says = FAILING[language]
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source, language, mode=Mode.AUTONOMOUS)
        state = await session.settled()
    assert state.problem is not None
    assert says in state.problem.detail
    assert "It had printed:\nso far" in state.problem.detail


@each_language
async def test_a_call_that_failed_names_the_line_it_was_made_in(language: str, tmp_path: Path) -> None:
    source = {
        "javascript": "const one = clock.now();\nconst other = tools.put({ wrong: 1 });\nawait one;\nawait other;",
        "python": "await clock.now()\nawait tools.put(wrong=1)\n1",
    }
    async with script_engine(Hands().tools(), kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source[language], language, mode=Mode.AUTONOMOUS)
        state = await session.settled()
    assert state.problem is not None
    assert "The script failed in line 2: " in state.problem.detail
    assert "The parameters do not fit put" in state.problem.detail


@each_language
async def test_a_script_that_cannot_be_read_says_where(language: str, tmp_path: Path) -> None:
    source = {"javascript": "let a = 1;\nlet b = ;", "python": "a = 1\nb = ="}
    async with script_engine([], kept_in_memory(tmp_path)) as engine:
        session = await begin_script(engine, source[language], language, mode=Mode.AUTONOMOUS)
        state = await session.settled()
    assert state.problem is not None
    assert "cannot be read in line 2" in state.problem.detail
    assert "Nothing of it ran" in state.problem.detail


async def test_a_tool_with_a_name_no_language_can_write_has_one_it_can(tmp_path: Path) -> None:
    from dataclasses import replace

    hands = Hands()
    odd = replace(hands.tools()[0], name="server.get-thing")
    group = replace(hands.tools()[0], name="server")
    for language, source in (
        (
            "javascript",
            "return [await tools.server.get_thing({ name: 'a' }), await tools.server({ name: 'b' })]",
        ),
        ("python", "[await tools.server.get_thing(name='a'), await tools.server(name='b')]"),
    ):
        async with script_engine([odd, group], kept_in_memory(tmp_path)) as engine:
            session = await begin_script(engine, source, language)
            assert (await came_to(session))["value"] == [{"name": "a"}, {"name": "b"}]


async def test_the_example_counts_words_and_asks_what_to_show(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "plans" / "code.yaml"
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    (work / "docs" / "a.md").write_text("one two three\n")
    (work / "docs" / "b.md").write_text("one\n")
    async with script_engine(Hands().tools(), kept_in_memory(tmp_path / "home")) as engine:
        plan: Any = read_plan(example.read_text(), "code.yaml").data
        session = await engine.carry_out(plan, {}, workspace=work)
        await session.settled()
        await session.answer("all")
        await session.result()
    assert (work / "words.md").read_text() == "# Words\n\n- docs/a.md: 3\n- docs/b.md: 1\n"
