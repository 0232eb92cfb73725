"""How times, values and statuses read for a person. Pure."""

import json
from datetime import datetime, timedelta

from belayer.cli.safe_text import safe_block
from belayer.vocabulary.events.event import Json, Status, StepStatus

STATUS_STYLE: dict[Status, str] = {
    Status.QUEUED: "blue",
    Status.RUNNING: "bold blue",
    Status.WAITING: "bold yellow",
    Status.PAUSED: "yellow",
    Status.INTERRUPTED: "yellow",
    Status.COMPLETED: "green",
    Status.FAILED: "bold red",
    Status.CANCELLED: "red",
    Status.EXPIRED: "bright_black",
}
STEP_MARK: dict[StepStatus, tuple[str, str]] = {
    StepStatus.PENDING: ("○", "bright_black"),
    StepStatus.RUNNING: ("▸", "bold blue"),
    StepStatus.COMPLETED: ("✓", "green"),
    StepStatus.FAILED: ("✗", "bold red"),
    StepStatus.SKIPPED: ("-", "bright_black"),
    StepStatus.PAUSED: ("‖", "yellow"),
}


def duration(seconds: float) -> str:
    """A length of time in the unit that fits: 340 ms, 2.1 s, 4 min 5 s, 3 h 20 min, 12 d 4 h."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, unit, smaller, small_unit in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {small_unit}" if rest else "")
    return f"{whole} s"


def age(since: datetime, now: datetime) -> str:
    """How long ago, in one unit."""
    seconds = max((now - since) // timedelta(seconds=1), 0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def pretty(value: Json) -> str:
    """A value as a safe block of text: a text as it is, anything else as indented JSON."""
    if isinstance(value, str):
        return safe_block(value)
    return safe_block(json.dumps(value, indent=2, ensure_ascii=False))


def brief(value: Json) -> str:
    """A value on one line; the caller makes it safe and short."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def counted(count: int, what: str) -> str:
    """So many of something, in the right number."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def clock_time(at: datetime) -> str:
    """A time on this machine's clock."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
