"""Whether the machine has room for more work, by Linux's own accounts; where there are none, there is always room."""

import os
from pathlib import Path

_LEAST_AVAILABLE = 0.03
_MOST_LOAD_PER_CORE = 16.0
_MEMORY = Path("/proc/meminfo")


def strain(memory: Path = _MEMORY) -> str | None:
    """Why nothing new should be begun now, or None."""
    return _short_of_memory(_accounts(memory)) or _overloaded()


def _accounts(memory: Path) -> dict[str, int]:
    try:
        lines = memory.read_text(encoding="ascii").splitlines()
        return {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    except (OSError, ValueError, IndexError):
        return {}


def _short_of_memory(memory: dict[str, int]) -> str | None:
    total, available = memory.get("MemTotal"), memory.get("MemAvailable")
    if not total or available is None or available / total >= _LEAST_AVAILABLE:
        return None
    return f"only {available / total:.1%} of the machine's memory is free"


def _overloaded() -> str | None:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load <= _MOST_LOAD_PER_CORE * cores:
        return None
    return f"the machine is overloaded (load {load:.0f} on {cores} cores)"
