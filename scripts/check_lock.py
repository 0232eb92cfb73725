"""Keep one machine's mirrors out of uv.lock: it may name the public index and nothing else."""

import re
import sys
from pathlib import Path

PUBLIC = {"https://pypi.org", "https://files.pythonhosted.org"}
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\"\s]*", re.IGNORECASE)


def foreign_addresses(lock: str) -> set[str]:
    """Every scheme and host in the lock file that is not the public index."""
    return set(ADDRESS.findall(lock)) - PUBLIC


def main() -> int:
    foreign = foreign_addresses(Path("uv.lock").read_text(encoding="utf-8"))
    for address in sorted(foreign):
        print(f"uv.lock names {address}: run `make lock` to lock against pypi.org.", file=sys.stderr)
    return 1 if foreign else 0


if __name__ == "__main__":
    sys.exit(main())
