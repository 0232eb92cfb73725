"""One suite for every tool of the catalogue. A tool without an example here fails it."""

import json
import re
import socket
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from belayer.engine import Session
from belayer.execution.act import DidNotHappen, Happened
from belayer.execution.policy import Reach
from belayer.settings import read_settings
from belayer.tools.catalog import catalog
from belayer.tools.tool import AnyTool, Given
from belayer.vocabulary.clock import SystemClock
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Effect, Json, Status, StepStatus
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.wiring import kept_in_memory, means_from
from belayer.workspace.workspace import Workspace, Workspaces
from tests.support.engines import engine_on, events_of
from tests.support.mail_server import MailServer, taking_mail
from tests.support.receiver import receiving
from tests.support.search_provider import Page, searching
from tests.support.site import Site, answer, serving

HERE = "127.0.0.1"
SEARCHED, MAILED, TOLD = LISTENING = tuple(socket.create_server((HERE, 0)) for _ in range(3))
CHANNELS: dict[str, Any] = {
    "private_hosts": HERE,
    "searxng_url": f"http://{HERE}:{SEARCHED.getsockname()[1]}",
    "smtp_url": SecretStr(f"smtp://{HERE}:{MAILED.getsockname()[1]}"),
    "mail_from": "bot@belayer.test",
    "notify_targets": SecretStr(f"ops=webhook+http://{HERE}:{TOLD.getsockname()[1]}/#whsec_{'QUJD' * 8}"),
}
TOOLS = {tool.name: tool for tool in catalog(means_from(read_settings(**CHANNELS)))}
FILES = {"a.txt": "one\ntwo\n", "b.txt": "other\n", "docs/c.md": "# C\n", "docs/deep/d.md": "# D\n"}


@dataclass(frozen=True)
class Example:
    """A call that works on FILES; `answer` is what a person says if asked. `SITE` stands for a server's address."""

    params: dict[str, Any] = field(default_factory=dict[str, Any])
    answer: Json = None

    def at(self, site: Site) -> Given:
        return json.loads(json.dumps(self.params).replace("SITE", f"{HERE}:{site.port}"))


EXAMPLES: dict[str, tuple[Example, ...]] = {
    "files.read": (
        Example({"path": "a.txt"}),
        Example({"path": "docs/c.md", "first_line": 1, "most_lines": 1}),
    ),
    "files.list": (Example(), Example({"path": "docs", "depth": 3})),
    "files.search": (Example({"text": "t"}), Example({"text": "^o", "regex": True, "path": "docs"})),
    "files.write": (
        Example({"path": "a.txt", "content": "new"}),
        Example({"path": "new/deep/file.txt", "content": "new"}),
        Example({"path": "new.txt", "content": "", "overwrite": False}),
    ),
    "files.edit": (
        Example({"path": "a.txt", "old": "two", "new": "three"}),
        Example({"path": "a.txt", "old": "one\n", "new": ""}),
        Example({"path": "a.txt", "old": "o", "new": "0", "all": True}),
        Example({"path": "a.txt", "old": "one", "new": "one and one"}),
    ),
    "files.move": (
        Example({"source": "a.txt", "target": "new/a.txt"}),
        Example({"source": "a.txt", "target": "b.txt", "overwrite": True}),
        Example({"source": "docs", "target": "papers"}),
    ),
    "files.delete": (Example({"path": "a.txt"}), Example({"path": "docs", "folder": True})),
    "http_fetch": (Example({"url": "http://SITE/page"}),),
    "web_search": (
        Example({"query": "rope"}),
        Example({"query": "rope", "count": 3, "site": "climb.test", "freshness": "year"}),
    ),
    "email": (
        Example({"to": ["ada@example.test"], "subject": "The rope", "text": "Hold it."}),
        Example(
            {
                "to": ["ada@example.test"],
                "bcc": ["eve@other.test"],
                "subject": "Files",
                "text": "Here.",
                "html": "<p>Here.",
                "attachments": ["a.txt", "docs/c.md"],
            }
        ),
    ),
    "notify": (
        Example({"target": "ops", "text": "Done."}),
        Example({"target": "ops", "text": "It fell.", "title": "The rope", "level": "failure"}),
    ),
    "request_input": (
        Example({"prompt": "Who?"}, "Ada"),
        Example({"prompt": "Which?", "kind": "choice", "choices": ["a", "b"]}, "b"),
        Example({"prompt": "Sure?", "kind": "confirm"}, answer=True),
        Example(
            {"prompt": "Fill in.", "kind": "form", "form": {"properties": {"n": {"type": "integer"}}}},
            {"n": 1},
        ),
    ),
    "wait": (Example({"seconds": 0}), Example({"until": "2001-01-01T00:00:00Z"})),
}
CALLS = [
    pytest.param(TOOLS[name], example, id=f"{name}-{number}")
    for name, examples in EXAMPLES.items()
    if name in TOOLS
    for number, example in enumerate(examples)
]
each_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
each_call = pytest.mark.parametrize(("tool", "example"), CALLS)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for path, content in FILES.items():
        (tmp_path / "work" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / path).write_text(content)
    return Workspaces(tmp_path / "home").of(tmp_path / "work")


@pytest.fixture
async def site() -> AsyncGenerator[Site]:
    async with serving({"/page": answer("Hello.", content_type="text/plain")}) as serving_site:
        yield serving_site


@pytest.fixture(scope="module", autouse=True)
def closed() -> Generator[None]:
    yield
    for listening in LISTENING:
        listening.close()


