"""Every example runs as its text says, from the command line and from Python."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from belayer import open_engine
from belayer.cli.exits import Exit
from examples import api, deploy, hello
from tests.cli.stage import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"
# The deployment, with a machine that loses its power once: right after the first server was changed.
DYING = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(EXAMPLES.parent)!r})
from belayer import Run, act
from examples import deploy as whole

real = whole.install

async def install(server: Path, version: str) -> str:
    done = await real(server, version)
    if not (server.parent / "died").exists():
        (server.parent / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return done

whole.install = act(effect="external", probe=whole.installed)(install)

async def deploy(run: Run, version: str, servers: Path, soak_seconds: float) -> dict[str, object]:
    return await whole.deploy(run, version, servers, soak_seconds)
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    (tmp_path / "servers").mkdir()
    return tmp_path / "servers"


def test_hello_asks_is_approved_and_says_it(cli: Cli) -> None:
    first = cli.process("run", str(EXAMPLES / "hello.py"), "-i", "name=Ada")
    assert first.code == Exit.WAITING
    found = re.search(r"belayer answer (\S+) here", first.out)
    assert found is not None
    assert cli.process("answer", found[1], "on the roof").code == Exit.WAITING
    last = cli.process("approve", found[1])
    assert last.code == Exit.DONE
    assert "Hello, Ada! (said on the roof)" in last.out


async def test_hello_says_nothing_when_it_is_rejected(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        session = await engine.start(hello.hello, "Ada")
        await session.settled()
        await session.answer("here")
        await session.settled()
        await session.reject("not now")
        assert await session.result() == "Nothing was said."


def test_deploy_installs_everywhere_once(cli: Cli, servers: Path) -> None:
    words = ["-i", "version=1.2", "-i", f"servers={servers}", "-i", "soak_seconds=0.05"]
    started = cli.process("run", str(EXAMPLES / "deploy.py"), *words, "--json")
    assert started.code == Exit.WAITING
    done = cli.process("approve", started.json()["session_id"], "--json")
    assert done.code == Exit.DONE
    assert done.json()["progress"]["percent"] == 100
    for name in deploy.SERVERS:
        assert (servers / name / "history").read_text() == "1.2\n"
    assert len(list(servers.glob("message-*.txt"))) == 1


def test_deploy_killed_between_an_effect_and_its_record_asks_its_probe(
    cli: Cli, servers: Path, tmp_path: Path
) -> None:
    file = tmp_path / "dying.py"
    file.write_text(DYING)
    words = ["-i", "version=1.2", "-i", f"servers={servers}", "-i", "soak_seconds=0"]
    id_ = cli.process("run", str(file), *words, "--json").json()["session_id"]
    assert cli.process("approve", id_).code == -signal.SIGKILL
    resumed = cli.process("resume", id_)
    assert resumed.code == Exit.DONE, resumed
    assert (servers / deploy.SERVERS[0] / "history").read_text() == "1.2\n"


async def test_deploy_that_is_rejected_touches_nothing(tmp_path: Path, servers: Path) -> None:
    async with open_engine(tmp_path / "home") as engine:
        session = await engine.start(deploy.deploy, "1.2", servers)
        await session.settled()
        await session.reject("not on a Friday")
        assert await session.result() == {"released": False, "because": "not on a Friday"}
    assert list(servers.iterdir()) == []


def test_api_runs_as_a_script(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "api.py"), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "waiting" in ran.stdout
    assert "{'words': 6, 'good': True}" in ran.stdout


async def test_api_gives_the_result(tmp_path: Path) -> None:
    assert await api.main(tmp_path) == {"words": 6, "good": True}
