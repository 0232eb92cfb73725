"""One step of a plan, tried until it is done, given up, or a person is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from belayer.execution.act import Act
from belayer.execution.foregone import failing, giving
from belayer.execution.run import Run
from belayer.tools.tool import AnyTool, Given
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.errors import (
    BelayerError,
    BudgetExhausted,
    Category,
    PlanFailed,
    Problem,
    StepFailed,
)
from belayer.vocabulary.events.event import Effect, Json, Mode, StepStatus
from belayer.workflows.plan.outcome import Outcome
from belayer.workflows.plan.plan import PlanStep
from belayer.workspace.workspace import Workspace

RETRY, EDIT, FALLBACK, SKIP, UNDO, ABORT = "retry", "edit", "fallback", "skip", "undo", "abort"
_BY_A_PERSON = "a person left it out after it failed"


class Around(Protocol):
    """What a step needs of the plan around it."""

    tools: Toolbox
    workspace: Workspace

    def rendered(self, params: Mapping[str, Json]) -> Given: ...

    def impact_of(self, step_id: str) -> str: ...

    def can_undo(self) -> bool: ...

    def began(self, step_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Call:
    """What is to be tried. Parameters that a person gave are taken as they are; those of the plan may be templates."""

    tool: str
    params: Mapping[str, Json]
    as_it_is: bool = False


@dataclass(slots=True)
class Tries:
    """The tries of one step, on a line of work of its own."""

    around: Around
    step: PlanStep
    line: Run
    inner: Run = field(init=False)
    fell_back: bool = False

    def __post_init__(self) -> None:
        self.inner = self.line.within(self.step.id)

    async def go(self) -> Outcome:
        """How the step came out; PlanFailed if it ends the plan."""
        call = _Call(self.step.tool, self.step.params)
        while True:
            done = await self._try(call)
            if isinstance(done, Outcome):
                return done
            following = await self._after(done, call)
            if isinstance(following, Outcome):
                return following
            call = following

    async def failed_early(self, error: BelayerError) -> Outcome:
        """The step could not even be looked at."""
        problem = await self._fail(self.step.tool, dict(self.step.params), error)
        if not self.step.is_critical:
            return await self._accept(problem)
        choice = await self._recover(problem, [SKIP])
        if choice == SKIP:
            return await self.skip(_BY_A_PERSON)
        raise self._ends_plan(problem, undo=choice == UNDO)

    async def skip(self, reason: str) -> Outcome:
        """Leave the step out."""
        await self.line.skip(self.step.id, self.step.tool, reason)
        return Outcome(StepStatus.SKIPPED, reason=reason)

    async def _try(self, call: _Call) -> Outcome | Problem:
        """Do it once; the problem if it failed."""
        try:
            given = dict(call.params) if call.as_it_is else self.around.rendered(call.params)
            tool, params = self.around.tools.resolve(call.tool, given)
        except BelayerError as error:
            return await self._fail(call.tool, dict(call.params), error)
        unwell = await self._unavailable(tool)
        if unwell is not None:
            return await self.skip(f"{tool.name} cannot be used now: {unwell}")
        self.around.began(self.step.id)
        try:
            return Outcome(StepStatus.COMPLETED, await self._use(tool, params), call=(tool, params))
        except StepFailed as error:
            return error.problem()
        except BudgetExhausted:
            raise
        except BelayerError as error:
            return await self._fail(tool.name, params, error)

    async def _use(self, tool: AnyTool, params: Given) -> Json:
        if tool.conduct is None:
            return await self.line.use(self.step.id, self._act(tool), params)
        await self.line.let(self.step.id, self._act(tool), params)
        given, began = tool.read(params), self.line.monotonic()
        if self.step.timeout is not None and tool.hurried is not None:
            given = tool.hurried(given, self.step.timeout)
        value = await tool.conduct(given, self.inner)
        took = self.line.monotonic() - began
        return await self.line.use(self.step.id, giving(tool.name, value, took), params)

    def _act(self, tool: AnyTool) -> Act[[Given], Json]:
        """The tool as this step wants it."""
        act = tool.act(self.around.workspace)
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
            await self.line.use(self.step.id, failing(name, error), params)
        except StepFailed as failed:
            return failed.problem()
        raise AssertionError("an act that raises fails")

    async def _unavailable(self, tool: AnyTool) -> str | None:
        """Why an optional step's tool cannot be used, as it was when this was first asked."""
        if not self.step.optional or tool.health is None:
            return None
        return await self.inner.step("health", Act("health", tool.health, Effect.READ))

    async def _after(self, problem: Problem, call: _Call) -> _Call | Outcome:
        """What comes after a failure: another try, or an outcome."""
        fallback = self.step.fallback
        if fallback is not None and not self.fell_back:
            await self.inner.log(f"{problem.detail} Trying {fallback.tool} instead.", "warning")
            choice: Json = FALLBACK
        elif not self.step.is_critical:
            return await self._accept(problem)
        else:
            choice = await self._recover(problem, [RETRY, EDIT, *([FALLBACK] if fallback else []), SKIP])
        match _word(choice):
            case "fallback" if fallback is not None:
                self.fell_back = True
                return _Call(fallback.tool, fallback.params)
            case "edit":
                return _Call(call.tool, _edited(choice), as_it_is=True)
            case "skip":
                return await self.skip(_BY_A_PERSON)
            case "undo" | "abort":
                raise self._ends_plan(problem, undo=_word(choice) == UNDO)
            case _:
                return call

    async def _accept(self, problem: Problem) -> Outcome:
        """The plan goes on without the step, and says what that means."""
        impact = self.around.impact_of(self.step.id)
        told = f"{self.step.id} failed, which does not end the plan: {_told(problem)}{impact}"
        await self.inner.log(told, "warning")
        return Outcome(StepStatus.FAILED, problem=problem, reason=impact)

    async def _recover(self, problem: Problem, ways: list[str]) -> Json:
        """What to do about a critical failure: a person says, or nobody can."""
        if self.line.mode is Mode.AUTONOMOUS:
            return ABORT
        impact = self.around.impact_of(self.step.id)
        choices = [*ways, *([UNDO] if self.around.can_undo() else []), ABORT]
        prompt = f"{self.step.title or self.step.id} failed: {_told(problem)}{impact} What now?"
        return await self.inner.recover("failure", prompt, choices, problem, impact)

    def _ends_plan(self, problem: Problem, *, undo: bool) -> "PlanEnds":
        return PlanEnds(
            f"The step {self.step.id} ({self.step.tool}) failed: {_told(problem)}It is critical, so the plan ended."
            f" {self.around.impact_of(self.step.id)}",
            problem.hint or "Correct the plan, then run it again, or rewind to before the step.",
            problem.category,
            undo=undo,
        )


class PlanEnds(PlanFailed):
    """A step's failure ends the plan; with `undo`, what the plan has done is to be taken back."""

    def __init__(self, detail: str, hint: str | None, category: Category, *, undo: bool) -> None:
        super().__init__(detail, hint, category)
        self.undo = undo


def _word(choice: Json) -> Json:
    return choice.get("choice") if isinstance(choice, dict) else choice


def _edited(choice: Json) -> Given:
    params = choice.get("params") if isinstance(choice, dict) else None
    return dict(params) if isinstance(params, dict) else {}


def _told(problem: Problem) -> str:
    """What happened, with a sentence to follow: below it, if it ends with what a program has printed."""
    return problem.detail + ("\n" if "\n" in problem.detail else " ")
