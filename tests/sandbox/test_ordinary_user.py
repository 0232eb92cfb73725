"""The same attacks on a Belayer that is nobody in particular and may make no cgroup: many installations are so."""

import asyncio
import os
import shutil
import site
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from belayer.sandbox.choose import choose
from belayer.vocabulary.errors import NoSandbox
from tests.sandbox.boxes import PYTHON

ROOT = Path(__file__).parents[2]
NOBODY = "65534"
ATTACKS = (
    "bomb or disk or flood or spinning or many_that_spin or shared_memory or does_not_end or outside or host_is_read"
    " or two_at_once or daemon or traced or signal or privileges or read_only or link or descriptor"
)


def as_nobody(*command: str, home: Path) -> list[str]:
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), *site.getsitepackages()])
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", "-i"]
    return [*become, *(f"{name}={value}" for name, value in variables.items()), *command]


def can_be_nobody() -> str | None:
    """Why it cannot be tried here."""
    if os.geteuid() != 0:
        return "only root can become somebody else; the other tests have tried an ordinary user already"
    if shutil.which("setpriv") is None or not Path(PYTHON).exists():
        return f"it takes setpriv and {PYTHON}"
    done = subprocess.run(
        as_nobody(
            PYTHON,
            "-c",
            "import pytest, belayer.sandbox.choose, sys; print(sys.version_info[:2])",
            home=Path("/"),
        ),
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    return None if done.returncode == 0 else f"nobody cannot run the tests here: {done.stderr[-200:]}"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of nobody's: pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="nobody-") as folder:
        if os.geteuid() == 0:
            os.chown(folder, int(NOBODY), int(NOBODY))
        yield Path(folder)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_an_ordinary_users_programs_are_held_without_any_cgroup(place: Path, rung: str) -> None:
    if reason := can_be_nobody():
        pytest.skip(reason)
    tests = await asyncio.create_subprocess_exec(
        *as_nobody(
            *(PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"),
            *("--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), f"--basetemp={place / 'tmp'}"),
            *(
                "-k",
                f"{rung}-ungrouped and ({ATTACKS})",
                str(ROOT / "tests/security/test_sandbox_escapes.py"),
            ),
            home=place,
        ),
        cwd=place,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await tests.communicate()
    assert tests.returncode == 0, output.decode()[-6000:]
    assert b" passed" in output


@pytest.mark.skipif(os.geteuid() != 0, reason="this is about root")
@pytest.mark.parametrize("rung", ["auto", "bubblewrap", "landlock"])
async def test_root_without_a_cgroup_is_refused_for_nothing_would_hold_a_fork_bomb(
    tmp_path: Path, rung: str
) -> None:
    with pytest.raises(NoSandbox, match="nothing would stop a fork bomb"):
        async with choose(rung, tmp_path, grouped=False):  # pyright: ignore[reportArgumentType]
            raise AssertionError("there is a sandbox")
