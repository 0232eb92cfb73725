"""Whether a plan can be carried out: every problem at once, each with its place, before anything is run. Pure."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from pydantic import ValidationError

from belayer.vocabulary.errors import PlanProblem, UnfitPlan, Unrecordable
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.plain import plain
from belayer.workflows.plan.condition import parse
from belayer.workflows.plan.order import arrange
from belayer.workflows.plan.places import Path, closest, listed, quoted, unfit, visible, written
from belayer.workflows.plan.plan import MOST_STEPS, Fallback, Plan, PlanStep
from belayer.workflows.plan.shape import shape_problems
from belayer.workflows.plan.source import Source
from belayer.workflows.plan.template import Reference, scan

# Nobody reads more, and a hostile plan has millions.
_MOST_PROBLEMS = 1_000
_MOST_SUGGESTIONS = 50
_LONGEST_SENTENCE = 300
_LONGEST_CIRCLE = 20


class KnownTools(Protocol):
    """What a plan is checked against."""

    def names(self) -> Sequence[str]: ...

    def knows(self, name: str, params: Mapping[str, Json], /) -> bool: ...

    def problems(
        self, name: str, params: Mapping[str, Json], templated: Collection[Path], /
    ) -> Sequence[tuple[Path, str]]:
        """What is wrong with a call's parameters, leaving out what a template has yet to fill in."""
        ...


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan that can be carried out.

    `needs` says for each step which steps it cannot do without: those it names, and those whose output it refers to.
    `after` has these and those whose status or problem it asks for, which may well have failed.
    """

    plan: Plan
    needs: Mapping[str, frozenset[str]]
    after: Mapping[str, frozenset[str]]
    order: tuple[str, ...]
    inputs: Mapping[str, Json]
    digest: str
    by_id: Mapping[str, PlanStep] = field(repr=False, compare=False)

    def step(self, step_id: str) -> PlanStep:
        return self.by_id[step_id]

    def steps(self) -> tuple[PlanStep, ...]:
        """The steps in the order in which they are taken."""
        return tuple(map(self.step, self.order))

    def plan_order(self, step_ids: Set[str]) -> tuple[str, ...]:
        """These steps in the order in which they are taken."""
        return tuple(step_id for step_id in self.order if step_id in step_ids)

    def needing(self, step_id: str) -> tuple[str, ...]:
        """All steps that cannot do without this one, directly or through others."""
        lost = {step_id}
        for later in self.order:
            if not lost.isdisjoint(self.needs[later]):
                lost.add(later)
        return self.plan_order(lost - {step_id})


def check(given: Source | Json, tools: KnownTools, inputs: Mapping[str, Json] | None = None) -> CheckedPlan:
    """The plan, ready to be carried out; UnfitPlan with every problem it has. Without inputs these are not checked."""
    source = given if isinstance(given, Source) else Source(_plain(given))
    findings = _Findings(source)
    plan, steps = _shaped(source.data, findings)
    ids, declared = _ids(source.data), _declared(source.data)
    _check_ids(ids, findings)
    checking = _Checking(findings, tools, ids, declared)
    links: dict[str, _Links] = {}
    for index, step in steps.items():
        links.setdefault(step.id, checking.links(index, step))
    links = {step_id: link.among(links) for step_id, link in links.items()}
    order = _arranged(links, ids, findings)
    values = _inputs(declared, inputs, findings)
    findings.refuse()
    assert plan is not None, "a plan without problems has a shape"
    return CheckedPlan(
        plan=plan,
        needs={step_id: frozenset(link.needs) for step_id, link in links.items()},
        after={step_id: frozenset(link.after) for step_id, link in links.items()},
        order=order,
        inputs=values,
        digest=_digest(plan, values),
        by_id={step.id: step for step in plan.steps},
    )


class _Findings:
    """Every problem met, each in its place."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[PlanProblem, int] = {}

    def add(self, path: Path, what: str) -> None:
        index = path[1] if len(path) > 1 and path[0] == "steps" else None
        problem = PlanProblem(self.place(path), what)
        self._found.setdefault(problem, index if isinstance(index, int) else -1)
        if len(self._found) >= _MOST_PROBLEMS:
            self.refuse()

    def place(self, path: Path) -> str:
        """The path, the step's id and the line."""
        step_id, line = _id_at(self._source.data, path), self._source.line_of(path)
        about = [f"step {quoted(step_id)}"] if step_id is not None else []
        about += [f"line {line}"] if line is not None else []
        return f"{written(path)} ({', '.join(about)})" if about else written(path)

    def suggestion(self, name: str, known: Iterable[str]) -> str:
        return closest(name, known) if len(self._found) < _MOST_SUGGESTIONS else ""

    def refuse(self) -> None:
        """Raise UnfitPlan with what was found, step by step."""
        if self._found:
            raise UnfitPlan(sorted(self._found, key=self._found.__getitem__))


