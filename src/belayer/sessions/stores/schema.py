"""The SQLite schema, and how an older file becomes a current one."""

import sqlite3
from collections.abc import Sequence

from belayer.vocabulary.errors import NewerStore

# One script per version, in order. A released script is never changed; a new one is added.
SCRIPTS: Sequence[str] = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        workflow TEXT NOT NULL,
        title TEXT NOT NULL,
        mode TEXT NOT NULL,
        status TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        last_hash BLOB NOT NULL,
        epoch INTEGER NOT NULL,
        driver TEXT,
        wake_at INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        idempotency_key TEXT UNIQUE
    );
    CREATE INDEX sessions_by_status ON sessions (status);
    CREATE INDEX sessions_to_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;
    -- In the order of writing, so that a commit for many sessions touches few pages.
    CREATE TABLE events (
        place INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        type TEXT NOT NULL,
        version INTEGER NOT NULL,
        at INTEGER NOT NULL,
        stage TEXT,
        data BLOB NOT NULL,
        hash BLOB NOT NULL
    );
    CREATE UNIQUE INDEX events_by_session ON events (session, seq);
    """,
)


def check_version(connection: sqlite3.Connection, scripts: Sequence[str] = SCRIPTS) -> int:
    """The schema version of the file; refuse one from the future."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(scripts):
        raise NewerStore(
            f"The store has schema version {version}; this Belayer knows versions up to {len(scripts)}.",
            "Update Belayer, or set BELAYER_HOME to another folder. The store was not touched.",
        )
    return version


def migrate(connection: sqlite3.Connection, scripts: Sequence[str] = SCRIPTS) -> None:
    """Bring the file to the newest schema, all or nothing."""
    version = check_version(connection, scripts)
    if version == len(scripts):
        return
    steps = "".join(scripts[version:])
    try:
        connection.executescript(f"BEGIN IMMEDIATE;{steps}PRAGMA user_version = {len(scripts)};COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        (current,) = connection.execute("PRAGMA user_version").fetchone()
        if current != len(scripts):  # else another process was faster
            raise
