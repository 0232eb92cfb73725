"""Carry out a script: each call is a step of the session, and what comes of them reaches it in one order for ever.

After a restart the script runs again from its beginning, on what the log has; so it comes to the line where it was.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from belayer.codemode.bindings import Bindings
from belayer.codemode.machines import Machine, Machines
from belayer.codemode.reaching import reach
from belayer.codemode.script import (
    Asked,
    End,
    Ended,
    Ending,
    Failure,
    MachineEnded,
    Report,
    Script,
    ended_by_itself,
    ended_by_machine,
    waits_for_nothing,
)
from belayer.execution.journal import Moment
from belayer.execution.mismatch import mismatch
from belayer.execution.run import Run, ending_of
from belayer.execution.suspended import Halted, Suspended
from belayer.vocabulary.events.event import Json

_SCRIPT, _SETTLED = "script", "settled"
# Under which names a call may first be on record.
_FIRST_RECORDS = ("", "/call", "/now")


async def carry_out(script: Script, bindings: Bindings, machines: Machines, run: Run) -> Ended:
    """What the script came to; LimitReached or ScriptFailed if it did not come through."""
    kept = await run.once(_SCRIPT, partial(_carried, script, bindings, machines))
    if isinstance(kept, dict) and "failure" in kept:
        raise Failure.model_validate(kept["failure"]).error()
    return Ended.model_validate(kept)


async def _carried(script: Script, bindings: Bindings, machines: Machines, run: Run) -> Json:
    is_old = run.knows("now")
    now, seed = await run.now(), await run.random()
    async with machines.machine(script.language, script.limits) as machine:
        ended = await _Driving(script, bindings, machine, run).go(now.timestamp(), seed, is_old)
    plain = ended.model_dump(mode="json")
    return {"failure": plain} if isinstance(ended, Failure) else plain


@dataclass(slots=True)
class _Call:
    """A call that has not come back to the script."""

    asked: Asked
    task: asyncio.Task[bytes | BaseException]
    since: Moment | None

    @property
    def ending(self) -> bytes | BaseException:
        return self.task.result()


@dataclass(slots=True)
class _Driving:
    """One script on its machine."""

    script: Script
    bindings: Bindings
    machine: Machine
    run: Run
    calls: int = 0
    output: tuple[str, ...] = ()
    _out: dict[int, _Call] = field(default_factory=dict[int, _Call])
    _finished: list[int] = field(default_factory=list[int])

    async def go(self, now: float, seed: float, is_old: bool) -> Ended | Failure:
        """How the script ended, once every call of its has come to rest."""
        async with asyncio.TaskGroup() as group:
            ending = await ending_of(self._through(group, now, seed, is_old))
            if running := self._running():
                await asyncio.wait(running)
        if isinstance(ending, BaseException):
            raise ending
        return self._with_lost(ending) if isinstance(ending, Ended) else ending

    async def _through(
        self, group: asyncio.TaskGroup, now: float, seed: float, is_old: bool
    ) -> Ended | Failure:
        try:
            report = await self.machine.start(self.script, now, seed)
            while True:
                self._take(report, group, is_old)
                if report.end is not None:
                    return self._ended(report.end)
                if not self._out:
                    return waits_for_nothing(self.output)
                settled = await self._settled()
                is_old = all(call.since is not None for call in settled)
                report = await self.machine.settle([_told(call) for call in settled])
        except MachineEnded as error:
            return ended_by_machine(error.ending, self.output, self.script.limits)

    def _take(self, report: Report, group: asyncio.TaskGroup, is_old: bool) -> None:
        """What a turn brought: lines to show unless they were shown before, and calls to make."""
        self.output += report.output
        if not (is_old and self._was_here(report)):
            for text in report.output:
                self.run.show("log", text=text, step=self.run.place)
        for asked in report.calls:
            if asked.id != self.calls + 1:
                raise MachineEnded(Ending(what="it numbers its calls wrongly"))
            self.calls = asked.id
            since = self.run.ready_since(str(asked.id))
            self._out[asked.id] = _Call(asked, group.create_task(self._made(asked)), since)

    def _was_here(self, report: Report) -> bool:
        """Whether an earlier drive had got as far as the end of this turn: then it made the same calls."""
        if report.end is not None:
            return False
        keys = [str(asked.id) for asked in report.calls]
        return not keys or any(self.run.knows(f"{key}{under}") for key in keys for under in _FIRST_RECORDS)

    async def _made(self, asked: Asked) -> bytes | BaseException:
        line = self.run.line()
        ending = await ending_of(reach(asked, self.bindings, line, self.script.limits.result))
        self._finished.append(asked.id)
        return ending

    async def _settled(self) -> list[_Call]:
        """The calls that come back next. Where several could, their order is on record before the script sees it."""
        ids: Json = list(self._out)
        if len(self._out) > 1:
            ids = await self.run.once(_SETTLED, self._first)
        settled = self._named(ids)
        for call in settled:
            self._came_through(await call.task)
        for call in settled:
            del self._out[call.asked.id]
        return settled

    def _named(self, ids: Json) -> list[_Call]:
        named = [self._out.get(one) for one in ids if isinstance(one, int)] if isinstance(ids, list) else []
        settled = [call for call in named if call is not None]
        if not settled or len(settled) != len(named):
            place = f"{self.run.place}/{_SETTLED}"
            raise Halted(mismatch(place, f"calls {ids} that came back", f"one of {list(self._out)}"))
        return settled

    async def _first(self, _run: Run) -> Json:
        """The ids of those that came back first: by the log, else as they come. Suspended when all of them wait."""
        known = sorted((call.since, asked) for asked, call in self._out.items() if call.since is not None)
        for _, asked in known:
            if not isinstance(await self._out[asked].task, Suspended):
                return [asked]
        while True:
            back = [one for one in self._finished if one in self._out and not self._waits(one)]
            for one in back:
                self._came_through(self._out[one].ending)
            if back:
                return [*back]
            if not (running := self._running()):
                self.run.join([call.ending for call in self._out.values()])
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)

    def _waits(self, asked: int) -> bool:
        return isinstance(self._out[asked].ending, Suspended)

    def _came_through(self, ending: bytes | BaseException) -> None:
        """Raise what ends the script, or the run."""
        if isinstance(ending, BaseException):
            self.run.join([ending])

    def _running(self) -> list[asyncio.Task[bytes | BaseException]]:
        return [call.task for call in self._out.values() if not call.task.done()]

    def _ended(self, end: End) -> Ended | Failure:
        if end.error is not None:
            return ended_by_itself(end.error, self.output)
        return Ended(value=end.value, output=self.output, calls=self.calls)

    def _with_lost(self, ended: Ended) -> Ended:
        """A script may end before its calls do; what failed then is not lost on whoever reads its output."""
        lost = [
            f"{call.asked.name} in line {call.asked.line} failed, and the script did not wait for it."
            for call in self._out.values()
            if isinstance(call.ending, bytes) and b'"problem":' in call.ending[:40]
        ]
        return ended.model_copy(update={"output": (*ended.output, *lost)})


def _told(call: _Call) -> bytes:
    ending = call.ending
    assert isinstance(ending, bytes)
    return ending
