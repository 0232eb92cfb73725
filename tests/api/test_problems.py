"""Whatever goes wrong is told as a problem, and what nobody foresaw tells nothing but where to look for it."""

import json
import logging
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import structlog
from starlette.types import Message, Receive, Scope, Send

from belayer.api.problems import LastResort, status_of, title_of
from belayer.logs import set_up_logs
from belayer.sessions.redact import Redactor
from belayer.vocabulary import errors
from belayer.vocabulary.errors import BelayerError, CorruptLog, StoreFull, TooManySessions
from tests.api.visiting import AT, BEARER, app_on, problem_of, visiting, visitor
from tests.api.work import asking, start_asking
from tests.support.engines import home_engine, memory_engine
from tests.support.servers import serving

SECRET = "hunter2-hunter2-hunter2"


class FailingEngine:
    """An engine none of whose parts work: everything asked of it raises the same."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


@asynccontextmanager
async def visiting_a_broken_server(error: Exception) -> AsyncGenerator[httpx.AsyncClient]:
    async with memory_engine() as engine:
        app = app_on(engine)
        app.state.engine = FailingEngine(error)
        async with visitor(app, BEARER) as client:
            yield client


@pytest.fixture
def logged(tmp_path: Path) -> Generator[Path]:
    """The log file of a server."""
    before = structlog.get_config()
    ours = logging.getLogger("belayer")
    kept = ours.handlers, ours.propagate, ours.level
    set_up_logs(tmp_path, Redactor([SECRET]), to_stderr=False)
    yield tmp_path / "belayer.jsonl"
    for handler in ours.handlers:
        handler.close()
    ours.handlers, ours.propagate, ours.level = kept
    structlog.configure(**before)


async def test_an_address_that_is_not_there_is_a_problem() -> None:
    async with memory_engine() as engine, visiting(engine) as client:
        for path in ("/nope", "/api", "/api/tools/", "/api/execution/sessions/a/b/c", "/docs", "/redoc"):
            response = await client.get(path)
            assert response.status_code == 404
            assert problem_of(response)["type"] == "urn:belayer:problem:NoSuchAddress"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/tools", "GET"),
        ("GET", "/api/execution/start", "POST"),
        ("PATCH", "/api/policy", "GET, PUT"),
        ("PUT", f"{AT}/x/rewind", "GET, POST"),
    ],
)
async def test_a_wrong_method_is_a_problem_that_names_the_right_one(
    method: str, path: str, allowed: str
) -> None:
    async with memory_engine() as engine, visiting(engine) as client:
        response = await client.request(method, path)
        assert response.status_code == 405
        assert response.headers["allow"] == allowed
        assert problem_of(response)["type"] == "urn:belayer:problem:WrongMethod"


async def test_what_does_not_fit_is_a_problem_with_every_place() -> None:
    async with memory_engine() as engine, visiting(engine) as client:
        response = await client.post("/api/execution/start", json={"workflow": 7, "mode": "x", "more": 1})
        assert response.status_code == 422
        told = problem_of(response)
        assert {error["place"] for error in told["errors"]} == {"body.workflow", "body.mode", "body.more"}


async def test_a_problem_about_very_much_stays_small() -> None:
    async with memory_engine() as engine, visiting(engine) as client:
        rules = [{"x" * 1000: 1} for _ in range(1000)]
        response = await client.put("/api/policy", json={"rules": rules})
        assert response.status_code == 422
        assert len(response.content) < 100_000
        assert len(problem_of(response)["errors"]) == 50


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(f"the secret is {SECRET} in /home/ada/private"),
        KeyError(SECRET),
        sqlite3.ProgrammingError("near x"),
        errors.Fenced("an inner matter of /home/ada/private"),
        RecursionError(),
        ExceptionGroup("several", [ValueError(SECRET)]),
    ],
)
async def test_what_nobody_foresaw_is_told_by_a_reference_that_stands_in_the_log(
    logged: Path, error: Exception
) -> None:
    async with visiting_a_broken_server(error) as client:
        response = await client.get(AT)
    assert response.status_code == 500
    told = problem_of(response)
    for leak in ("Traceback", "/home", SECRET, type(error).__name__, "belayer/"):
        assert leak not in response.text
    lines = [json.loads(line) for line in logged.read_text().splitlines()]
    (line,) = [line for line in lines if line.get("reference") == told["reference"]]
    assert told["reference"] in told["hint"]
    assert line["error"] == type(error).__name__
    assert "Traceback" in line["exception"]
    assert SECRET not in logged.read_text()


async def test_two_failures_have_two_references(logged: Path) -> None:
    async with visiting_a_broken_server(RuntimeError("x")) as client:
        assert len({(await client.get(AT)).json()["reference"] for _ in range(2)}) == 2


async def test_over_a_real_socket_nothing_of_a_failure_is_printed(
    logged: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with memory_engine() as engine:
        broken = cast("Any", engine)
        broken.tools = FailingEngine(RuntimeError(f"told {SECRET}")).__getattr__
        async with serving(engine) as server, server.client() as client:
            response = await client.get("/api/tools")
            assert response.status_code == 500
            assert SECRET not in response.text
            assert (await client.get("/health")).status_code == 200
    written = capfd.readouterr()
    assert "Traceback" not in written.out + written.err
    assert SECRET not in written.out + written.err + logged.read_text()


async def test_a_failure_in_the_middle_of_an_answer_is_logged_and_ends_it(logged: Path) -> None:
    sent: list[Message] = []

    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("half way")

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await LastResort(half)({"type": "http"}, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert "half way" in logged.read_text()


async def test_who_goes_away_in_the_middle_of_a_request_is_no_failure(logged: Path) -> None:
    async with memory_engine() as engine:
        app = app_on(engine)

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            assert message.get("status") != 500

        headers = [
            (b"host", b"127.0.0.1:8700"),
            (b"authorization", b"Bearer a-token-that-only-tests-know"),
            (b"content-type", b"application/json"),
        ]
        for path in ("/api/execution/import", "/api/execution/start"):
            scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
            await app(scope, receive, send)
    assert not logged.exists()


async def test_a_store_that_cannot_be_used_is_503_with_what_to_do() -> None:
    async with visiting_a_broken_server(StoreFull("The disk is full.", "Make space.")) as client:
        response = await client.get(AT)
        assert response.status_code == 503
        assert problem_of(response)["hint"] == "Make space."


async def test_a_degraded_server_tells_everybody_why_but_not_where_things_lie() -> None:
    async with visiting_a_broken_server(StoreFull("The disk that holds /home/ada/x is full.")) as client:
        response = await client.get("/health", headers={"Authorization": ""})
        assert response.status_code == 503
        assert response.json()["status"] == "degraded"
        assert response.json()["reasons"] == ["Store full"]
        assert "/home" not in response.text


async def test_an_engine_that_was_closed_is_503() -> None:
    async with memory_engine(asking) as engine, visiting(engine) as client:
        session_id, _ = await start_asking(engine, client)
    async with visiting(engine) as client:
        response = await client.post(f"{AT}/{session_id}/cancel")
        assert response.status_code == 503
        problem_of(response)


async def test_a_damaged_session_says_so_and_the_others_are_served(tmp_path: Path) -> None:
    async with home_engine(tmp_path, asking) as engine, visiting(engine) as client:
        damaged, _ = await start_asking(engine, client)
        intact, _ = await start_asking(engine, client)
        with sqlite3.connect(tmp_path / "belayer.db") as database:
            database.execute("UPDATE events SET data = '{}' WHERE session = 1 AND seq = 2")
        database.close()
        response = await client.get(f"{AT}/{damaged}")
        assert response.status_code == 503
        assert problem_of(response)["type"] == "urn:belayer:problem:CorruptLog"
        inbox = (await client.get("/api/inbox")).json()["requests"]
        assert [one["session_id"] for one in inbox] == [intact]
        assert (await client.get(AT)).status_code == 200


@pytest.mark.parametrize("rules", ["{", '{"saved_in": 1}'])
async def test_rules_that_cannot_be_read_are_the_server_s_trouble(tmp_path: Path, rules: str) -> None:
    async with home_engine(tmp_path) as engine, visiting(engine) as client:
        (tmp_path / "policy.json").write_text(rules)
        response = await client.get("/api/policy")
        assert response.status_code == 503
        problem_of(response)


def every_error() -> list[type[BelayerError]]:
    return [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, BelayerError)]


@pytest.mark.parametrize("cls", every_error(), ids=lambda cls: cls.__name__)
def test_every_error_has_a_status_that_is_documented(cls: type[BelayerError]) -> None:
    error = cls.__new__(cls)
    assert status_of(error) in {404, 409, 413, 422, 429, 500, 503}


@pytest.mark.parametrize(
    ("kind", "title"), [("UnknownSession", "Unknown session"), ("InDoubt", "In doubt"), ("Moved", "Moved")]
)
def test_a_kind_reads_as_a_title(kind: str, title: str) -> None:
    assert title_of(kind) == title


async def test_how_long_to_wait_is_what_the_error_says() -> None:
    async with visiting_a_broken_server(TooManySessions("Five are live.", retry_after=7)) as client:
        response = await client.get(AT)
        assert (response.status_code, response.headers["retry-after"]) == (429, "7")


async def test_no_problem_can_be_shown_as_a_page() -> None:
    evil = "<script>alert(1)</script>"
    async with visiting_a_broken_server(CorruptLog(evil, 1, evil)) as client:
        response = await client.get(AT)
        assert response.headers["content-type"] == "application/problem+json"
        assert response.headers["x-content-type-options"] == "nosniff"
