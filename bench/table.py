"""Show one run's results: a table for people, JSON for comparing runs. Judges, but measures nothing."""

import json
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

TIMES = "\N{MULTIPLICATION SIGN}"  # the unit of a ratio
HUNDRED = 100  # from here on, decimals are noise
PACKAGES = ("belayer", "langgraph", "langgraph-checkpoint-sqlite", "dbos")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit; p95 beside the median where one was taken."""

    value: float
    unit: str
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the row must hold: judged on the ratio where there is one, else on our own figure."""

    bound: Literal["at most", "at least"]
    value: float
    unit: str

    def holds(self, number: float) -> bool:
        """Whether the number is on the right side."""
        return number <= self.value if self.bound == "at most" else number >= self.value


@dataclass(frozen=True, slots=True)
class Row:
    """One promise and what was measured for it. `ratio` points the way `wanted` reads."""

    what: str
    ours: Figure
    wanted: Wanted
    theirs: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    ratio: float | None = None

    @property
    def met(self) -> bool:
        """Whether the promise was kept in this run."""
        return self.wanted.holds(self.ours.value if self.ratio is None else self.ratio)


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table."""
    table = Table("what", "Belayer", "floor / peers", "ratio", "wanted", "verdict")
    for row in rows:
        theirs = "\n".join(f"{name} {_figure(figure)}" for name, figure in row.theirs.items())
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}{TIMES}"
        verdict = "[green]met[/]" if row.met else "[red]missed[/]"
        table.add_row(row.what, _figure(row.ours), theirs, ratio, _wanted(row.wanted), verdict)
    console.print(table)


def write(rows: Sequence[Row], file: Path, measured: Mapping[str, object]) -> None:
    """Write every row, what it was measured from and where, as JSON."""
    results = {
        "machine": _machine(),
        "rows": [{**asdict(row), "met": row.met} for row in rows],
        "measured": measured,
    }
    file.write_text(json.dumps(results, indent=2) + "\n")


def _figure(figure: Figure) -> str:
    text = f"{_number(figure.value)} {figure.unit}"
    return text if figure.p95 is None else f"{text} (p95 {_number(figure.p95)})"


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < HUNDRED else f"{value:,.0f}"


def _wanted(wanted: Wanted) -> str:
    space = "" if wanted.unit == TIMES else " "
    return f"{wanted.bound} {wanted.value:g}{space}{wanted.unit}"


def _machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
