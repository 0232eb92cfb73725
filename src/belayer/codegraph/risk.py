"""How much can go wrong when something changes: a sum of a few counted things, each of which tells its share. Pure."""

import math
from collections.abc import Sequence

import numpy as np

from belayer.codegraph.answers import Level, Reason, Risk
from belayer.codegraph.arrays import Flags, Ints, Snapshot, allowed, once_per_snapshot
from belayer.codegraph.churn import Changes
from belayer.codegraph.closure import CARRYING, Reached, edges_of, needed
from belayer.codegraph.graph import Kind

# How far a change is followed; an endpoint may be further away than what is counted as reached.
RISK_DEPTH = 4
_SPREAD_DEPTH = 3
_MEDIUM, _HIGH = 34, 67
# The most points of each factor, and the count at which about two thirds of them are reached.
_FAN_IN, _FAN_OUT, _SPREAD, _ENDPOINTS, _CHURN = (25, 12), (5, 20), (20, 15), (15, 4), (15, 20)
_UNTESTED = 20


def assess(
    graph: Snapshot, targets: Sequence[int], start: Ints, reached: Reached, past: Changes | None
) -> Risk:
    """The risk of changing the targets; `reached` is what depends on them, RISK_DEPTH references deep or more."""
    reasons = (
        *_fans(graph, start),
        _spread(graph, start, reached),
        _endpoints(graph, reached),
        _untested(graph, start, reached),
        _churn(graph, targets, past),
    )
    score = min(round(sum(reason.points for reason in reasons)), 100)
    return Risk(score=score, level=_level(score), reasons=reasons)


def _level(score: int) -> Level:
    if score < _MEDIUM:
        return "low"
    return "medium" if score < _HIGH else "high"


def _points(count: float, weight: tuple[int, int]) -> float:
    most, scale = weight
    return round(most * (1 - math.exp(-count / scale)), 1)


def _fans(graph: Snapshot, start: Ints) -> tuple[Reason, Reason]:
    table = allowed(CARRYING)
    coming, _ = edges_of(graph.incoming, start, table)
    going, _ = edges_of(graph.outgoing, start, table)
    users = np.setdiff1d(graph.incoming.other[coming], start)
    users = users[~graph.tests[users]]
    used = np.setdiff1d(graph.outgoing.other[going], start)
    return (
        Reason(
            factor="fan_in",
            value=len(users),
            points=_points(len(users), _FAN_IN),
            text=f"{_many(len(users), 'thing refers', 'things refer')} to it directly, tests aside.",
        ),
        Reason(
            factor="fan_out",
            value=len(used),
            points=_points(len(used), _FAN_OUT),
            text=f"It refers to {_many(len(used), 'other thing', 'other things')} directly.",
        ),
    )


def _spread(graph: Snapshot, start: Ints, reached: Reached) -> Reason:
    nodes = reached.nodes(_SPREAD_DEPTH)
    files = np.setdiff1d(graph.file[nodes[~graph.tests[nodes]]], graph.file[start])
    files = files[~graph.tests[graph.first[files]]]
    return Reason(
        factor="spread",
        value=len(files),
        points=_points(len(files), _SPREAD),
        text=f"A change reaches {_many(len(files), 'other module', 'other modules')} in {_SPREAD_DEPTH} references.",
    )


def _endpoints(graph: Snapshot, reached: Reached) -> Reason:
    found = np.flatnonzero(graph.of_kind(Kind.ENDPOINT) & (reached.depth <= RISK_DEPTH))
    count = int(np.count_nonzero(~graph.tests[graph.first[graph.file[found]]]))
    return Reason(
        factor="endpoints",
        value=count,
        points=_points(count, _ENDPOINTS),
        text=f"A change reaches {_many(count, 'endpoint', 'endpoints')} in {RISK_DEPTH} references, tests aside.",
    )


def _untested(graph: Snapshot, start: Ints, reached: Reached) -> Reason:
    runs = graph.of_kind(Kind.FUNCTION, Kind.METHOD) & ~graph.tests
    touched = np.flatnonzero(runs & (reached.depth <= _SPREAD_DEPTH))
    if not len(touched):
        touched = start
    share = float(np.mean(~covered(graph)[touched])) if len(touched) else 0.0
    return Reason(
        factor="untested",
        value=round(share, 3),
        points=round(_UNTESTED * share, 1),
        text=f"{share:.0%} of what a change reaches is run by no test.",
    )


@once_per_snapshot
def covered(graph: Snapshot) -> Flags:
    """Which nodes some test comes to."""
    return needed(graph, np.flatnonzero(graph.tests).astype(np.int32))


def _churn(graph: Snapshot, targets: Sequence[int], past: Changes | None) -> Reason:
    if past is None or not targets:
        return Reason(
            factor="churn", value=None, points=0.0, text="How often it changes is not known: no history."
        )
    most = max(past.touched.get(graph.paths[int(graph.file[node])], 0) for node in targets)
    return Reason(
        factor="churn",
        value=most,
        points=_points(most, _CHURN),
        text=f"{_many(most, 'commit', 'commits')} touched its file in the year before the last commit.",
    )


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
