"""What `belayer demo` does, one act after the other. Nothing is staged: a real process, a real kill, a real result."""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rich.table import Table
from rich.text import Text

from belayer.cli.company import Company, rests
from belayer.cli.desk import Desk
from belayer.cli.ending import tell_ending
from belayer.cli.exits import Exit, exit_for
from belayer.cli.safe_text import safe_line
from belayer.cli.targets import BUILT_IN
from belayer.cli.tellers import telling
from belayer.engine import Engine
from belayer.sessions.record import Record
from belayer.sessions.state import SessionState
from belayer.vocabulary.commands import Answer, Start
from belayer.vocabulary.errors import BelayerError
from belayer.vocabulary.events.event import Json, Status, StepStatus
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import SessionId

_MOST_FILES = 800
_OWN_ANSWER = "functions"


@dataclass(slots=True)
class Demonstration:
    """One showing."""

    desk: Desk
    folder: Path
    most_files: int = _MOST_FILES

    async def perform(self) -> int:
        """Start, kill, look, go on, prove; the exit code."""
        survey = BUILT_IN["survey"]
        async with self.desk.engine("none", survey) as engine:
            session_id = await self._start(engine)
            pid = await self._drive_and_kill(engine, session_id)
            before = await self._look(engine, session_id, pid)
        self._say("3. Going on in this process. What is recorded is not done again.")
        self.desk.when_stopped = f"Stopped. Go on with: {self.desk.command('resume', session_id)}"
        async with self.desk.engine({session_id}, survey) as engine:
            state = await self._go_on(engine, session_id, before.seq)
            records = await engine.records(session_id)
        if state.status is not Status.COMPLETED:
            await tell_ending(self.desk, state, asked=True)
            return exit_for(state.status)
        return await self._prove(state, records, pid)

    async def _start(self, engine: Engine) -> SessionId:
        given: dict[str, Json] = {
            "folder": str(self.folder),
            "report": str(self.desk.home.resolve() / "survey.md"),
            "receipts": str(self._receipts),
            "most_files": self.most_files,
        }
        title = f"Survey of {self.folder}"
        return await engine.begin(Start(workflow="survey", input=given, title=title))

    async def _drive_and_kill(self, engine: Engine, session_id: SessionId) -> int:
        words = ["-m", "belayer", "resume", session_id, "--home", str(self.desk.home), "--no-input"]
        child = await asyncio.create_subprocess_exec(
            sys.executable, *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        self._say(f"1. Process {child.pid} surveys {self.folder}.")
        try:
            await self._until_half_way(engine, session_id, child)
            if child.returncode is None:
                child.send_signal(signal.SIGKILL)
            code = await child.wait()
        finally:
            if child.returncode is None:
                child.kill()
        if code != -signal.SIGKILL:
            raise BelayerError(
                f"The demo's process ended by itself (exit code {code}) before it could be killed.",
                f"See what it did with `{self.desk.command('show', session_id)}`.",
            )
        return child.pid

    async def _until_half_way(
        self, engine: Engine, session_id: SessionId, child: asyncio.subprocess.Process
    ) -> None:
        """Watch the log until the child is in the middle of its work, or gone."""
        watching = asyncio.create_task(self._watch(engine, session_id))
        ending = asyncio.create_task(child.wait())
        try:
            await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not watching.done():
                watching.cancel()
            await asyncio.wait({watching})

    async def _watch(self, engine: Engine, session_id: SessionId) -> None:
        state = await engine.state(session_id)
        async with (
            telling(self.desk.screen, state, heading=False) as teller,
            aclosing(engine.watch(session_id)) as frames,
        ):
            async for state, frame in frames:
                teller.hear(state, frame)
                if _is_half_way(state) or rests(state):
                    return

    async def _look(self, engine: Engine, session_id: SessionId, pid: int) -> SessionState:
        state = await engine.state(session_id)
        done = [step for step in state.steps.values() if step.status is StepStatus.COMPLETED]
        ahead = next((step.title for step in state.plan if step.key not in state.steps), "its last step")
        self._say(f"2. kill -9 {pid}, in the middle of “{safe_line(ahead)}”.")
        damage = [item async for finding in engine.verify() for item in finding.damage]
        if damage:
            raise BelayerError(
                f"The log is damaged: {damage[0].what}", "This must not happen; please report it."
            )
        self.desk.screen.say(
            f"   The log is intact: {state.seq} events, every one checked. {len(done)} steps are recorded:"
        )
        self.desk.screen.say(f"   {', '.join(safe_line(step.key) for step in done)}")
        return state

    async def _go_on(self, engine: Engine, session_id: SessionId, after: int) -> SessionState:
        company = Company(self.desk, engine, session_id, heading=False)
        state = await company.stay(after)
        if state.status is Status.WAITING and not self.desk.screen.interactive:
            for request_id in state.pending:
                self._say(f"4. It asks, and no terminal is attached: the demo answers itself: {_OWN_ANSWER}")
                await engine.tell(session_id, Answer(request_id=request_id, value=_OWN_ANSWER))
            state = await company.stay(state.seq)
        return state

    async def _prove(self, state: SessionState, records: list[Record], pid: int) -> int:
        """Count what was done; the numbers come from the log and from the disk."""
        times = Counter(_ended(records))
        twice = [key for key, count in times.items() if count > 1]
        writes = (await asyncio.to_thread(self._receipts.read_text)).splitlines()
        result = cast("dict[str, Any]", state.result)
        right = not twice and len(writes) == len(set(writes)) == 2
        self.desk.screen.say()
        self.desk.screen.draw(_table(result))
        self.desk.screen.say()
        self.desk.screen.say(_verdict(right, len(times), twice, writes))
        self.desk.screen.say(f"  The report:  {result['report']}")
        self.desk.screen.say(f"  The story:   {self.desk.command('show', state.id, '--events')}")
        self.desk.screen.answer(
            {
                "session_id": state.id,
                "killed": pid,
                "steps": len(times),
                "done_twice": twice,
                "writes": writes,
                "result": result,
            }
        )
        return Exit.DONE if right else Exit.FAILED

    @property
    def _receipts(self) -> Path:
        return self.desk.home.resolve() / "receipts.txt"

    def _say(self, text: str) -> None:
        self.desk.screen.say()
        self.desk.screen.say(text, style="bold")


def _is_half_way(state: SessionState) -> bool:
    """Whether a good part of the long stage is done, and a good part of it is not."""
    parts = [step.key for step in state.plan if step.key.startswith("functions/")]
    return len(parts) > 1 and sum(key in state.steps for key in parts) >= max(len(parts) // 3, 1)


def _ended(records: list[Record]) -> Iterator[str]:
    """The keys of the steps that were done, each as often as it was."""
    for event in map(Record.event, records):
        if isinstance(event, StepChanged) and event.status is StepStatus.COMPLETED:
            yield event.key


def _table(result: dict[str, Any]) -> Table:
    table = Table(title=f"{result['files']} files, {result['lines']} lines", title_justify="left", box=None)
    table.add_column("LARGEST FUNCTIONS", no_wrap=True)
    table.add_column("LINES", justify="right")
    table.add_column("WHERE", no_wrap=True, overflow="ellipsis")
    for function in result["largest"]:
        table.add_row(
            Text(safe_line(function["name"])), str(function["lines"]), Text(safe_line(function["place"]))
        )
    return table


def _verdict(right: bool, steps: int, twice: list[str], writes: list[str]) -> Text:
    mark = ("✓ ", "bold green") if right else ("✗ ", "bold red")
    count = f"{steps} steps, {len(twice) or 'none'} done twice"
    return Text.assemble(mark, f"Killed in the middle, and whole: {count}; on the disk: {', '.join(writes)}.")
