"""A session's events as lines: what happened, in words, one line each. Pure; escapes whatever the session wrote."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.wording import brief, duration

_LONGEST = 200
_VALUES = ("now", "random")

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Envelope:
    """A frame as it goes over the wire. Without a seq it is shown and forgotten."""

    seq: int | None
    type: str
    timestamp: str
    data: Data


def opened(wire: bytes) -> Envelope:
    """The envelope that these bytes are."""
    frame = cast("dict[str, Any]", json.loads(wire))
    return Envelope(frame["seq"], frame["type"], frame["timestamp"], frame["data"])


def told(envelope: Envelope, titles: Mapping[str, str] | None = None) -> str | None:
    """The line for a person who watches, or None when there is nothing to tell."""
    if _is_quiet(envelope):
        return None
    return in_words(envelope, titles)


def in_words(envelope: Envelope, titles: Mapping[str, str] | None = None) -> str:
    """The line for any event. `titles` has the names that the plan gave to steps."""
    words = _WORDS.get(envelope.type, _anything)
    return shortened(safe_line(words(envelope.data, titles or {})), _LONGEST)


def _is_quiet(envelope: Envelope) -> bool:
    """What says nothing to a person who watches: mechanics, and what is told in full once the session rests."""
    data = envelope.data
    match envelope.type:
        case "session":
            return not data.get("wake_at")
        case "step":
            is_value = data["name"] in _VALUES and data.get("seconds") is None
            return is_value or data["status"] in ("running", "pending")
        case "plan" | "token" | "snapshot" | "progress" | "request_input" | "approval_request":
            return True
        case _:
            return False


def _session(data: Data, _titles: Mapping[str, str]) -> str:
    begun = data.get("begun")
    if begun:
        return f"session started: {begun['title']} (workflow {begun['workflow']}, {begun['mode']})"
    reason = f": {data['reason']}" if data.get("reason") else ""
    return f"session {data['status']}{reason}"


def _step(data: Data, titles: Mapping[str, str]) -> str:
    key, status = str(data["key"]), str(data["status"])
    label = titles.get(key, key)
    if status == "completed" and data.get("seconds") is None:
        return f"{label}: {brief(data.get('output'))}" if data["name"] in _VALUES else f"done: {label}"
    took = f" ({duration(data['seconds'])})" if data.get("seconds") is not None else ""
    attempt = f" at attempt {data['attempt']}" if data.get("attempt", 1) > 1 else ""
    word = {"completed": "done", "running": "begun"}.get(status, status)
    why = f": {data['problem']['detail']}" if data.get("problem") else ""
    return f"{word}: {label}{took}{attempt}{why}"


def _retry(data: Data, titles: Mapping[str, str]) -> str:
    label = titles.get(data["key"], data["key"])
    after = f" in {duration(data['delay'])}" if data["delay"] else ""
    return f"tries again{after}: {label} (attempt {data['attempt']}: {data['problem']['detail']})"


def _response(data: Data, _titles: Mapping[str, str]) -> str:
    notes = f" ({data['notes']})" if data.get("notes") else ""
    if data.get("approved") is None:
        return f"answered: {brief(data.get('value'))}"
    return ("approved" if data["approved"] else "rejected") + notes


def _log(data: Data, _titles: Mapping[str, str]) -> str:
    level = data.get("level", "info")
    return f"{'' if level == 'info' else level + ': '}{data['text']}"


def _anything(data: Data, _titles: Mapping[str, str]) -> str:
    return brief(dict(data))


_WORDS: Mapping[str, Callable[[Data, Mapping[str, str]], str]] = {
    "session": _session,
    "step": _step,
    "retry": _retry,
    "user_response": _response,
    "log": _log,
    "plan": lambda data, _: f"plan: {', '.join(step['title'] for step in data['steps'])}",
    "in_doubt": lambda data, _: f"in doubt: {data['name']} ({data['key']}): {data['reason']}",
    "request_input": lambda data, _: f"asks: {data['prompt']}",
    "approval_request": lambda data, _: f"asks for approval: {data['title']}",
    "checkpoint": lambda data, _: f"checkpoint: {data['name']}",
    "error": lambda data, _: f"error: {data['problem']['detail']}",
    "interrupt": lambda data, _: f"interrupt{': ' + data['reason'] if data.get('reason') else ''}",
    "resume": lambda data, _: f"resumed from {data['from_status']}",
    "budget": lambda data, _: f"budget of {data['allowed']:g} {data['limit']} used up ({data['used']:g})",
    "breaker": lambda data, _: f"circuit breaker of {data['name']} is {data['state']}",
    "progress": lambda data, _: f"{data.get('percent', 0):.0f} % {data.get('text', '')}".strip(),
}