@pytest.fixture(autouse=True)
async def counterparts() -> AsyncGenerator[None]:
    """Those whom searches, letters and notifications reach."""
    async with (
        searching([Page("The rope", "https://climb.test/rope", "How to hold it.")], listening=SEARCHED),
        taking_mail(MailServer(), listening=MAILED),
        receiving(listening=TOLD),
    ):
        yield


def test_every_tool_has_an_example() -> None:
    assert EXAMPLES.keys() == TOOLS.keys()


@each_tool
def test_a_tool_says_what_it_is(tool: AnyTool) -> None:
    assert re.fullmatch(r"[a-z_]+(\.[a-z_]+)?", tool.name)
    assert re.fullmatch(r"[A-Z].+\.", tool.about)
    assert isinstance(tool.effect, Effect)
    assert tool.timeout > 0
    assert tool.retries is None or tool.retries >= 0


@each_tool
def test_a_tool_either_executes_or_conducts(tool: AnyTool) -> None:
    assert (tool.execute is None) != (tool.conduct is None)


@each_tool
def test_a_tool_that_changes_files_can_take_it_back_and_find_out_whether_it_did(tool: AnyTool) -> None:
    if tool.effect is Effect.WRITE:
        assert tool.undo is not None
        assert tool.probe is not None or tool.idempotent


@each_tool
def test_the_parameters_are_a_schema_of_an_object_that_knows_its_names(tool: AnyTool) -> None:
    schema = tool.params.model_json_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert json.loads(json.dumps(schema)) == schema


@each_tool
async def test_a_tool_that_can_say_how_it_is_says_so(tool: AnyTool) -> None:
    said = await tool.health() if tool.health else None
    assert said is None or (isinstance(said, str) and said)


@each_call
def test_an_unknown_or_missing_name_is_told_by_name(tool: AnyTool, example: Example) -> None:
    with pytest.raises(ConfigurationError, match="no_such_name"):
        tool.read({**example.params, "no_such_name": 1})
    for name in tool.params.model_json_schema().get("required", []):
        with pytest.raises(ConfigurationError, match=name) as refused:
            tool.read({key: value for key, value in example.params.items() if key != name})
        assert tool.name in (refused.value.hint or "")


@each_call
def test_what_a_call_reaches_is_the_same_whoever_asks(tool: AnyTool, example: Example, site: Site) -> None:
    params = tool.read(example.at(site))
    reach = tool.reach(params)
    assert isinstance(reach, Reach)
    assert reach == tool.reach(params)
    assert tool.estimate is None or tool.estimate(params) >= 0


@each_call
async def test_what_a_call_gives_is_json(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.execute is not None:
        output = await tool.execute(tool.read(example.at(site)), workspace)
        assert json.loads(json.dumps(output, allow_nan=False)) == output


@each_call
async def test_a_call_that_only_reads_leaves_the_files_as_they_are(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.execute is None or tool.effect is not Effect.READ:
        return
    before = await workspace.snapshot()
    await tool.execute(tool.read(example.at(site)), workspace)
    assert await workspace.snapshot() == before


@each_call
async def test_a_call_that_is_undone_leaves_the_files_as_they_were(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.execute is None or tool.undo is None:
        return
    params = tool.read(example.at(site))
    before = await workspace.snapshot()
    output = await tool.execute(params, workspace)
    assert await workspace.snapshot() != before
    for _ in range(2):  # an undo that was cut off is done again
        await tool.undo(params, output, workspace)
        assert await workspace.snapshot() == before


@each_call
async def test_a_probe_is_never_wrong(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.execute is None or tool.probe is None:
        return
    params = tool.read(example.at(site))
    before = await workspace.snapshot()
    assert not isinstance(await tool.probe(params, workspace), Happened)
    assert await workspace.snapshot() == before
    await tool.execute(params, workspace)
    assert not isinstance(await tool.probe(params, workspace), DidNotHappen)


@each_call
async def test_a_preview_changes_nothing(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.preview is not None:
        before = await workspace.snapshot()
        shown = await tool.preview(tool.read(example.at(site)), workspace)
        assert json.loads(json.dumps(shown)) == shown
        assert await workspace.snapshot() == before


@each_call
async def test_to_do_an_idempotent_call_twice_is_to_do_it_once(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site
) -> None:
    if tool.execute is None or not tool.idempotent:
        return
    params = tool.read(example.at(site))
    once, tree = await tool.execute(params, workspace), await workspace.snapshot()
    assert (await tool.execute(params, workspace), await workspace.snapshot()) == (once, tree)


@each_call
async def test_a_call_runs_as_a_step_and_is_on_record(
    tool: AnyTool, example: Example, workspace: Workspace, site: Site, tmp_path: Path
) -> None:
    keeping, params = kept_in_memory(tmp_path / "home"), example.at(site)
    plan: dict[str, Any] = {"steps": [{"id": "it", "tool": tool.name, "params": params}]}
    async with engine_on(keeping, SystemClock(), **CHANNELS) as engine:
        command = Start(workflow="plan", input={"plan": plan}, workspace=str(workspace.folder))
        session = engine.session(await engine.begin(command))
        await helped(session, example)
        result = await session.result()
    events = [event for event in await events_of(keeping, session.id, StepChanged) if event.key == "it"]
    assert {event.name for event in events} == {tool.name}
    assert {event.effect for event in events} == {tool.effect}
    assert events[0].input == params
    assert events[-1].status is StepStatus.COMPLETED
    assert isinstance(result, dict)
    assert result["outputs"] == {"it": events[-1].output}


async def helped(session: Session, example: Example) -> None:
    """A person is there who answers what is asked and approves what is shown."""
    while (state := await session.settled()).status is Status.WAITING:
        (request,) = state.pending.values()
        if isinstance(request, ApprovalRequested):
            await session.approve()
        else:
            await session.answer(example.answer)