@dataclass(slots=True)
class _Links:
    """The steps that a step waits for."""

    needs: set[str] = field(default_factory=set[str])
    after: set[str] = field(default_factory=set[str])

    def among(self, known: Collection[str]) -> "_Links":
        """Only to steps that are there."""
        return _Links(
            {step_id for step_id in self.needs if step_id in known},
            {step_id for step_id in self.needs | self.after if step_id in known},
        )


@dataclass(frozen=True, slots=True)
class _Checking:
    """What each step is checked against."""

    findings: _Findings
    tools: KnownTools
    ids: Mapping[str, list[int]]
    inputs: Mapping[str, Json] | None

    def links(self, index: int, step: PlanStep) -> _Links:
        """Find what is wrong with a step, and which steps it waits for."""
        place, links = ("steps", index), _Links()
        if step.critical and step.optional:
            self.findings.add(place, "a step cannot be both critical and optional; leave one of them out")
        for position, need in enumerate(step.needs):
            if self._is_other(need, step, (*place, "needs", position), "a step cannot need itself"):
                links.needs.add(need)
        references = self._call(place, step) + self._condition((*place, "when"), step)
        if step.fallback is not None:
            references += self._call((*place, "fallback"), step.fallback)
        for reference in references:
            self._link(reference, step, links)
        return links

    def _call(self, place: Path, call: PlanStep | Fallback) -> list[Reference]:
        """Check the tool and its parameters; what these refer to."""
        scanned = scan(call.params)
        inside = (*place, "params")
        for path, what in scanned.faults:
            self.findings.add((*inside, *path), what)
        if not self.tools.knows(call.tool, call.params):
            names = self.tools.names()
            instead = self.findings.suggestion(call.tool, names) or f"; there are: {listed(names)}"
            self.findings.add((*place, "tool"), f"there is no tool {quoted(call.tool)}{instead}")
        else:
            for path, what in self.tools.problems(call.tool, call.params, scanned.templated):
                self.findings.add((*inside, *path), visible(what[:_LONGEST_SENTENCE]))
        return [replace(one, at=(*inside, *one.at)) for one in scanned.references]

    def _condition(self, place: Path, step: PlanStep) -> list[Reference]:
        if step.when is None:
            return []
        try:
            condition = parse(step.when)
        except UnfitPlan as error:
            self.findings.add(place, error.problems[0].what)
            return []
        return [replace(one, at=place) for one in condition.references()]

    def _link(self, reference: Reference, step: PlanStep, links: _Links) -> None:
        if reference.step is None:
            self._check_input(reference)
        elif self._is_other(reference.step, step, reference.at, "a step cannot refer to itself"):
            (links.needs if reference.part == "output" else links.after).add(reference.step)

    def _is_other(self, step_id: str, step: PlanStep, place: Path, itself: str) -> bool:
        """Whether the id is another step's."""
        if step_id == step.id:
            self.findings.add(place, itself)
        elif step_id not in self.ids:
            suggestion = self.findings.suggestion(step_id, self.ids)
            self.findings.add(place, f"there is no step {quoted(step_id)}{suggestion}")
        else:
            return True
        return False

    def _check_input(self, reference: Reference) -> None:
        if self.inputs is not None and reference.name not in self.inputs:
            self.findings.add(
                reference.at,
                f"the plan has no input {quoted(reference.name)}; under inputs it has: {listed(self.inputs)}",
            )


def _plain(data: Json) -> Json:
    _refuse_many(data)
    try:
        return plain(data)
    except Unrecordable as error:
        raise UnfitPlan([PlanProblem("plan", _not_json(error))]) from error


def _refuse_many(data: Json) -> None:
    steps = data.get("steps") if isinstance(data, dict) else None
    if isinstance(steps, list) and len(steps) > MOST_STEPS:
        what = f"there are {len(steps):,} steps; a plan has at most {MOST_STEPS:,}"
        raise UnfitPlan([PlanProblem("steps", what)])


