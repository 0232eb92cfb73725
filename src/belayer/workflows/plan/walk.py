"""Carry out a plan: steps in order, a person asked where one must be, a failure that takes along only what needs it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from belayer.execution.act import Act
from belayer.execution.run import Run, ending_of
from belayer.execution.suspended import Suspended
from belayer.tools.tool import AnyTool, Given
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import BelayerError, PlanFailed, Problem, StepFailed
from belayer.vocabulary.events.event import Effect, Json, Mode, StepStatus
from belayer.vocabulary.events.steps import PlannedStep
from belayer.workflows.plan.check import CheckedPlan
from belayer.workflows.plan.condition import parse
from belayer.workflows.plan.forecast import Forecast
from belayer.workflows.plan.plan import PlanStep
from belayer.workflows.plan.template import Scope, render
from belayer.workspace.workspace import Workspace

RETRY, EDIT, FALLBACK, SKIP, UNDO, ABORT = "retry", "edit", "fallback", "skip", "undo", "abort"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step of the plan came out. `call` is what was done in the end, for whoever wants to undo it."""

    status: StepStatus
    output: Json = None
    problem: Problem | None = None
    reason: str | None = None
    call: tuple[AnyTool, Given] | None = None


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
        planned = [_planned(step, self.plan) for step in self.plan.steps()]
        await self.run.plan(*planned, parallel=self.plan.plan.parallel, digest=self.plan.digest)
        async with self.forecast.shown(self.run):
            self.run.join(await self._walk())
        return result(self.plan, self.outcomes)

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
                for task in sorted(done, key=lambda one: self.plan.order.index(under_way[one])):
                    step_id, ending = under_way.pop(task), task.result()
                    if isinstance(ending, BaseException):
                        endings.append(ending)
                        ahead = ahead if isinstance(ending, Suspended) else []
                    else:
                        self._settle(step_id, ending)

    def _ready(self, ahead: list[str]) -> list[str]:
        return [step_id for step_id in ahead if self.plan.after[step_id] <= self.outcomes.keys()]

    def _settle(self, step_id: str, outcome: Outcome) -> None:
        self.outcomes[step_id] = outcome
        self._statuses[step_id] = outcome.status.value
        if outcome.status is StepStatus.COMPLETED:
            self._outputs[step_id] = outcome.output
        if outcome.problem is not None:
            self._problems[step_id] = outcome.problem.detail
        self.forecast.ended(step_id)

    async def _step(self, step_id: str) -> Outcome:
        step, line = self.plan.step(step_id), self.run.line()
        missing = [need for need in self.plan.plan_order(self.plan.needs[step_id]) if not self._is_done(need)]
        if missing:
            return await self._skip(
                line, step, f"it needs {', '.join(missing)}, which {self._how(missing[0])}"
            )
        try:
            wanted = step.when is None or parse(step.when).holds(self.scope())
        except BelayerError as error:
            return await _Tries(self, step, line).failed_early(error)
        if not wanted:
            return await self._skip(line, step, f"its condition does not hold: {step.when}")
        return await _Tries(self, step, line).go()

    def _is_done(self, step_id: str) -> bool:
        return self.outcomes[step_id].status is StepStatus.COMPLETED

    def _how(self, step_id: str) -> str:
        return "failed" if self.outcomes[step_id].status is StepStatus.FAILED else "was skipped"

    async def _skip(self, line: Run, step: PlanStep, reason: str) -> Outcome:
        await line.skip(step.id, step.tool, reason)
        return Outcome(StepStatus.SKIPPED, reason=reason)

    def scope(self) -> Scope:
        """What templates and conditions can refer to now."""
        return Scope(self._outputs, self._statuses, self.plan.inputs, self._problems)

    def impact_of(self, step_id: str) -> str:
        """What a failure of the step means for the rest."""
        needing = self.plan.needing(step_id)
        if not needing:
            return "No other step needs it."
        count = "1 later step is" if len(needing) == 1 else f"{len(needing)} later steps are"
        return f"Without it, {count} skipped because they need it: {', '.join(needing)}."

    def rendered(self, params: Mapping[str, Json]) -> Given:
        value = render(dict(params), self.scope())
        assert isinstance(value, dict)
        return value


