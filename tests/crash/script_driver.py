"""A process made to be killed: runs one script in a folder, and answers what it is told to answer.

`python -m tests.crash.script_driver HOME LANGUAGE ANSWERS` starts the session, or takes it up, answers the questions
named in ANSWERS (prompts, with commas between them), and says `ready` once nothing more can be done. What the script's
tools did to the world stands in HOME/world, a line each.
"""

import asyncio
import os
import sys
from pathlib import Path

from belayer.codemode.machines import Machines
from belayer.engine import Session
from belayer.execution.act import DidNotHappen, Happened, Probed
from belayer.execution.step import this_step
from belayer.settings import Settings
from belayer.tools.code import code
from belayer.tools.tool import AnyTool, Params, Tool
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.commands import Start
from belayer.vocabulary.events.event import Effect, Json, Status
from belayer.vocabulary.rules import Rule, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace, Workspaces

SOURCES = {
    "javascript": """
        const before = await tools.mark({ name: "before" });
        const branch = async (question) => {
            const answer = await human.ask(question);
            return [answer, await tools.mark({ name: question })];
        };
        const many = await Promise.all([branch("A?"), tools.mark({ name: "aside" }), branch("B?")]);
        const first = await Promise.race(["x", "y", "z"].map(name => tools.mark({ name })));
        return [before, many, first, await tools.mark({ name: "after" })]
    """,
    "python": (
        "import asyncio\n"
        "before = await tools.mark(name='before')\n"
        "async def branch(question):\n"
        "    answer = await human.ask(question)\n"
        "    return [answer, await tools.mark(name=question)]\n"
        "many = await asyncio.gather(branch('A?'), tools.mark(name='aside'), branch('B?'))\n"
        "rest = await asyncio.gather(*[tools.mark(name=name) for name in 'xyz'])\n"
        "[before, many, rest[0], await tools.mark(name='after')]\n"
    ),
}
MARKS = ("before", "aside", "A?", "B?", "x", "y", "z", "after")


class Mark(Params):
    name: str


class World:
    """A file that is only ever added to. Whether something was done can be read from it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def tool(self) -> AnyTool:
        return Tool("mark", "Mark it.", Mark, self._mark, effect=Effect.EXTERNAL, probe=self._marked)

    def names(self) -> list[str]:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return [line.partition("\t")[2] for line in lines]

    async def _mark(self, params: Mark, _workspace: Workspace) -> Json:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, f"{this_step().idempotency_key}\t{params.name}\n".encode())
        finally:
            os.close(descriptor)
        return params.name

    async def _marked(self, params: Mark, _workspace: Workspace) -> Probed:
        return Happened(params.name) if params.name in self.names() else DidNotHappen()


async def drive(home: Path, language: str, answers: list[str]) -> None:
    world = World(home / "world").tool()
    async with Machines(home / "machines") as machines:
        script = code(lambda: Toolbox([world]), Workspaces(home), machines)
        settings = Settings(home=home, session_timeout=0.0, sandbox="off")
        async with open_engine(settings=settings, tools=[world, script]) as engine:
            session = engine.session(await engine.begin(_command(language)))
            await _see_to(session, answers)
            print("ready", flush=True)
            await asyncio.get_running_loop().create_future()


def _command(language: str) -> Start:
    params: dict[str, Json] = {"language": language, "source": SOURCES[language], "tools": ["mark"]}
    return Start(
        workflow="plan",
        input={"plan": {"steps": [{"id": "it", "tool": "code", "params": params}]}},
        idempotency_key="the script",
        policy=(Rule(verdict=Verdict.ALLOW, tool="mark", effect="external"),),
    )


async def _see_to(session: Session, answers: list[str]) -> None:
    """Answer what may be answered; return when the session has ended or waits for another answer."""
    while (state := await session.settled()).status is Status.WAITING:
        known = [one for one in state.pending.values() if getattr(one, "prompt", None) in answers]
        if not known:
            return
        await session.answer(f"to {known[0].prompt}", known[0].request_id)  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    asyncio.run(drive(Path(sys.argv[1]), sys.argv[2], [one for one in sys.argv[3].split(",") if one]))