def _shaped(data: Json, findings: _Findings) -> tuple[Plan | None, dict[int, PlanStep]]:
    """The plan if its shape is right, and its steps whose shape is. One by one: a hostile plan is left early."""
    _refuse_many(data)
    raw = _raw_steps(data)
    steps = {index: step for index, one in enumerate(raw) if (step := _sound(index, one, findings))}
    whole = {**data, "steps": list(steps.values())} if isinstance(data, dict) and raw else data
    try:
        return Plan.model_validate(whole), steps
    except ValidationError as error:
        for path, what in shape_problems(error):
            if path != ("steps",) or not raw:
                findings.add(path, what)
        return None, steps


def _sound(index: int, step: Json, findings: _Findings) -> PlanStep | None:
    try:
        return PlanStep.model_validate(step)
    except ValidationError as error:
        for path, what in shape_problems(error, ("steps", index)):
            findings.add(path, what)
        return None


def _raw_steps(data: Json) -> list[Json]:
    steps = data.get("steps") if isinstance(data, dict) else None
    return steps if isinstance(steps, list) else []


def _id_at(data: Json, path: Path) -> str | None:
    """The id of the step that a place belongs to."""
    index = path[1] if len(path) > 1 and path[0] == "steps" else None
    steps = _raw_steps(data)
    step = steps[index] if isinstance(index, int) and index < len(steps) else None
    step_id = step.get("id") if isinstance(step, dict) else None
    return step_id if isinstance(step_id, str) else None


def _ids(data: Json) -> dict[str, list[int]]:
    """Where each id is given, also to a step that is wrong otherwise."""
    ids: dict[str, list[int]] = {}
    for index in range(len(_raw_steps(data))):
        step_id = _id_at(data, ("steps", index))
        if step_id is not None:
            ids.setdefault(step_id, []).append(index)
    return ids


def _check_ids(ids: Mapping[str, list[int]], findings: _Findings) -> None:
    for step_id, (first, *others) in ids.items():
        for index in others:
            findings.add(
                ("steps", index, "id"), f"the id {quoted(step_id)} is taken already, by steps[{first}]"
            )


def _declared(data: Json) -> dict[str, Json] | None:
    """The plan's inputs with their defaults; None when they cannot be made out."""
    inputs = data.get("inputs", {}) if isinstance(data, dict) else None
    return inputs if isinstance(inputs, dict) else None


def _arranged(
    links: Mapping[str, _Links], ids: Mapping[str, list[int]], findings: _Findings
) -> tuple[str, ...]:
    order, circles = arrange({step_id: link.after for step_id, link in links.items()})
    for circle in circles:
        shown = " → ".join(circle[:_LONGEST_CIRCLE])
        more = f" → … ({len(circle) - _LONGEST_CIRCLE} more)" if len(circle) > _LONGEST_CIRCLE else ""
        what = f"these steps wait for each other in a circle, each for the next: {shown}{more} → {circle[0]}"
        findings.add(("steps", ids[circle[0]][0]), what)
    return order


def _inputs(
    declared: Mapping[str, Json] | None, given: Mapping[str, Json] | None, findings: _Findings
) -> dict[str, Json]:
    """The value of every input."""
    if declared is None or given is None:
        return dict(declared or {})
    given = _plain_inputs(given, findings)
    for name in given:
        if name not in declared:
            what = f"is given, but the plan has no such input; it has: {listed(declared)}"
            findings.add(("inputs", name), what)
    values = {name: default if given.get(name) is None else given[name] for name, default in declared.items()}
    for name, value in values.items():
        if value is None:
            findings.add(("inputs", name), "must be given at the start")
        elif trouble := unfit(value):
            findings.add(("inputs", name), trouble)
    return values


def _plain_inputs(given: Mapping[str, Json], findings: _Findings) -> dict[str, Json]:
    try:
        return cast("dict[str, Json]", plain(dict(given)))
    except Unrecordable as error:
        findings.add(("inputs",), _not_json(error))
        return {}


def _not_json(error: Unrecordable) -> str:
    return f"this is not plain JSON: {visible(error.detail[:_LONGEST_SENTENCE])}"


def _digest(plan: Plan, inputs: Mapping[str, Json]) -> str:
    """A seal over the plan and its inputs, whatever the order of their keys."""
    content = json.dumps(
        [plan.model_dump(exclude_defaults=True), inputs],
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return hashlib.sha256(content.encode()).hexdigest()
