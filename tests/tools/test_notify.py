"""Notifications to real receivers on loopback: a webhook whose signature is verified, a service that Apprise knows."""

import asyncio
import base64
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook

from belayer.execution.policy import Call, Reach, offer_for, rule_on
from belayer.sessions.redact import Redactor
from belayer.tools import notify as module
from belayer.tools.notify import Notice, _outcome, _Report, notify
from belayer.tools.targets import CHATS, Chat, Hook, secrets_of, targets_of
from belayer.tools.tool import Tool
from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.clock import ManualClock, SystemClock
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import (
    AccessDenied,
    AddressBlocked,
    BelayerError,
    ConfigurationError,
    HoldsSecret,
    OutcomeUnknown,
    RateLimited,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.rules import Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace
from tests.support.engines import settings
from tests.support.receiver import receiving
from tests.support.site import Answer, answer

KEY = "whsec_" + base64.b64encode(bytes(range(200, 232))).decode()
HERE = Allowed.of(["127.0.0.1"])


ATTEMPTS = """
import os, socket, subprocess
from belayer.vocabulary.addresses import Allowed
from belayer.tools.messenger import Seen, _watch
_watch(Seen(), Allowed())
for attempt in (
    lambda: subprocess.run(["/bin/true"]),
    lambda: os.system("true"),
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: os.fork(),
    lambda: socket.socket().connect(("127.0.0.1", 9)),
    lambda: socket.socket(socket.AF_UNIX).connect("/run/x"),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 514)),
):
    try:
        attempt()
    except PermissionError:
        print("stopped", flush=True)
"""


async def at_loopback(_host: str, _port: int) -> list[Address]:
    return [ip_address("127.0.0.1")]


def tool_for(lines: str, allowed: Allowed = HERE, **parts: Any) -> Tool[Notice]:
    return notify(targets_of(SecretStr(lines)), allowed, parts.pop("redactor", Redactor()), **parts)


async def tell(tool: Tool[Notice], target: str = "ops", **params: Json) -> dict[str, Any]:
    assert tool.execute is not None
    notice = tool.read({"target": target, "text": "The rope holds.", **params})
    return cast("dict[str, Any]", await tool.execute(notice, cast("Workspace", None)))


async def failure(expected: type[BelayerError], tool: Tool[Notice], *secrets: str) -> BelayerError:
    with pytest.raises(expected) as raised:
        await tell(tool)
    assert type(raised.value) is expected
    assert raised.value.hint
    told = f"{raised.value.problem()} {raised.value.__cause__}"
    assert not any(secret in told for secret in (KEY, "whsec_", "/secret-path", *secrets))
    return raised.value


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def keep_silent(_writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def hook_at(port: int, host: str = "127.0.0.1") -> str:
    return f"ops=webhook+http://{host}:{port}/secret-path#{KEY}"


class TestWebhooks:
    async def test_a_receiver_can_verify_who_sent_it(self) -> None:
        async with receiving() as receiver:
            tool = tool_for(hook_at(receiver.port), clock=SystemClock())
            told = await tell(tool, title="Grün", level="warning")
        (asked,) = receiver.asked
        head = asked.headers
        data = Webhook(KEY).verify(asked.body, head)
        assert data["type"] == "notification"
        assert data["data"] == {
            "target": "ops",
            "level": "warning",
            "title": "Grün",
            "text": "The rope holds.",
        }
        assert told == {"target": "ops", "delivered": True, "status": 200, "webhook_id": head["webhook-id"]}
        assert head["content-type"] == "application/json"

    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            *((500, TransientError), (503, TransientError), (429, RateLimited), (401, AccessDenied)),
            *((404, ConfigurationError), (302, ConfigurationError)),
        ],
    )
    async def test_an_answer_that_is_no_success_becomes_what_it_means(
        self, status: int, expected: type[BelayerError]
    ) -> None:
        async with receiving(answer("no", status, location="/x")) as receiver:
            await failure(expected, tool_for(hook_at(receiver.port)))
        assert len(receiver.asked) == 1

    async def test_a_receiver_that_breaks_off_is_told_again_with_the_same_id(self, tmp_path: Path) -> None:
        async with receiving(hang_up, answer("", 503)) as receiver:
            result, shown = await approved(tool_for(hook_at(receiver.port)), tmp_path)
        assert result["delivered"]
        assert len({asked.headers["webhook-id"] for asked in receiver.asked}) == 1
        assert len(receiver.asked) == 3
        assert shown == {"target": "ops", "kind": "webhook", "level": "info", "text": "The rope holds."}

    async def test_a_silent_receiver_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_HOOK_ANSWERS_WITHIN", 0.1)
        async with receiving(keep_silent) as receiver:
            await failure(TransientError, tool_for(hook_at(receiver.port)))

    async def test_nobody_at_the_address_is_told(self) -> None:
        async with receiving() as receiver:
            pass
        await failure(TransientError, tool_for(hook_at(receiver.port)))

    async def test_a_receiver_inside_the_house_is_not_told_unless_it_is_allowed(self) -> None:
        async with receiving() as receiver:
            line = hook_at(receiver.port, "public.test")
            await failure(AddressBlocked, tool_for(line, Allowed(), resolve=at_loopback))
            await failure(AddressBlocked, tool_for(hook_at(receiver.port), Allowed()))
            assert receiver.asked == []
            await tell(tool_for(line, Allowed.of([f"public.test:{receiver.port}"]), resolve=at_loopback))


