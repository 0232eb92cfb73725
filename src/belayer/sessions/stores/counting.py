"""How many there are: questions to the SQLite file that are answered from an index, or by one pass over the rows."""

import sqlite3

from belayer.sessions.store import HOUR, Counts, Hour
from belayer.vocabulary.events.event import FINAL, Status

_STATUSES = frozenset(Status)
_ENDED = ", ".join(f"'{status.value}'" for status in sorted(FINAL))


def counts(connection: sqlite3.Connection) -> Counts:
    found = connection.execute("SELECT status, count(*) FROM sessions GROUP BY status").fetchall()
    by_status = {Status(status): number for status, number in found if status in _STATUSES}
    # Few sessions wait for a set time, and those have an index of their own.
    (timed,) = connection.execute(
        "SELECT count(*) FROM sessions WHERE wake_at IS NOT NULL AND status = 'waiting'"
    ).fetchone()
    (events,) = connection.execute("SELECT coalesce(max(place), 0) FROM events").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return Counts(by_status, by_status.get(Status.WAITING, 0) - timed, events, pages * page_size)


def hours(connection: sqlite3.Connection, since: int) -> list[Hour]:
    first = since - since % HOUR
    found = connection.execute(
        "SELECT at, sum(started), sum(completed), sum(failed), sum(cancelled) FROM ("
        f" SELECT created_at / {HOUR} * {HOUR} AS at, 1 AS started, 0 AS completed, 0 AS failed, 0 AS cancelled"
        " FROM sessions WHERE created_at >= ?"
        " UNION ALL"
        f" SELECT updated_at / {HOUR} * {HOUR}, 0, status = 'completed', status = 'failed', status = 'cancelled'"
        f" FROM sessions WHERE status IN ({_ENDED}) AND updated_at >= ?"
        ") GROUP BY at ORDER BY at",
        (first, first),
    )
    return [Hour(*row) for row in found.fetchall()]