@dataclass(slots=True)
class _Tries:
    """One step, tried until it is done, given up, or a person is needed."""

    walk: Walk
    step: PlanStep
    line: Run
    inner: Run = field(init=False)
    fell_back: bool = False

    def __post_init__(self) -> None:
        self.inner = self.line.within(self.step.id)

    async def go(self) -> Outcome:
        tool_name, given, rendered = self.step.tool, self.step.params, False
        while True:
            try:
                params = dict(given) if rendered else self.walk.rendered(given)
                tool, params = self.walk.tools.resolve(tool_name, params)
            except BelayerError as error:
                failed = await self._fail(tool_name, dict(given), error)
            else:
                unwell = await self._unavailable(tool)
                if unwell is not None:
                    return await self._left_out(unwell)
                done = await self._try(tool, params)
                if isinstance(done, Outcome):
                    return done
                failed = done
            if self.step.fallback is not None and not self.fell_back:
                choice: Json = FALLBACK
                await self.inner.log(f"{failed.detail} Trying {self.step.fallback.tool} instead.", "warning")
            elif self.step.is_critical:
                choice = await self._recover(failed)
            else:
                return await self._accept(failed)
            match _word(choice):
                case "fallback" if self.step.fallback is not None:
                    tool_name, given, rendered, self.fell_back = (
                        self.step.fallback.tool, self.step.fallback.params, False, True,
                    )  # fmt: skip
                case "edit":
                    given, rendered = _edited(choice), True
                case "skip":
                    return await self._left_out("a person left it out after it failed")
                case "undo" | "abort":
                    await self._abort(failed, undo=_word(choice) == UNDO)
                case _:
                    pass

    async def failed_early(self, error: BelayerError) -> Outcome:
        """The step could not even be looked at."""
        problem = await self._fail(self.step.tool, dict(self.step.params), error)
        if self.step.is_critical:
            await self._abort(problem, undo=False)
        return await self._accept(problem)

    async def _try(self, tool: AnyTool, params: Given) -> Outcome | Problem:
        """Do it once; the problem if it failed."""
        self.walk.forecast.began(self.step.id)
        try:
            if tool.conduct is not None:
                value = await tool.conduct(tool.read(params), self.inner)
                output = await self.line.use(self.step.id, _given(tool.name, value), params)
            else:
                output = await self.line.use(self.step.id, self._act(tool), params)
        except StepFailed as error:
            return error.problem()
        except BelayerError as error:
            return await self._fail(tool.name, params, error)
        return Outcome(StepStatus.COMPLETED, output, call=(tool, params))

    def _act(self, tool: AnyTool) -> Act[[Given], Json]:
        """The tool as this step wants it."""
        act = tool.act(self.walk.workspace)
        if self.step.timeout is not None:
            act = replace(act, timeout=self.step.timeout)
        if self.step.retries is not None:
            act = replace(act, retries=self.step.retries)
        if self.step.fallback is not None and act.guard is not None:
            act = replace(act, guard=replace(act.guard, patient=False))
        return act

    async def _fail(self, name: str, params: Given, error: BelayerError) -> Problem:
        """Put on record that the step failed before anything was done."""
        try:
            await self.line.use(self.step.id, _failing(name, error), params)
        except StepFailed as failed:
            return failed.problem()
        raise AssertionError("an act that raises fails")

    async def _unavailable(self, tool: AnyTool) -> str | None:
        """Why an optional step's tool cannot be used now, as it was when this was first asked."""
        if not self.step.optional or tool.health is None:
            return None
        return await self.inner.step("health", Act("health", tool.health, Effect.READ))

    async def _left_out(self, reason: str) -> Outcome:
        await self.line.skip(self.step.id, self.step.tool, reason)
        return Outcome(StepStatus.SKIPPED, reason=reason)

    async def _accept(self, problem: Problem) -> Outcome:
        """The plan goes on without the step, and says what that means."""
        impact = self.walk.impact_of(self.step.id)
        await self.inner.log(
            f"{self.step.id} failed, which does not end the plan: {problem.detail} {impact}", "warning"
        )
        return Outcome(StepStatus.FAILED, problem=problem, reason=impact)

    async def _recover(self, problem: Problem) -> Json:
        """What to do about a critical failure: a person says, or nobody can."""
        if self.walk.run.mode is Mode.AUTONOMOUS:
            return ABORT
        impact = self.walk.impact_of(self.step.id)
        undoable = any(_undo_of(outcome) for outcome in self.walk.outcomes.values())
        choices = [
            RETRY,
            EDIT,
            *([FALLBACK] if self.step.fallback else []),
            SKIP,
            *([UNDO] if undoable else []),
            ABORT,
        ]
        prompt = f"{self.step.title or self.step.id} failed: {problem.detail} {impact} What now?"
        return await self.inner.recover("failure", prompt, choices, problem, impact)

    async def _abort(self, problem: Problem, *, undo: bool) -> None:
        done = "Nothing was undone."
        if undo:
            done = await self._undo_all()
        raise PlanFailed(
            f"The step {self.step.id} ({self.step.tool}) failed: {problem.detail} It is critical, so the plan ended."
            f" {self.walk.impact_of(self.step.id)} {done}",
            problem.hint or "Correct the plan, then run it again, or rewind to before the step.",
            problem.category,
        )

    async def _undo_all(self) -> str:
        """Take back what the plan has done, the last first, as far as its tools can."""
        undone: list[str] = []
        for step_id in reversed(self.walk.plan.order):
            outcome = self.walk.outcomes.get(step_id)
            undo = _undo_of(outcome) if outcome else None
            if outcome is None or undo is None or outcome.call is None:
                continue
            tool, params = outcome.call
            take_back = partial(undo, tool.read(params), outcome.output, self.walk.workspace)
            act = Act(f"{tool.name} undo", take_back, tool.effect, idempotent=True)
            await self.walk.run.within(step_id).step("undo", act)
            undone.append(step_id)
        return f"Undone: {', '.join(undone)}."