async def approved(tool: Tool[Notice], home: Path) -> tuple[dict[str, Any], Json]:
    """What comes of a notification that a person approves, and what they saw."""
    params: dict[str, Json] = {"target": "ops", "text": "The rope holds."}
    plan: Any = {"steps": [{"id": "tell", "tool": "tell", "params": params}]}
    async with open_engine(settings=settings(home), tools=[replace(tool, name="tell")]) as engine:
        session = engine.session(await engine.begin(Start(workflow="plan", input={"plan": plan})))
        state = await session.settled()
        assert state.status is Status.WAITING
        (request,) = state.pending.values()
        assert isinstance(request, ApprovalRequested)
        await session.approve()
        result = cast("Any", await session.result())
    return result["outputs"]["tell"], cast("Any", request.shown)["preview"]


class TestChats:
    async def test_a_service_gets_the_message(self) -> None:
        async with receiving() as receiver:
            tool = tool_for(f"ops=json://user:pass-word@127.0.0.1:{receiver.port}/secret-path")
            told = await tell(tool, title="Grün", level="failure", text="a\nb <b> :smile: \\n ümläut")
        body = receiver.asked[0].json
        assert (body["title"], body["type"]) == ("Grün", "failure")
        assert body["message"] == "a\nb <b> :smile: \\n ümläut"
        assert told == {"target": "ops", "delivered": True, "status": 200}

    @pytest.mark.parametrize(
        ("given_answer", "expected"),
        [
            (answer("", 500), TransientError),
            (answer("", 302, location="http://127.0.0.1:1/"), ConfigurationError),
            (hang_up, OutcomeUnknown),
        ],
    )
    async def test_what_is_seen_on_the_wire_becomes_what_it_means(
        self, given_answer: Answer, expected: type[BelayerError]
    ) -> None:
        async with receiving(given_answer) as receiver:
            await failure(expected, tool_for(f"ops=json://127.0.0.1:{receiver.port}/secret-path"))
        assert len(receiver.asked) == 1

    @pytest.mark.parametrize(
        ("statuses", "expected"),
        [
            *(
                ((429,), RateLimited),
                ((403,), AccessDenied),
                ((404,), ConfigurationError),
                ((), TransientError),
            ),
            *(((503, 503), TransientError), ((200,), ConfigurationError), ((200, 500), OutcomeUnknown)),
        ],
    )
    def test_a_message_that_a_service_may_have_taken_in_part_is_in_doubt(
        self, statuses: tuple[int, ...], expected: type[BelayerError]
    ) -> None:
        report = _Report(understood=True, delivered=False, blocked=False, unanswered=False, statuses=statuses)
        with pytest.raises(expected):
            _outcome(Chat("ops", "json", "json://h.test"), report)
        with pytest.raises(OutcomeUnknown):
            _outcome(Chat("ops", "json", "json://h.test"), report.model_copy(update={"unanswered": True}))

    async def test_nobody_at_the_address_leaves_no_doubt(self) -> None:
        async with receiving() as receiver:
            pass
        await failure(TransientError, tool_for(f"ops=json://127.0.0.1:{receiver.port}/secret-path"))

    async def test_a_service_inside_the_house_is_not_told_unless_it_is_allowed(self) -> None:
        async with receiving() as receiver:
            line = f"ops=json://localhost:{receiver.port}/secret-path"
            await failure(AddressBlocked, tool_for(line, Allowed()))
            await failure(AddressBlocked, tool_for(line, Allowed.of(["10.0.0.0/8", "localhost:1"])))
            assert receiver.asked == []
            await tell(tool_for(line, Allowed.of([f"localhost:{receiver.port}", "[::1]:8080"])))

    async def test_a_service_that_never_answers_is_stopped_and_leaves_doubt(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_MESSENGER_MAY", replace(module._MESSENGER_MAY, wall_seconds=2.0))
        async with receiving(keep_silent) as receiver:
            await failure(
                OutcomeUnknown, tool_for(f"ops=json://127.0.0.1:{receiver.port}/secret-path?rto=60")
            )

    async def test_a_url_that_its_service_does_not_know_is_told_without_it(self) -> None:
        error = await failure(ConfigurationError, tool_for("ops=slack://only-one-secret-token"), "only-one")
        assert "ops" in error.detail

    def test_whatever_a_plugin_tries_it_starts_no_program_and_dials_nobody_in_the_house(self) -> None:
        """The schemes that would do so are not taken; should one come through, it gets nowhere."""
        ended = subprocess.run(
            [sys.executable, "-I", "-c", ATTEMPTS], capture_output=True, check=True, text=True
        )
        assert ended.stdout.split() == ["stopped"] * 8

    @pytest.mark.parametrize("url", ["syslog://", "dbus://", "windows://", "file:///etc/passwd", "gnome://"])
    async def test_what_is_not_on_the_list_is_not_a_target(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="no kind that is known"):
            targets_of(SecretStr(f"ops={url}"))


class TestTargets:
    def test_targets_have_names_and_keep_the_rest_to_themselves(self) -> None:
        targets = targets_of(
            SecretStr(
                f"\n# chat\nteam = slack://TokenA0123/TokenB4567/TokenC89/#x\nhook=webhook+https://h.test/y#{KEY}\n"
            )
        )
        team, hook = targets["team"], targets["hook"]
        assert isinstance(team, Chat)
        assert isinstance(hook, Hook)
        assert (team.kind, team.url) == ("slack", "slack://TokenA0123/TokenB4567/TokenC89/#x")
        assert str(hook.url) == "https://h.test/y"
        shown = repr(targets)
        assert not any(secret in shown for secret in ("TokenA", "h.test", KEY))
        assert targets_of(None) == {}

    @pytest.mark.parametrize(
        "line",
        [
            *(
                "slack://TokenA0123/b/c",
                "Team=slack://TokenA0123",
                "a b=slack://TokenA0123",
                "=slack://TokenA0123",
            ),
            *("x=TokenA0123", "x=mailto://TokenA0123", "x=exec://TokenA0123", "x=", "x=slack:TokenA0123"),
            *(
                "x=webhook+https://TokenA0123.test/",
                "x=webhook+https://h.test/#TokenA0123",
                "x=webhook+ftp://h.test/#x",
            ),
            *("x=webhook+https://h.test/#whsec_TokenA0123", "x=webhook+https://u:TokenA0123@h.test/#" + KEY),
            *(
                "x=json://TokenA0123\nx=json://b",
                "x" * 41 + "=json://TokenA0123",
                "x=webhook+https:///#" + KEY,
            ),
        ],
    )
    def test_a_line_that_is_not_right_is_told_without_its_secrets(self, line: str) -> None:
        with pytest.raises(ConfigurationError, match="BELAYER_NOTIFY_TARGETS") as raised:
            targets_of(SecretStr(line))
        told = str(raised.value.problem())
        assert "TokenA0123" not in told
        assert KEY not in told

    def test_what_is_secret_in_a_url_is_known_to_the_redactor(self) -> None:
        lines = (
            f"team=slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general\nhook=webhook+https://h.test/y#{KEY}\n"
            "self=gotify://user:pass-word-of-mine@push.test:12345/token-of-mine-1\nlocal=json://localhost:8080/notifications"
        )
        redactor = Redactor(secrets_of(SecretStr(lines)))
        for secret in (
            "TIiajkdnlazkcOXrIdevi7FQ",
            KEY.removeprefix("whsec_"),
            "pass-word-of-mine",
            "token-of-mine-1",
        ):
            assert secret not in redactor.text(f"x {secret} y")
        harmless = "see #general on h.test, push.test:12345, localhost:8080, in notifications"
        assert redactor.text(harmless) == harmless
        assert secrets_of(None) == []

    @given(st.text())
    def test_no_text_is_worse_than_refused(self, text: str) -> None:
        with suppress(ConfigurationError):
            targets_of(SecretStr(text))
        secrets_of(SecretStr(text))

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Apprise's own
    def test_the_services_on_the_list_are_known_to_apprise_and_run_nothing(self) -> None:
        import apprise

        known = {
            scheme
            for plugin in cast("Any", apprise.Apprise()).details()["schemas"]
            for scheme in (*(plugin["protocols"] or ()), *(plugin["secure_protocols"] or ()))
        }
        assert known >= CHATS
        assert not CHATS & {
            "macosx",
            "syslog",
            "rsyslog",
            "dbus",
            "qt",
            "kde",
            "glib",
            "gnome",
            "windows",
            "mailto",
        }


class TestNotices:
    @pytest.mark.parametrize(
        "wrong",
        [
            *({"text": ""}, {"text": "x" * 4001}, {"title": "a\nb"}, {"title": ""}, {"level": "panic"}),
            *({"text": "a\u202eb"}, {"text": "\x1b]52;c;x\x07"}, {"url": "json://evil.test"}, {"target": ""}),
        ],
    )
    def test_what_could_not_be_sent_as_it_is_shown_is_refused(self, wrong: dict[str, Json]) -> None:
        with pytest.raises(ConfigurationError):
            tool_for("ops=json://h.test").read({"target": "ops", "text": "x", **wrong})

    @pytest.mark.parametrize("target", ["other", "json://127.0.0.1:1/", "webhook+http://evil.test", "OPS"])
    async def test_only_a_name_that_a_person_gave_is_a_target(self, target: str) -> None:
        tool = tool_for("ops=json://h.test\nteam=json://h.test")
        for act in (tool.execute, tool.preview):
            assert act is not None
            with pytest.raises(ConfigurationError, match="no target") as raised:
                await act(tool.read({"target": target, "text": "x"}), cast("Workspace", None))
            assert "ops, team" in (raised.value.hint or "")

    async def test_a_secret_is_not_told(self) -> None:
        async with receiving() as receiver:
            for line in (hook_at(receiver.port), f"ops=json://127.0.0.1:{receiver.port}"):
                tool = tool_for(line, redactor=Redactor(["hunter2-hunter2"]))
                for params in ({"text": "hunter2-hunter2"}, {"title": "hunter2-hunter2"}):
                    with pytest.raises(HoldsSecret):
                        await tell(tool, **cast("Any", params))
        assert receiver.asked == []

    async def test_it_is_asked_about_and_a_target_can_be_allowed_by_its_name(self) -> None:
        tool = tool_for("ops=json://h.test")
        reach = tool.reach(tool.read({"target": "ops", "text": "x"}))
        call = Call("notify", tool.effect, reach)
        assert (tool.effect, tool.idempotent, reach) == (Effect.EXTERNAL, False, Reach(hosts=("ops",)))
        assert rule_on(call, ()).verdict is Verdict.ASK
        offer = offer_for(call)
        assert offer is not None
        assert rule_on(call, [offer]).verdict is Verdict.ALLOW
        other = Call("notify", tool.effect, Reach(hosts=("team",)))
        assert rule_on(other, [offer]).verdict is Verdict.ASK

    async def test_it_says_whom_it_can_tell_and_that_nobody_is_configured(self) -> None:
        assert tool_for("ops=json://h.test\nteam=json://h.test").about.endswith("Targets: ops, team.")
        tool = tool_for("")
        assert tool.health is not None
        assert "BELAYER_NOTIFY_TARGETS" in (await tool.health() or "")
        error = await failure(ConfigurationError, tool)
        assert "BELAYER_NOTIFY_TARGETS" in (error.hint or "")
        ready = tool_for("ops=json://h.test").health
        assert ready is not None
        assert await ready() is None


async def test_nothing_of_an_address_but_its_name_is_ever_on_record(tmp_path: Path) -> None:
    async with receiving(answer("", 404), answer("", 404)) as receiver:
        place = f"127.0.0.1:{receiver.port}/secret-path"
        lines = f"chat=json://user:pass-word-of-mine@{place}\nhook=webhook+http://{place}#{KEY}"
        plan: Any = {
            "steps": [
                {"id": name, "tool": "tell", "params": {"target": name, "text": "x"}, "optional": True}
                for name in ("chat", "hook")
            ]
        }
        tool = replace(tool_for(lines), name="tell")
        async with open_engine(settings=settings(tmp_path), tools=[tool]) as engine:
            session = engine.session(await engine.begin(Start(workflow="plan", input={"plan": plan})))
            while (await session.settled()).status is Status.WAITING:
                await session.approve()
            log = b"".join(await engine.events(session.id)).decode()
    assert len(receiver.asked) == 2
    assert log.count("ConfigurationError") >= 2
    assert not any(secret in log for secret in ("secret-path", "pass-word", "whsec_", f":{receiver.port}"))


async def test_a_webhook_is_dated_by_the_clock_it_is_given() -> None:
    clock = ManualClock(datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC))
    async with receiving() as receiver:
        await tell(tool_for(hook_at(receiver.port), clock=clock))
    assert receiver.asked[0].json["timestamp"] == "2026-05-04T03:02:01.000000Z"
    assert receiver.asked[0].headers["webhook-timestamp"] == str(int(clock.now().timestamp()))
