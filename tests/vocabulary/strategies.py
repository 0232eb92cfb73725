"""Every event there is, with anything in it that may be in it."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from belayer.vocabulary.errors import Category, Problem
from belayer.vocabulary.events.catalog import AnyEvent
from belayer.vocabulary.events.event import Aside, Budget, Effect, Mode, Snapshot, Status, StepStatus, Usage
from belayer.vocabulary.events.lifecycle import (
    AfterPause,
    Begun,
    BudgetReached,
    CheckpointMade,
    ErrorMet,
    Interrupted,
    Logged,
    Rehomed,
    Resumed,
    SessionChanged,
    WorkspaceRestored,
)
from belayer.vocabulary.events.people import ApprovalRequested, InputRequested, Responded, Said
from belayer.vocabulary.events.steps import (
    ArtifactMade,
    BreakerChanged,
    DoubtRaised,
    LimitMet,
    Planned,
    PlannedStep,
    Retried,
    StepChanged,
)
from belayer.vocabulary.rules import Risk, Rule, Verdict
from tests.support.records import asked

PAYLOADS = (b'"one"', b'"another"')

texts = st.text(max_size=12)
keys = st.sampled_from(["a", "b", "a/1", "turn/5/call/1"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**6)
times = st.datetimes(datetime(1980, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the strategy adds it
ids = st.integers(1, 4).map(asked)
statuses = st.sampled_from(list(Status))
jsons: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
asides = st.none() | st.dictionaries(
    st.sampled_from(["input", "output", "result", "shown"]),
    st.sampled_from(PAYLOADS).map(
        lambda content: Aside(digest=hashlib.sha256(content).hexdigest(), bytes=len(content))
    ),
    min_size=1,
    max_size=2,
)
problems = st.builds(
    Problem, kind=texts, category=st.sampled_from(list(Category)), detail=texts, hint=st.none() | texts
)
budgets = st.builds(
    Budget,
    tokens=st.none() | counts,
    usd=st.none() | numbers,
    steps=st.none() | counts,
    seconds=st.none() | numbers,
)
usages = st.builds(Usage, tokens=counts, usd=numbers, steps=counts, seconds=numbers)
beginnings = st.builds(
    Begun,
    workflow=texts,
    title=texts,
    mode=st.sampled_from(list(Mode)),
    input=jsons,
    budget=budgets,
    idempotency_key=st.none() | texts,
)
snapshots = st.builds(
    Snapshot,
    tree=st.text("0123456789abcdef", min_size=40, max_size=40),
    head=st.none() | texts,
    truncated=st.booleans(),
)
rules = st.builds(
    Rule,
    verdict=st.sampled_from(list(Verdict)),
    tool=st.text("ab.*", min_size=1, max_size=9),
    host=st.none() | st.text("ab.*", min_size=1, max_size=9),
    risk=st.none() | st.sampled_from(list(Risk)),
    usd=st.none() | st.floats(0, 1e6),
)
pauses = st.builds(AfterPause, at=times, then=st.sampled_from(["resume", "cancel"]))
changes = st.builds(
    SessionChanged,
    status=statuses,
    reason=st.none() | texts,
    epoch=st.none() | counts,
    driver=st.none() | texts,
    wake_at=st.none() | times,
    after_pause=st.none() | pauses,
    result=jsons,
    aside=asides,
)
steps = st.builds(
    StepChanged,
    key=keys,
    name=texts,
    status=st.sampled_from(list(StepStatus)),
    attempt=st.integers(1, 9),
    effect=st.sampled_from(list(Effect)),
    input=jsons,
    output=jsons,
    problem=st.none() | problems,
    seconds=st.none() | st.floats(0, 1e6),
    usage=st.none() | st.builds(Usage, tokens=counts, usd=st.floats(0, 10)),
    idempotency_key=st.none() | texts,
    wake_at=st.none() | times,
    reason=st.none() | texts,
    workspace=st.none() | snapshots,
    aside=asides,
)

BY_CLASS: dict[type, st.SearchStrategy[Any]] = {
    SessionChanged: changes,
    Interrupted: st.builds(Interrupted, reason=st.none() | texts),
    Resumed: st.builds(Resumed, from_status=statuses, reason=st.none() | texts),
    ErrorMet: st.builds(ErrorMet, problem=problems, step=st.none() | keys),
    CheckpointMade: st.builds(CheckpointMade, name=texts, key=st.none() | keys),
    Logged: st.builds(
        Logged,
        text=texts,
        level=st.sampled_from(["debug", "info", "warning", "error"]),
        key=st.none() | keys,
    ),
    BudgetReached: st.builds(
        BudgetReached,
        limit=st.sampled_from(["tokens", "usd", "steps", "seconds"]),
        allowed=numbers,
        used=numbers,
    ),
    Planned: st.builds(
        Planned,
        key=keys,
        steps=st.lists(st.builds(PlannedStep, key=keys, title=texts), max_size=3).map(tuple),
    ),
    StepChanged: steps,
    Retried: st.builds(Retried, key=keys, attempt=st.integers(1, 9), delay=numbers, problem=problems),
    BreakerChanged: st.builds(
        BreakerChanged,
        name=texts,
        state=st.sampled_from(["closed", "open", "half_open"]),
        until=st.none() | times,
    ),
    LimitMet: st.builds(
        LimitMet,
        key=keys,
        name=texts,
        limit=st.sampled_from(["rate", "concurrency"]),
        delay=st.none() | st.floats(0, 1e6),
    ),
    WorkspaceRestored: st.builds(
        WorkspaceRestored,
        tree=st.text("0123456789abcdef", min_size=40, max_size=40),
        before=st.none() | snapshots,
        written=counts,
        deleted=counts,
        skipped=st.lists(texts, max_size=3).map(tuple),
    ),
    DoubtRaised: st.builds(DoubtRaised, key=keys, name=texts, attempt=st.integers(1, 9), reason=texts),
    InputRequested: st.builds(
        InputRequested,
        request_id=ids,
        key=keys,
        prompt=texts,
        kind=st.sampled_from(["text", "choice", "confirm", "form", "file"]),
        choices=st.lists(texts, max_size=3).map(tuple),
        form=st.none() | st.dictionaries(texts, jsons, max_size=3),
        purpose=st.sampled_from(["question", "in_doubt", "budget", "failure"]),
        problem=st.none() | problems,
        impact=st.none() | texts,
    ),
    ApprovalRequested: st.builds(
        ApprovalRequested,
        request_id=ids,
        key=keys,
        title=texts,
        shown=jsons,
        digest=texts,
        why=st.none() | texts,
        risk=st.none() | st.sampled_from(list(Risk)),
        targets=st.none() | st.dictionaries(texts, st.none() | texts, max_size=3),
        offers=st.none() | rules,
        replaces=st.none() | ids,
        aside=asides,
    ),
    ArtifactMade: st.builds(
        ArtifactMade,
        key=keys,
        name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True),
        media_type=texts,
    ),
    Rehomed: st.builds(Rehomed, because=st.sampled_from(["fork", "import"]), workspace=st.none() | texts),
    Said: st.builds(Said, text=texts),
    Responded: st.builds(
        Responded,
        request_id=ids,
        value=jsons,
        approved=st.none() | st.booleans(),
        digest=st.none() | texts,
        notes=st.none() | texts,
        remember=st.none() | st.just("session"),
    ),
}

events: st.SearchStrategy[AnyEvent] = st.one_of(*BY_CLASS.values())
first_events: st.SearchStrategy[SessionChanged] = st.builds(
    SessionChanged, status=st.just(Status.QUEUED), begun=beginnings
)
