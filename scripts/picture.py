"""Draw docs/demo.svg from a real run of `belayer demo`, seen at a terminal of its own."""

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100
QUESTION = b"put first?"
SHOWN = Path(__file__).resolve().parent.parent / "docs" / "demo.svg"


def run_at_a_terminal(command: list[str], folder: Path) -> str:
    """What the command wrote to its terminal, with a person who takes the first choice of its question."""
    mine, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "LINES": "40", "TERM": "xterm-256color", "CI": ""}
    process = subprocess.Popen(command, cwd=folder, stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    written, answered = b"", False
    while chunk := _read(mine):
        written += chunk
        if QUESTION in written and not answered:
            answered = bool(os.write(mine, b"1\n"))
    process.wait()
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def last_screen(written: str) -> str:
    """The lines as they stood at the end: what the live view drew over is gone."""
    lines: list[str] = []
    for line in written.replace("\r\n", "\n").split("\n"):
        drawn_over = line.count("\x1b[1A")
        del lines[max(len(lines) - drawn_over, 0) :]
        lines.append(line.rsplit("\x1b[2K", 1)[-1].replace("\r", ""))
    return "\n".join(lines).replace("\x1b[?25l", "").replace("\x1b[?25h", "")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = run_at_a_terminal([sys.executable, "-m", "belayer", "demo"], Path(folder))
        text = last_screen(written).replace(folder, "~").replace(str(Path(folder).resolve()), "~")
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(text))
    console.save_svg(str(SHOWN), title="belayer demo", unique_id="belayer")


if __name__ == "__main__":
    main()
