"""A small set of tools to check plans against, and what a check says."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from hypothesis import strategies as st

from belayer.vocabulary.errors import UnfitPlan
from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.check import check
from belayer.workflows.plan.places import Path

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
jsons: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


class Desk:
    """Knows `say`, which wants a text, `wait`, which wants seconds, and `files` with the action `read`."""

    def names(self) -> list[str]:
        return ["files.read", "say", "wait"]

    def knows(self, name: str, params: Mapping[str, Json], /) -> bool:
        return name in self.names() or (name == "files" and params.get("action") == "read")

    def problems(
        self, name: str, params: Mapping[str, Json], templated: Collection[Path], /
    ) -> list[tuple[Path, str]]:
        found: list[tuple[Path, str]] = []
        if name == "say" and not isinstance(params.get("text", ""), str):
            found.append((("text",), "must be a text"))
        if name == "wait" and not isinstance(params.get("seconds", 0), int):
            found.append((("seconds",), "must be a number"))
        return [(path, what) for path, what in found if path not in templated]


def step(step_id: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": "say", **({"needs": list(needs)} if needs else {}), **more}


def plan(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


def problems_of(given: Any, inputs: Mapping[str, Json] | None = None) -> list[str]:
    """What a check says of an unfit plan, a line each."""
    with pytest.raises(UnfitPlan) as caught:
        check(given, Desk(), inputs)
    return [f"{place}: {what}" for place, what in caught.value.problems]