def result(plan: CheckedPlan, outcomes: Mapping[str, Outcome]) -> Json:
    """What the plan came to. Outputs are those that no other step of the plan took up."""
    wanted = {need for needs in plan.needs.values() for need in needs}
    failed = {step_id: one.problem.detail for step_id, one in outcomes.items() if one.problem}
    skipped = {step_id: one.reason for step_id, one in outcomes.items() if one.status is StepStatus.SKIPPED}
    outputs = {
        step_id: one.output
        for step_id, one in outcomes.items()
        if one.status is StepStatus.COMPLETED and step_id not in wanted
    }
    return {
        "steps": {step_id: outcomes[step_id].status.value for step_id in plan.order},
        "outputs": outputs,
        "failed": {**failed},
        "skipped": {**skipped},
    }


def _planned(step: PlanStep, plan: CheckedPlan) -> PlannedStep:
    return PlannedStep(
        key=step.id,
        title=step.title or step.id,
        tool=step.tool,
        needs=plan.plan_order(plan.needs[step.id]) or None,
        critical=step.is_critical,
    )


def _word(choice: Json) -> Json:
    return choice.get("choice") if isinstance(choice, dict) else choice


def _edited(choice: Json) -> Given:
    params = choice.get("params") if isinstance(choice, dict) else None
    return dict(params) if isinstance(params, dict) else {}


def _undo_of(outcome: Outcome) -> Any:
    return outcome.call[0].undo if outcome.call and outcome.status is StepStatus.COMPLETED else None


def _given(name: str, value: Json) -> Act[[Given], Json]:
    """An act that gives what a person or a time has brought already."""

    async def give(_params: Given) -> Json:
        return value

    return Act(name, give, Effect.READ)


def _failing(name: str, error: BelayerError) -> Act[[Given], Json]:
    async def fail(_params: Given) -> Json:
        raise error

    return Act(name, fail, Effect.READ, retries=0)
