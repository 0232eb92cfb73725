"""Webhooks reach a receiver that checks every signature: at least once, in order, whatever happens on either side."""

import asyncio
import json
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from structlog.testing import capture_logs

from belayer.api.webhooks import TRIES_AFTER, receiver_of, sending_webhooks
from belayer.engine import Engine, Session
from belayer.execution.run import Run
from belayer.sessions.outbox import Outbox
from belayer.sessions.redact import Redactor
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Fork
from belayer.vocabulary.errors import ConfigurationError, CorruptLog, LogicError
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.people import ApprovalRequested
from tests.api.receiver import HANGS, SECRET, Receiver, receiving
from tests.api.webhook_driver import Reader, asking
from tests.support.engines import home_engine, memory_engine, reached, turns, until

_ROOT = Path(__file__).parents[2]
_KILL_PATIENCE = 60


async def finishing(run: Run) -> str:
    return "done"


async def failing(run: Run) -> None:
    raise LogicError("It broke: sk-" + "a" * 40)


async def approving(run: Run) -> None:
    await run.approve("plan", {"body": "the whole secret plan"})


async def sleeping(run: Run) -> None:
    await run.sleep(3600)


@pytest.fixture
async def clock() -> AsyncIterator[ManualClock]:
    """A clock that begins now, as the library compares with now, and goes on by itself."""
    clock = ManualClock(datetime.now(UTC))

    async def flow() -> None:
        while True:
            clock.advance(0.02)
            await asyncio.sleep(0.002)

    flowing = asyncio.create_task(flow())
    yield clock
    flowing.cancel()


@asynccontextmanager
async def telling(
    engine: Engine, receiver: Receiver, home: Path, clock: ManualClock, redactor: Redactor | None = None
) -> AsyncGenerator[None]:
    """Webhooks from here on: what was before is the past."""
    to = receiver_of(receiver.url, SecretStr(SECRET))
    async with sending_webhooks(Reader(engine), to, home, "http://here:1/", redactor or Redactor(), clock):
        await until((home / "webhooks.json").exists)
        yield


def left_in(home: Path) -> list[dict[str, Any]]:
    """What has not arrived, as the file has it."""
    return json.loads((home / "webhooks.json").read_text())["left"]


async def came(receiver: Receiver, count: int) -> None:
    await until(lambda: len(receiver.deliveries) >= count)


async def tried(home: Path, attempts: int) -> None:
    """Return once it is on record that the first letter was tried so often."""
    await until(lambda: bool(left_in(home)) and left_in(home)[0]["attempts"] == attempts)


