"""What this process costs the machine: resident memory and processor time. Linux only."""

import time
from pathlib import Path


def rss_bytes() -> int:
    """Resident bytes, from smaps_rollup: exact, where statm may lag by some pages per thread."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/smaps_rollup has no Rss line, so memory cannot be measured here.")


def cpu_seconds() -> float:
    """Processor seconds of all threads of this process so far, in user and kernel mode."""
    return time.process_time()
