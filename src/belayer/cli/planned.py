"""Which of a session's steps belong to which step of its plan. Pure."""

from collections.abc import Mapping

from belayer.sessions.state import SessionState, step_of


def is_plan(state: SessionState) -> bool:
    """Whether the session carries out a plan, where every step calls a tool; a workflow's own steps may be anything."""
    return any(step.tool is not None for step in state.plan)


def titles_of(state: SessionState) -> dict[str, str]:
    """The names that the plan gave to steps."""
    return {step.key: step.title for step in state.plan}


def owner_of(state: SessionState, key: str) -> str:
    """The plan's step that a key is a try or a part of; any other key stands for itself."""
    owner = step_of(key)
    return owner if is_plan(state) and any(step.key == owner for step in state.plan) else key


def is_part(state: SessionState, key: str) -> bool:
    """Whether this is something that a plan's step does within itself: a sleep, a look at the tool's health."""
    return "/" in key and owner_of(state, key) != key


def label_of(key: str, titles: Mapping[str, str]) -> str:
    """What to call a step: by its title in the plan, with the number of the try if a person had it tried again."""
    first, _, number = key.partition("#")
    if key in titles or first not in titles or not number.isdecimal():
        return titles.get(key, key)
    return f"{titles[first]} (try {number})"


def waiting_steps(state: SessionState) -> set[str]:
    """The plan's steps about which a request is open."""
    return {step_of(request.key) for request in state.pending.values()}