class TestTelling:
    async def test_a_session_that_needs_a_person_says_so(self, tmp_path: Path, clock: ManualClock) -> None:
        async with (
            memory_engine(asking, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            session = await engine.start(asking, title="A title")
            state = await session.settled()
            await came(receiver, 1)
        told = receiver.deliveries[0].verify()
        assert told["type"] == "session.waiting"
        (request_id,) = state.pending
        assert told["data"] == {
            "session_id": session.id,
            "seq": state.seq,
            "title": "A title",
            "workflow": "asking",
            "mode": "hitl",
            "status": "waiting",
            "reason": state.reason,
            "pending": [{"request_id": request_id, "kind": "text", "title": "Which?"}],
            "url": f"http://here:1/sessions/{session.id}",
        }

    async def test_what_is_to_be_approved_is_not_told(self, tmp_path: Path, clock: ManualClock) -> None:
        async with (
            memory_engine(approving, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            state = await (await engine.start(approving)).settled()
            await came(receiver, 1)
        (request,) = state.pending.values()
        assert isinstance(request, ApprovalRequested)
        assert receiver.deliveries[0].told["data"]["pending"] == [
            {"request_id": request.request_id, "kind": "approval", "title": request.title}
        ]
        assert "whole secret plan" not in receiver.deliveries[0].body

    async def test_a_session_is_told_of_from_its_question_to_its_end(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(asking, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            session = await engine.start(asking)
            await came(receiver, 1)
            await session.answer("that one")
            await came(receiver, 2)
        assert receiver.types == ["session.waiting", "session.completed"]
        assert "that one" not in receiver.deliveries[1].body

    async def test_a_failure_is_told_without_secrets(self, tmp_path: Path, clock: ManualClock) -> None:
        async with (
            memory_engine(failing, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock, Redactor(["Some title"])),
        ):
            await (await engine.start(failing, title="Some title")).settled()
            await came(receiver, 1)
        told = receiver.deliveries[0].told
        assert (told["type"], told["data"]["reason"]) == ("session.failed", "It broke: [redacted]")
        assert told["data"]["title"] == "[redacted]"

    @pytest.mark.parametrize("how", ["cancelled", "expired"])
    async def test_other_ends_are_told_too(self, how: str, tmp_path: Path, clock: ManualClock) -> None:
        timeout = 2.0 if how == "expired" else 0.0
        async with (
            memory_engine(asking, clock=clock, session_timeout=timeout) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            session = await engine.start(asking)
            await session.settled()
            if how == "cancelled":
                await session.cancel()
            await until(lambda: f"session.{how}" in receiver.types)

    async def test_a_session_that_waits_for_a_time_or_was_paused_by_a_person_needs_nobody(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(sleeping, finishing, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            session = await engine.start(sleeping)
            await session.settled()
            await session.pause()
            await (await engine.start(finishing)).settled()
            await came(receiver, 1)
        assert receiver.types == ["session.completed"]

    async def test_a_session_that_holds_because_something_is_missing_needs_somebody(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with home_engine(tmp_path, asking, drives="none", clock=clock) as engine:
            session_id = (await engine.start(asking)).id
        async with (
            home_engine(tmp_path, clock=clock, drives="none") as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
            home_engine(tmp_path, clock=clock) as other,
        ):
            await reached(Session(other, session_id), Status.PAUSED)
            await came(receiver, 1)
        told = receiver.deliveries[0].told
        assert (told["type"], told["data"]["status"]) == ("session.waiting", "paused")
        assert "asking" in told["data"]["reason"]

    async def test_the_past_stays_untold(self, tmp_path: Path, clock: ManualClock) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            await (await engine.start(finishing)).settled()
            async with telling(engine, receiver, tmp_path, clock):
                new = await engine.start(finishing)
                await came(receiver, 1)
        assert [delivery.told["data"]["session_id"] for delivery in receiver.deliveries] == [new.id]

    async def test_a_fork_does_not_tell_its_ancestors_story(self, tmp_path: Path, clock: ManualClock) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            session = await engine.start(finishing)
            await session.settled()
            async with telling(engine, receiver, tmp_path, clock):
                await engine.fork(Fork(session_id=session.id))
                new = await engine.start(finishing)
                await came(receiver, 1)
        assert [delivery.told["data"]["session_id"] for delivery in receiver.deliveries] == [new.id]


class TestTrouble:
    async def test_a_receiver_that_fails_is_tried_again_with_the_same_id(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving(500, 503, 204) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            await engine.start(finishing)
            await tried(tmp_path, 2)
            clock.advance(TRIES_AFTER[1])
            await came(receiver, 3)
            await until(lambda: left_in(tmp_path) == [])
        assert len({delivery.id for delivery in receiver.deliveries}) == 1
        assert len({delivery.body for delivery in receiver.deliveries}) == 1
        assert all(delivery.is_signed() for delivery in receiver.deliveries)
        receiver.deliveries[1].verify()

    async def test_after_the_last_attempt_it_is_given_up_and_the_next_is_told(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        with capture_logs() as lines:
            async with (
                memory_engine(asking, clock=clock) as engine,
                receiving(500) as receiver,
                telling(engine, receiver, tmp_path, clock),
            ):
                session = await engine.start(asking)
                for attempt, delay in enumerate(TRIES_AFTER, 1):
                    await tried(tmp_path, attempt)
                    clock.advance(delay)
                await until(lambda: left_in(tmp_path) == [])
                receiver.statuses = [204]
                await session.answer("x")
                await until(lambda: receiver.types[-1] == "session.completed")
        assert receiver.types == ["session.waiting"] * (len(TRIES_AFTER) + 1) + ["session.completed"]
        (given_up,) = [line for line in lines if line["event"] == "webhook given up"]
        assert given_up["session_id"] == session.id
        assert given_up["problem"] == "The receiver answered 500."

    async def test_a_receiver_that_hangs_is_left_after_a_while(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving(HANGS, 204) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            await engine.start(finishing)
            await came(receiver, 1)
            clock.advance(10)
            await came(receiver, 2)
        assert receiver.deliveries[0].id == receiver.deliveries[1].id

    async def test_a_receiver_that_is_not_there_gets_it_when_it_is(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with receiving() as gone:
            pass
        async with (
            memory_engine(finishing, clock=clock) as engine,
            telling(engine, gone, tmp_path, clock),
        ):
            await engine.start(finishing)
            await tried(tmp_path, 1)
            async with receiving(port=gone.port) as receiver:
                await came(receiver, 1)
        receiver.deliveries[0].verify()

    async def test_a_redirect_is_not_followed(self, tmp_path: Path, clock: ManualClock) -> None:
        async with receiving() as elsewhere:
            location = f"Location: {elsewhere.url}\r\n"
            async with (
                memory_engine(finishing, clock=clock) as engine,
                receiving(307, head=location) as receiver,
                telling(engine, receiver, tmp_path, clock),
            ):
                await engine.start(finishing)
                await tried(tmp_path, 1)
        assert elsewhere.deliveries == []

    async def test_a_receiver_whom_nobody_vouches_for_is_told_nothing(
        self, tmp_path: Path, clock: ManualClock, certificate: Path
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving(tls=context) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            await engine.start(finishing)
            await tried(tmp_path, 1)
        assert receiver.deliveries == []

    async def test_a_slow_receiver_keeps_neither_sessions_nor_their_news_waiting(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving(HANGS) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            sessions = [await engine.start(finishing) for _ in range(20)]
            assert [(await one.settled()).status for one in sessions] == [Status.COMPLETED] * 20
            await until(lambda: receiver.at_once == 8)
            await turns()
        assert receiver.most_at_once == 8

    async def test_a_question_that_was_answered_meanwhile_is_not_asked_any_more(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(asking, clock=clock) as engine,
            receiving(500, 204) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            session = await engine.start(asking)
            await tried(tmp_path, 1)
            await session.answer("x")
            await came(receiver, 2)
        assert receiver.types == ["session.waiting", "session.completed"]

    async def test_a_session_that_was_removed_is_not_told_of(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving(500, 204) as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            await engine.start(finishing)
            await tried(tmp_path, 1)
            await engine.prune(keep=0)
            await until(lambda: left_in(tmp_path) == [])
        assert len(receiver.deliveries) == 1

    async def test_a_log_that_is_damaged_keeps_no_other_from_being_told(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        class Damaged(Reader):
            async def records(self, session_id: Any) -> Any:
                if session_id == bad.id:
                    raise CorruptLog(session_id, 1, "gone")
                return await super().records(session_id)

        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            to = receiver_of(receiver.url, SecretStr(SECRET))
            async with sending_webhooks(Damaged(engine), to, tmp_path, "", Redactor(), clock):
                await until((tmp_path / "webhooks.json").exists)
                bad = await engine.start(finishing)
                good = await engine.start(finishing)
                await came(receiver, 1)
        assert receiver.deliveries[0].told["data"]["session_id"] == good.id


class TestRestart:
    async def test_what_happened_while_nobody_told_is_told_later(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            async with telling(engine, receiver, tmp_path, clock):
                pass
            session = await engine.start(finishing)
            await session.settled()
            async with telling(engine, receiver, tmp_path, clock):
                await came(receiver, 1)
        assert receiver.deliveries[0].told["data"]["session_id"] == session.id

    async def test_what_arrived_is_not_told_again(self, tmp_path: Path, clock: ManualClock) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            for _ in range(2):
                async with telling(engine, receiver, tmp_path, clock):
                    before = len(receiver.deliveries)
                    await engine.start(finishing)
                    await came(receiver, before + 1)
                    await until(lambda: left_in(tmp_path) == [])
        assert len(receiver.deliveries) == 2

    async def test_attempts_are_remembered(self, tmp_path: Path, clock: ManualClock) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving(500) as receiver:
            async with telling(engine, receiver, tmp_path, clock):
                await engine.start(finishing)
                await tried(tmp_path, 2)
            async with telling(engine, receiver, tmp_path, clock):
                await turns()
                clock.advance(TRIES_AFTER[1])
                await tried(tmp_path, 3)
        assert len(receiver.deliveries) == 3

    async def test_of_two_processes_one_tells_and_the_other_takes_over(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with memory_engine(finishing, clock=clock) as engine, receiving() as receiver:
            first = Outbox(tmp_path / "webhooks.json")
            assert first.hold()
            assert first.read() is False
            await first.save()
            async with telling(engine, receiver, tmp_path, clock):
                await (await engine.start(finishing)).settled()
                clock.advance(10)
                await turns()
                assert receiver.deliveries == []
                first.release()
                await came(receiver, 1)

    async def test_a_file_that_cannot_be_read_is_said_and_begun_anew(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        (tmp_path / "webhooks.json").write_text('{"place": "many"')
        with capture_logs() as lines:
            async with (
                memory_engine(finishing, clock=clock) as engine,
                receiving() as receiver,
                telling(engine, receiver, tmp_path, clock),
            ):
                await until(lambda: "left" in (tmp_path / "webhooks.json").read_text())
                await engine.start(finishing)
                await came(receiver, 1)
        assert [line["event"] for line in lines] == ["outbox cannot be read; what was left in it is lost"]


class TestKill:
    def started(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "tests.api.webhook_driver", *arguments]
        return subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)

    async def settled(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), _KILL_PATIENCE)
        assert line == "settled\n"

    def kill(self, process: "subprocess.Popen[str]") -> None:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()

    async def test_a_kill_between_event_and_delivery_loses_nothing(self, tmp_path: Path) -> None:
        async with receiving() as receiver, asyncio.timeout(_KILL_PATIENCE):
            process = self.started(str(tmp_path), receiver.url, "silent")
            await self.settled(process)
            self.kill(process)
            assert receiver.deliveries == []
            process = self.started(str(tmp_path), receiver.url)
            while not receiver.deliveries:
                await asyncio.sleep(0.01)
            self.kill(process)
        told = receiver.deliveries[0].verify()
        assert (told["type"], told["data"]["title"]) == ("session.waiting", "Which one")

    async def test_a_kill_while_the_receiver_thinks_tells_it_again_under_the_same_id(
        self, tmp_path: Path
    ) -> None:
        async with receiving(HANGS, 204) as receiver, asyncio.timeout(_KILL_PATIENCE):
            for count in (1, 2):
                process = self.started(str(tmp_path), receiver.url)
                while len(receiver.deliveries) < count:
                    await asyncio.sleep(0.01)
                self.kill(process)
        first, second = receiver.deliveries
        assert first.id == second.id
        assert first.verify() == second.verify()


class TestSignature:
    @pytest.mark.parametrize("change", ["body", "id", "timestamp", "secret"])
    async def test_whatever_is_changed_on_the_way_is_noticed(
        self, change: str, tmp_path: Path, clock: ManualClock
    ) -> None:
        async with (
            memory_engine(finishing, clock=clock) as engine,
            receiving() as receiver,
            telling(engine, receiver, tmp_path, clock),
        ):
            await engine.start(finishing)
            await came(receiver, 1)
        delivery = receiver.deliveries[0]
        delivery.verify()
        headers, body, secret = dict(delivery.headers), delivery.body, SECRET
        match change:
            case "body":
                body = body.replace("completed", "failed")
            case "id":
                headers["webhook-id"] += "1"
            case "timestamp":
                headers["webhook-timestamp"] = str(int(headers["webhook-timestamp"]) + 1)
            case _:
                secret = "whsec_" + "B" * 44
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, headers)


class TestSettings:
    def test_without_settings_nobody_is_told(self) -> None:
        assert receiver_of(None, None) is None
        assert receiver_of("", SecretStr("")) is None

    @pytest.mark.parametrize(
        ("url", "secret"),
        [
            pytest.param("http://x", None, id="no secret"),
            pytest.param(None, SECRET, id="no address"),
            pytest.param("ftp://x", SECRET, id="no web address"),
            pytest.param("x", SECRET, id="no address at all"),
            pytest.param("http://", SECRET, id="no host"),
            pytest.param("http://[::1", SECRET, id="broken address"),
            pytest.param("http://x", SECRET.removeprefix("whsec_"), id="no prefix"),
            pytest.param("http://x", "whsec_c2hvcnQ=", id="short"),
            pytest.param("http://x", "whsec_!" + "A" * 43, id="no base64"),
        ],
    )
    def test_what_cannot_work_is_refused_at_the_start(self, url: str | None, secret: str | None) -> None:
        with pytest.raises(ConfigurationError) as raised:
            receiver_of(url, SecretStr(secret) if secret else None)
        assert SECRET not in raised.value.detail

    def test_the_key_is_not_shown(self) -> None:
        assert "Webhook" not in repr(receiver_of("http://x", SecretStr(SECRET)))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody has signed."""
    file = tmp_path_factory.mktemp("tls") / "receiver.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*command, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file
