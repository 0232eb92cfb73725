"""The MCP server on stdin and stdout: a process that is killed, stopped, and says nothing but the protocol."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

from tests.api.agents import (
    ASKS,
    PATIENCE,
    SERVER,
    Person,
    accepts,
    call,
    over_stdio,
    plan,
    step,
)


async def test_a_session_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    writes = plan(
        step("one", "files.write", path="one.txt", content="1"),
        step("nap", "wait", seconds=0.3),
        step("two", "files.write", path="two.txt", content="2"),
    )
    async with over_stdio(home, "auto", None) as client:
        begun = await call(client, "engine_start", plan=writes, workspace=str(work), wait_seconds=0)
        os.kill(int((home / "pid").read_text()), signal.SIGKILL)
        with pytest.raises(MCPError):
            await call(client, "engine_status", session_id=begun["session_id"], wait_seconds=PATIENCE)
    async with over_stdio(home, "auto", None) as client:
        done = await call(
            client, "engine_status", session_id=begun["session_id"], wait_seconds=PATIENCE, last_events=100
        )
    assert done["status"] == "completed", done
    assert sorted(path.name for path in work.iterdir()) == ["one.txt", "two.txt"]
    finished = [
        event["data"]["key"]
        for event in done["events"]
        if event["type"] == "step" and event["data"]["status"] == "completed"
    ]
    assert sorted(set(finished)) == sorted(finished)


async def test_a_question_survives_the_server_that_asked_it(tmp_path: Path) -> None:
    home = tmp_path / "home"

    class Leaves(Person):
        async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
            self.shown.append(params)
            os.kill(int((home / "pid").read_text()), signal.SIGKILL)
            return accepts(answer="lost")

    async with over_stdio(home, "auto", Leaves()) as client:
        with pytest.raises(MCPError):
            await call(client, "engine_start", plan=ASKS, wait_seconds=30)
    async with over_stdio(home, "legacy", Person([accepts(answer="found")])) as client:
        (row,) = (await call(client, "engine_list", status=["waiting"]))["sessions"]
        (request,) = (await call(client, "engine_status", session_id=row["session_id"]))["pending"]
        done = await call(
            client,
            "engine_answer",
            session_id=row["session_id"],
            request_id=request["request_id"],
            wait_seconds=30,
        )
    assert done["result"]["outputs"]["colour"] == {"answer": "found"}


async def test_two_servers_on_one_home_serve_each_others_sessions(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with over_stdio(home, "auto", None) as one, over_stdio(home, "legacy", None) as other:
        begun = await call(one, "engine_start", plan=ASKS, wait_seconds=30)
        (request,) = (await call(other, "engine_status", session_id=begun["session_id"]))["pending"]
        await call(
            other,
            "engine_answer",
            session_id=begun["session_id"],
            request_id=request["request_id"],
            value="green",
            wait_seconds=0,
        )
        done = await call(one, "engine_status", session_id=begun["session_id"], wait_seconds=30)
    assert done["result"]["outputs"]["colour"] == {"answer": "green"}


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def started(home: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, "--home", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_nothing_but_the_protocol_is_on_stdout_and_the_end_of_stdin_is_the_end(tmp_path: Path) -> None:
    starts = {"name": "engine_start", "arguments": {"plan": plan(), "wait_seconds": 0}}
    said = [
        json.dumps(INITIALIZE),
        "no json",
        "[" * 5_000,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": starts}),
    ]
    with started(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(said) + "\n")
        process.stdin.flush()
        heard = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, trouble = process.communicate(timeout=PATIENCE)
    assert [one["id"] for one in heard] == [1, 2]
    assert heard[1]["result"]["isError"] is True
    assert (rest, trouble, process.returncode) == ("", "", 0)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_stops_although_its_client_is_still_there(
    tmp_path: Path, how: signal.Signals
) -> None:
    with started(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(how)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert "Sessions are kept" in process.stderr.read()


def test_without_a_client_it_says_how_to_have_one(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SERVER, "--home", str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "MCP client" in ended.stderr


def test_a_line_without_an_end_is_not_read_for_ever(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        _, trouble = process.communicate("x" * 17_000_000, timeout=PATIENCE)
    assert process.returncode == 1
    assert "no longer served" in trouble
