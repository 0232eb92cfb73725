"""Sessions as a table, with ids short enough to type and long enough to paste."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from rich.table import Table
from rich.text import Text

from belayer.cli.safe_text import safe_line
from belayer.cli.wording import STATUS_STYLE, age
from belayer.engine import Engine
from belayer.sessions.rows import SessionRow
from belayer.vocabulary.clock import rfc3339
from belayer.vocabulary.errors import AmbiguousPrefix
from belayer.vocabulary.ids import SessionId

_SHORTEST = 8


def list_table(
    rows: Sequence[SessionRow], ids: Mapping[SessionId, str], now: datetime | None = None
) -> Table:
    """One line per session."""
    now = now or datetime.now(UTC)
    table = Table(box=None, header_style="bright_black", pad_edge=False)
    table.add_column("ID", no_wrap=True)
    table.add_column("STATUS", no_wrap=True)
    table.add_column("TITLE", no_wrap=True, overflow="ellipsis", ratio=1, max_width=60)
    table.add_column("WORKFLOW", no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("MODE", no_wrap=True)
    table.add_column("EVENTS", no_wrap=True, justify="right")
    table.add_column("AGE", no_wrap=True, justify="right")
    for row in rows:
        table.add_row(
            ids[row.id],
            Text(row.status.value, style=STATUS_STYLE[row.status]),
            Text(safe_line(row.title)),
            Text(safe_line(row.workflow)),
            row.mode.value,
            str(row.last_seq),
            age(row.created, now),
        )
    return table


def row_as_json(row: SessionRow) -> dict[str, Any]:
    """A session in a list, for a script."""
    return {
        "session_id": row.id,
        "status": row.status,
        "title": row.title,
        "workflow": row.workflow,
        "mode": row.mode,
        "events": row.last_seq,
        "created_at": rfc3339(row.created),
        "updated_at": rfc3339(row.updated),
    }


async def short_ids(engine: Engine, ids: Sequence[SessionId]) -> dict[SessionId, str]:
    """For each id, a beginning of it that no other session here has."""
    short = unique_prefixes(ids)
    for id_, prefix in short.items():
        try:
            await engine.find(prefix)
        except AmbiguousPrefix:  # with a session that is not in this list
            short[id_] = id_
    return short


def unique_prefixes(ids: Sequence[SessionId]) -> dict[SessionId, str]:
    """The shortest beginnings, of at least eight characters, that tell the ids from each other. Pure."""
    ordered = sorted(ids)
    short: dict[SessionId, str] = {}
    for before, id_, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        short[id_] = id_[: max(_shared(before, id_) + 1, _shared(id_, after) + 1, _SHORTEST)]
    return short


def _shared(one: str, other: str) -> int:
    """How many characters two ids begin with in common."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
