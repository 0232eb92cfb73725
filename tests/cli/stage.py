"""The command line as tests use it: in this process where that is enough, in one of its own where it matters."""

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from typer.testing import CliRunner

from belayer.cli.app import app

FLOWS = Path(__file__).parent / "flows.py"
# Changes a step's output behind the log's back.
SPOIL = "UPDATE events SET data = CAST(replace(data, 'ADA', 'EVE') AS BLOB) WHERE type = 'step'"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(slots=True)
class Cli:
    """`belayer` on a home of its own."""

    home: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    def __call__(self, *words: str, stdin: str | None = None) -> Outcome:
        """Run a command in this process."""
        env = {"BELAYER_HOME": str(self.home), "BELAYER_SANDBOX": "off", **self.env}
        result = CliRunner().invoke(app, list(words), input=stdin, env=env)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Run a command in a process of its own, and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "belayer", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
        )

    def process(self, *words: str) -> Outcome:
        """Run a command in a process of its own to its end."""
        with self.start(*words) as process:
            out, err = process.communicate(timeout=60)
        return Outcome(process.returncode, out, err)

    def environment(self) -> dict[str, str]:
        around = os.environ  # noqa: TID251 - a child needs what is there, but for our own settings
        kept = {name: value for name, value in around.items() if not name.startswith("BELAYER_")}
        return {**kept, "BELAYER_HOME": str(self.home), "BELAYER_SANDBOX": "off", **self.env}

    def run(self, flow: str, *words: str) -> str:
        """Run one of the flows until it rests; its session's id."""
        return self("run", f"{FLOWS}:{flow}", "--json", *words).json()["session_id"]

    @property
    def workspace(self) -> Path:
        """The folder that plans work in."""
        folder = self.home.with_name("workspace")
        folder.mkdir(exist_ok=True)
        return folder

    def plan(self, *steps: dict[str, Any], **more: Any) -> str:
        """Write a plan into a file; its name."""
        file = self.home.with_name("the-plan.json")
        file.write_text(json.dumps({"steps": steps, **more}))
        return str(file)

    def run_plan(self, *steps: dict[str, Any], **more: Any) -> str:
        """Carry a plan out until it rests; its session's id."""
        said = self("run", self.plan(*steps, **more), "--workspace", str(self.workspace), "--json")
        return said.json()["session_id"]

    def shown(self, session_id: str) -> Any:
        return self("show", session_id, "--json").json()

    def content(self) -> list[Any]:
        """Everything in the store, to see that it did not change."""
        database = self.home / "belayer.db"
        if not database.is_file():
            return []
        connection = sqlite3.connect(database)
        try:
            version = connection.execute("PRAGMA user_version").fetchall()
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            ).fetchall()
            tables = [connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names]
            return [version, *tables] if any(tables) else []
        except sqlite3.DatabaseError:
            return [database.read_bytes()]
        finally:
            connection.close()

    def sql(self, statement: str, *values: Any) -> None:
        """Do something to the store that Belayer never would."""
        connection = sqlite3.connect(self.home / "belayer.db")
        try:
            assert connection.execute(statement, values).rowcount != 0
            connection.commit()
        finally:
            connection.close()


def write(id_: str, path: str, content: str = "hello\n", **more: Any) -> dict[str, Any]:
    """A plan's step that writes a file."""
    return {"id": id_, "tool": "files.write", "params": {"path": path, "content": content}, **more}


def read(id_: str, path: str, **more: Any) -> dict[str, Any]:
    """A plan's step that reads a file."""
    return {"id": id_, "tool": "files.read", "params": {"path": path}, **more}


def read_until(stream: IO[str] | None, wanted: str) -> str:
    """Read lines until one has the wanted text."""
    assert stream is not None
    seen = ""
    for line in stream:
        seen += line
        if wanted in line:
            return seen
    raise AssertionError(f"{wanted!r} never came; this did:\n{seen}")
