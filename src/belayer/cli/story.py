"""A session's events as lines: what happened, in words, one line each. Pure; escapes whatever the session wrote."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from belayer.cli.planned import label_of
from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.wording import brief, clock_time, duration

_LONGEST = 200
_VALUES = ("now", "random")

Data = Mapping[str, Any]
Titles = Mapping[str, str]


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


def told(envelope: Envelope, titles: Titles | None = None) -> str | None:
    """The line for a person who watches, or None when there is nothing to tell."""
    if _is_quiet(envelope):
        return None
    return in_words(envelope, titles)


def in_words(envelope: Envelope, titles: Titles | None = None) -> str:
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


def _session(data: Data, _titles: Titles) -> str:
    begun = data.get("begun")
    if begun:
        return f"session started: {begun['title']} (workflow {begun['workflow']}, {begun['mode']})"
    reason = f": {data['reason']}" if data.get("reason") else ""
    return f"session {data['status']}{reason}"


def _step(data: Data, titles: Titles) -> str:
    label, status = label_of(str(data["key"]), titles), str(data["status"])
    if status == "skipped":
        step = label_of(str(data["key"]).partition("#")[0], titles)
        return f"skipped: {step}: {data.get('reason') or 'left out'}"
    if status == "completed" and data.get("seconds") is None:
        return f"{label}: {brief(data.get('output'))}" if data["name"] in _VALUES else f"done: {label}"
    took = f" ({duration(data['seconds'])})" if data.get("seconds") is not None else ""
    attempt = f" at attempt {data['attempt']}" if data.get("attempt", 1) > 1 else ""
    word = {"completed": "done", "running": "begun"}.get(status, status)
    told = data["problem"]["detail"] if data.get("problem") else data.get("reason")
    why = f": {told}" if told else ""
    return f"{word}: {label}{took}{attempt}{why}"


def _retry(data: Data, titles: Titles) -> str:
    label = label_of(str(data["key"]), titles)
    after = f" in {duration(data['delay'])}" if data["delay"] else ""
    return f"tries again{after}: {label} (attempt {data['attempt']}: {data['problem']['detail']})"


def _response(data: Data, _titles: Titles) -> str:
    notes = f" ({data['notes']})" if data.get("notes") else ""
    if data.get("approved") is None:
        return f"answered: {brief(data.get('value'))}"
    always = ", also for calls like it in this session" if data.get("remember") else ""
    return ("approved" if data["approved"] else "rejected") + always + notes


def _limit(data: Data, titles: Titles) -> str:
    kind = {"rate": "rate limit", "concurrency": "limit of calls at once"}.get(data["limit"], data["limit"])
    after = f", {duration(data['delay'])}" if data.get("delay") else ""
    return f"waits: {kind} of {data['name']}{after} ({label_of(str(data['key']), titles)})"


def _breaker(data: Data, _titles: Titles) -> str:
    means = {
        "open": "it failed so often that it is left alone for a while",
        "half_open": "one call is let through to see whether it works again",
        "closed": "it works again",
    }
    until = f" until {clock_time(datetime.fromisoformat(data['until']))}" if data.get("until") else ""
    return f"circuit breaker of {data['name']} is {data['state']}{until}: {means.get(data['state'], '')}"


def _restored(data: Data, _titles: Titles) -> str:
    counts = f"{data.get('written', 0)} written, {data.get('deleted', 0)} deleted"
    skipped: list[str] = list(data.get("skipped") or ())
    left = f", {len(skipped)} left as they are: {', '.join(skipped)}" if skipped else ""
    return f"files brought back: {counts}{left}"


def _log(data: Data, _titles: Titles) -> str:
    level = data.get("level", "info")
    return f"{'' if level == 'info' else level + ': '}{data['text']}"


def _anything(data: Data, _titles: Titles) -> str:
    return brief(dict(data))


_WORDS: Mapping[str, Callable[[Data, Titles], str]] = {
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
    "breaker": _breaker,
    "limit": _limit,
    "restored": _restored,
    "artifact": lambda data, _: f"made: {data['name']} ({data['media_type']})",
    "progress": lambda data, _: f"{data.get('percent', 0):.0f} % {data.get('text', '')}".strip(),
}
