"""Carry out a plan: steps in order, a person asked where one must be, a failure that takes along only what needs it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from belayer.execution.act import Act
from belayer.execution.run import Run, ending_of
from belayer.execution.suspended import Suspended
from belayer.tools.tool import Given
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import BelayerError, PlanFailed, StepFailed
from belayer.vocabulary.events.event import Json, StepStatus
from belayer.vocabulary.events.steps import PlannedStep
from belayer.workflows.plan.check import CheckedPlan
from belayer.workflows.plan.condition import parse
from belayer.workflows.plan.forecast import Forecast
from belayer.workflows.plan.outcome import Outcome, impact_of, result_of
from belayer.workflows.plan.plan import PlanStep
from belayer.workflows.plan.template import Scope, render
from belayer.workflows.plan.tries import PlanEnds, Tries
from belayer.workspace.workspace import Workspace


@dataclass(slots=True)
class Walk:
    """One plan being carried out."""

    run: Run
    plan: CheckedPlan
    tools: Toolbox
    workspace: Workspace
    forecast: Forecast
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    _outputs: dict[str, Json] = field(default_factory=dict[str, Json])
    _statuses: dict[str, str] = field(default_factory=dict[str, str])
    _problems: dict[str, str] = field(default_factory=dict[str, str])

    async def go(self) -> Json:
        """The plan's result; PlanFailed when a critical step failed and nobody helped."""
        planned = [_planned(self.plan.step(step_id), self.plan) for step_id in self.plan.order]
        await self.run.plan(*planned, parallel=self.plan.plan.parallel, digest=self.plan.digest)
        async with self.forecast.shown(self.run):
            endings = await self._walk()
            for ending in endings:
                if isinstance(ending, PlanEnds):
                    raise await self._ended(ending)
            self.run.join(endings)
        return result_of(self.plan, self.outcomes)

    async def _ended(self, ending: PlanEnds) -> PlanFailed:
        """Once every line of work has come to rest: undo what is to be undone, and say what came of it."""
        done = await self._undo_all() if ending.undo else "Nothing was undone."
        return PlanFailed(f"{ending.detail} {done}", ending.hint, ending.problem().category)

    async def _walk(self) -> list[BaseException]:
        """Take every step that can be taken; how the lines of work ended that did not come through."""
        at_once = self.plan.plan.parallel
        return await (self._side_by_side(at_once) if at_once > 1 else self._one_by_one())

    async def _one_by_one(self) -> list[BaseException]:
        """In order. What comes after a step that waits comes after it, whether it needs it or not."""
        for step_id in self.plan.order:
            ending = await ending_of(self._step(step_id))
            if isinstance(ending, BaseException):
                return [ending]
            self._settle(step_id, ending)
        return []

    async def _side_by_side(self, at_once: int) -> list[BaseException]:
        """As many at once as allowed. While one waits for a person, what does not need it goes on."""
        ahead = list(self.plan.order)
        under_way: dict[asyncio.Task[Outcome | BaseException], str] = {}
        endings: list[BaseException] = []
        async with asyncio.TaskGroup() as group:
            while True:
                for step_id in self._ready(ahead)[: at_once - len(under_way)]:
                    ahead.remove(step_id)
                    under_way[group.create_task(ending_of(self._step(step_id)))] = step_id
                if not under_way:
                    return endings
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    step_id, ending = under_way.pop(task), task.result()
                    if not isinstance(ending, BaseException):
                        self._settle(step_id, ending)
                        continue
                    endings.append(ending)
                    if not isinstance(ending, Suspended):
                        ahead = []

    def _ready(self, ahead: list[str]) -> list[str]:
        return [step_id for step_id in ahead if self.plan.after[step_id] <= self.outcomes.keys()]

    def _settle(self, step_id: str, outcome: Outcome) -> None:
        self.outcomes[step_id] = outcome
        self._statuses[step_id] = outcome.status.value
        if outcome.is_done:
            self._outputs[step_id] = outcome.output
        if outcome.problem is not None:
            self._problems[step_id] = outcome.problem.detail
        self.forecast.ended(step_id)

    async def _step(self, step_id: str) -> Outcome:
        step = self.plan.step(step_id)
        tries = Tries(self, step, self.run.line())
        missing = [need for need in self.plan.needs[step_id] if not self.outcomes[need].is_done]
        if missing:
            return await tries.skip(self._why_missing(self.plan.plan_order(frozenset(missing))))
        try:
            wanted = step.when is None or parse(step.when).holds(self._scope())
        except BelayerError as error:
            return await tries.failed_early(error)
        if not wanted:
            return await tries.skip(f"its condition does not hold: {step.when}")
        return await tries.go()

    def _why_missing(self, needs: tuple[str, ...]) -> str:
        word = {True: "failed", False: "was skipped"}
        told = [f"{need} {word[self.outcomes[need].status is StepStatus.FAILED]}" for need in needs]
        return f"it needs what is not there: {', '.join(told)}"

    def _scope(self) -> Scope:
        """What templates and conditions can refer to now."""
        return Scope(self._outputs, self._statuses, self.plan.inputs, self._problems)

    def rendered(self, params: Mapping[str, Json]) -> Given:
        value = render(dict(params), self._scope())
        assert isinstance(value, dict)
        return value

    def impact_of(self, step_id: str) -> str:
        return impact_of(self.plan, step_id)

    def began(self, step_id: str) -> None:
        self.forecast.began(step_id)

    def can_undo(self) -> bool:
        """Whether the plan has steps that can be taken back; by its tools, so that it is the same on every replay."""
        return any(self._has_undo(step.tool, step.params) for step in self.plan.plan.steps)

    def _has_undo(self, tool: str, params: Mapping[str, Json]) -> bool:
        return self.tools.knows(tool, params) and self.tools.resolve(tool, params)[0].undo is not None

    async def _undo_all(self) -> str:
        """Take back what the plan has done, the last first, as far as its tools can; what came of it, in words."""
        undone: list[str] = []
        failed: list[str] = []
        for step_id in reversed(self.plan.order):
            if step_id not in self.outcomes or not self.outcomes[step_id].undoable:
                continue
            try:
                await self._undo(step_id, self.outcomes[step_id])
                undone.append(step_id)
            except StepFailed as error:
                failed.append(f"{step_id} ({error.detail})")
        told = f"Undone: {', '.join(undone)}." if undone else "Nothing was undone."
        return f"{told} Could not be undone: {', '.join(failed)}." if failed else told

    async def _undo(self, step_id: str, outcome: Outcome) -> None:
        assert outcome.call is not None
        tool, params = outcome.call
        assert tool.undo is not None
        take_back = partial(tool.undo, tool.read(params), outcome.output, self.workspace)
        act = Act(f"{tool.name} undo", take_back, tool.effect, idempotent=True)
        await self.run.within(step_id).step("undo", act)


def _planned(step: PlanStep, plan: CheckedPlan) -> PlannedStep:
    return PlannedStep(
        key=step.id,
        title=step.title or step.id,
        tool=step.tool,
        needs=plan.plan_order(plan.needs[step.id]) or None,
        critical=step.is_critical,
    )
