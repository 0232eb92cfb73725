"""How long it will still take, in words that promise no more than is known. Pure."""

from collections.abc import Mapping
from typing import Any

_UNITS = ((86_400, 129_600, "d"), (3_600, 5_400, "h"), (60, 90, "min"))
_TO = "\N{EN DASH}"


def left_in_words(eta: Mapping[str, Any] | None) -> str | None:
    """Like "about 2 min left (1-4 min)"; None when nobody knows."""
    known = _seconds(eta)
    if known is None:
        return None
    low, mid, high = known
    about = "less than a second left" if mid < 1 else f"about {rough(mid)} left"
    return f"{about}{_span(low, high)}"


def takes_in_words(eta: Mapping[str, Any] | None) -> str | None:
    """The same before anything has begun: "about 2 min (1-4 min)"."""
    known = _seconds(eta)
    if known is None:
        return None
    low, mid, high = known
    return f"{'less than a second' if mid < 1 else f'about {rough(mid)}'}{_span(low, high)}"


def rough(seconds: float) -> str:
    """A length of time in one unit, without fractions."""
    number, unit = _rough(seconds)
    return f"{number} {unit}"


def _rough(seconds: float) -> tuple[int, str]:
    for size, least, unit in _UNITS:
        if seconds >= least:
            return round(seconds / size), unit
    return round(seconds), "s"


def _span(low: float, high: float) -> str:
    (least, small), (most, large) = _rough(low), _rough(high)
    if (least, small) == (most, large):
        return ""
    return f" ({least}{'' if small == large else f' {small}'}{_TO}{most} {large})"


def _seconds(eta: Mapping[str, Any] | None) -> tuple[float, float, float] | None:
    if not eta or eta.get("confidence") in (None, "unknown"):
        return None
    known = [eta.get(name) for name in ("low", "mid", "high")]
    if not all(isinstance(one, int | float) for one in known):
        return None
    low, mid, high = (float(one) for one in known if one is not None)
    return low, mid, high
