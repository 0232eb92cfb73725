"""E-mail handed to a real SMTP server on loopback: with TLS and login, and to ones that refuse, break off and lie."""

import asyncio
import hashlib
import re
import ssl
from dataclasses import replace
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any, cast

import pytest
from aiosmtpd.smtp import SMTP
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from belayer.execution.policy import Call, offer_for, rule_on
from belayer.sessions.redact import Redactor
from belayer.tools import smtp as module
from belayer.tools.letter import Letter, Sender, mail_address, message_id_for, sealed_letter
from belayer.tools.mail import email
from belayer.tools.smtp import Relay, relay_of
from belayer.tools.tool import Tool
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ConfigurationError,
    HoldsSecret,
    OutcomeUnknown,
    OutsideWorkspace,
    PathMissing,
    TooLarge,
    TransientError,
)
from belayer.vocabulary.events.event import Effect, Json, Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.rules import Risk, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace, Workspaces
from tests.support.engines import settings
from tests.support.mail_server import (
    PASSWORD,
    USER,
    MailServer,
    certificate_for,
    hang_up_on,
    served_with,
    speaking,
    taking_mail,
    trusting,
)

ADA, BOB, EVE = "ada@example.test", "bob@example.test", "eve@other.test"
LETTER: dict[str, Json] = {"to": [ADA], "subject": "The rope", "text": "Hold it.\nTight.\n"}
SENDER = "Bot <bot@belayer.test>"
START = b"220 x\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate_for(tmp_path_factory.mktemp("tls"), "localhost")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "work").mkdir()
    return Workspaces(tmp_path / "home").of(tmp_path / "work")


def relay_at(url: str, sender: str = SENDER) -> Relay:
    relay = relay_of(SecretStr(url), sender)
    assert relay is not None
    return relay


def plain(port: int) -> Relay:
    return relay_at(f"smtp://127.0.0.1:{port}")


async def send(
    relay: Relay | None,
    workspace: Workspace | None = None,
    tls: ssl.SSLContext | None = None,
    redactor: Redactor | None = None,
    **changes: Json,
) -> dict[str, Any]:
    tool = email(relay, redactor or Redactor(), clock=ManualClock(), tls=tls)
    assert tool.execute is not None
    letter = tool.read({**LETTER, **changes})
    return cast("dict[str, Any]", await tool.execute(letter, cast("Workspace", workspace)))


async def failure(expected: type[BelayerError], *args: Any, **kwargs: Any) -> BelayerError:
    with pytest.raises(expected) as raised:
        await send(*args, **kwargs)
    assert type(raised.value) is expected
    assert raised.value.hint
    assert PASSWORD not in str(raised.value.problem())
    return raised.value


class TestDelivery:
    async def test_a_message_arrives_as_it_was_written(self) -> None:
        async with taking_mail(MailServer()) as server:
            told = await send(plain(server.port), subject="Grünes Seil 🧗", text="Ärger\n.\n..x\nEnde")
        (mail,) = server.received
        message = mail.message
        assert (mail.sender, mail.recipients) == ("bot@belayer.test", [ADA])
        assert (message["From"], message["To"]) == (SENDER, ADA)
        assert message["Subject"] == "Grünes Seil 🧗"
        assert message.get_content().replace("\r\n", "\n") == "Ärger\n.\n..x\nEnde\n"
        assert message["Date"] == "Thu, 01 Jan 2026 00:00:00 +0000"
        assert told == {
            "message_id": message["Message-ID"],
            "accepted": [ADA],
            "refused": [],
            "answer": "Queued as 1",
        }

    async def test_everybody_gets_it_once_and_a_blind_copy_is_not_seen(self) -> None:
        async with taking_mail(MailServer()) as server:
            told = await send(
                plain(server.port), to=[ADA, "ada@EXAMPLE.test"], cc=[BOB], bcc=[EVE, BOB], reply_to=BOB
            )
        (mail,) = server.received
        assert mail.recipients == told["accepted"] == [ADA, BOB, EVE]
        assert (mail.message["Cc"], mail.message["Reply-To"]) == (BOB, BOB)
        assert EVE.encode() not in mail.content
        assert b"bcc" not in mail.content.lower()

    async def test_html_and_files_come_along(self, workspace: Workspace) -> None:
        binary = bytes(range(256)) * 10
        workspace.root.write("out/a.png", binary)
        workspace.root.write("grün.csv", b"a,b\n1,2\n")
        async with taking_mail(MailServer()) as server:
            await send(
                plain(server.port),
                workspace,
                html="<p>Hold <b>it</b>.</p>",
                attachments=["out/a.png", "grün.csv"],
            )
        message = server.received[0].message
        files = {part.get_filename(): part for part in message.iter_attachments()}
        assert files["a.png"].get_payload(decode=True) == binary
        assert files["a.png"].get_content_type() == "image/png"
        assert files["grün.csv"].get_payload(decode=True) == b"a,b\n1,2\n"
        body = message.get_body(("html",))
        assert body is not None
        assert body.get_content().strip() == "<p>Hold <b>it</b>.</p>"

    def test_a_message_has_the_same_id_at_each_attempt_at_its_step(self) -> None:
        first, again, other = (
            message_id_for(key, Sender("bot@belayer.test")) for key in ("s:0:m", "s:0:m", "s:1:m")
        )
        assert first == again != other
        assert re.fullmatch(r"<belayer\.[0-9a-f]{32}@belayer\.test>", first)


class TestTls:
    async def test_mail_goes_over_starttls_after_a_login(self, certificate: Path) -> None:
        async with taking_mail(MailServer(), starttls=served_with(certificate), auth=True) as server:
            relay = relay_at(f"smtp://{USER}:{PASSWORD}@localhost:{server.port}")
            await send(relay, tls=trusting(certificate))
        (mail,) = server.received
        assert (mail.encrypted, mail.user) == (True, USER)

    async def test_mail_goes_over_tls_from_the_start(self, certificate: Path) -> None:
        async with taking_mail(MailServer(), tls=served_with(certificate), auth=True) as server:
            relay = relay_at(f"smtps://{USER}:{PASSWORD}@localhost:{server.port}")
            await send(relay, tls=trusting(certificate))
        assert [mail.user for mail in server.received] == [USER]

    async def test_a_wrong_password_is_a_matter_of_access(self, certificate: Path) -> None:
        async with taking_mail(MailServer(), starttls=served_with(certificate), auth=True) as server:
            relay = relay_at(f"smtp://{USER}:not-{PASSWORD}@localhost:{server.port}")
            await failure(AccessDenied, relay, tls=trusting(certificate))

    @pytest.mark.parametrize("scheme", ["smtp", "smtps"])
    async def test_a_server_that_nobody_vouches_for_gets_no_password(
        self, certificate: Path, scheme: str
    ) -> None:
        context = served_with(certificate)
        starttls, tls = (context, None) if scheme == "smtp" else (None, context)
        async with taking_mail(MailServer(), auth=True, starttls=starttls, tls=tls) as server:
            url = f"{scheme}://{USER}:{PASSWORD}@localhost:{server.port}"
            error = await failure(ConfigurationError, relay_at(url))
            assert "cannot be trusted" in error.detail
            other_name = relay_at(url.replace("localhost", "127.0.0.1"))
            await failure(ConfigurationError, other_name, tls=trusting(certificate))
        assert server.received == []

    async def test_a_server_that_takes_starttls_away_gets_no_password(self) -> None:
        async with speaking(START, b"250-x\r\n250 AUTH PLAIN LOGIN\r\n", b"221 bye\r\n") as port:
            error = await failure(ConfigurationError, relay_at(f"smtp://{USER}:{PASSWORD}@localhost:{port}"))
        assert "STARTTLS" in error.detail


class TestRefusals:
    async def test_a_refused_recipient_is_told_and_the_others_get_it(self) -> None:
        refuses = {BOB: "550 5.1.1 No such\x1b[31m user", EVE: "451 Greylisted"}
        async with taking_mail(MailServer(refuses=refuses)) as server:
            told = await send(plain(server.port), to=[ADA, BOB], cc=[EVE])
        assert told["accepted"] == [ADA]
        assert [(each["address"], each["code"]) for each in told["refused"]] == [(BOB, 550), (EVE, 451)]
        assert "No such[31m user" in told["refused"][0]["reason"]
        assert server.received[0].recipients == [ADA]

    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            (("550 no", "550 no"), ConfigurationError),
            (("550 no", "450 later"), TransientError),
            (("452 full", "452 full"), TransientError),
        ],
    )
    async def test_nothing_is_sent_if_nobody_is_taken(
        self, answers: tuple[str, str], expected: type[BelayerError]
    ) -> None:
        async with taking_mail(MailServer(refuses=dict(zip((ADA, BOB), answers, strict=True)))) as server:
            error = await failure(expected, plain(server.port), to=[ADA, BOB])
        assert ADA in error.detail
        assert BOB in error.detail
        assert server.read == 0

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [("421 busy", TransientError), ("451 later", TransientError), ("553 not you", ConfigurationError)],
    )
    async def test_a_sender_that_is_not_taken_is_told(
        self, answer: str, expected: type[BelayerError]
    ) -> None:
        async with taking_mail(MailServer(sender_answer=answer)) as server:
            await failure(expected, plain(server.port))
        assert server.read == 0

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            *(("451 try later", TransientError), ("421 closing", TransientError)),
            *(("554 spam", ConfigurationError), ("552 too large", ConfigurationError)),
        ],
    )
    async def test_a_message_that_the_server_has_read_and_refused_was_not_sent(
        self, answer: str, expected: type[BelayerError]
    ) -> None:
        async with taking_mail(MailServer(after=answer)) as server:
            await failure(expected, plain(server.port))
        assert (server.read, server.received) == (1, [])


class TestDoubt:
    async def test_a_server_that_hangs_up_after_the_message_leaves_doubt(self) -> None:
        async def hang_up(session: SMTP) -> str:
            hang_up_on(session)
            return "250 nobody hears this"

        async with taking_mail(MailServer(after=hang_up)) as server:
            await failure(OutcomeUnknown, plain(server.port))
        assert server.read == 1

    async def test_a_server_that_hangs_up_in_the_middle_of_the_message_leaves_doubt(self) -> None:
        lines = (START, b"250 x\r\n", b"250 OK\r\n", b"250 OK\r\n", b"354 go\r\n")
        async with speaking(*lines) as port:
            await failure(OutcomeUnknown, plain(port), text="x\n" * 100_000)

    async def test_a_server_that_never_says_whether_it_took_it_leaves_doubt(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_FOR_THE_MESSAGE", 0.05)

        async def think(_session: SMTP) -> str:
            await asyncio.Event().wait()
            return ""

        async with taking_mail(MailServer(after=think)) as server:
            await failure(OutcomeUnknown, plain(server.port))

    @pytest.mark.parametrize(
        "lines",
        [
            (b"554 no mail here\r\n",),
            (b"421 busy\r\n",),
            (b"HTTP/1.1 400 Bad Request\r\n",),
            (START,),
            (START, b"250 x\r\n"),
            (START, b"250 x\r\n", b"250 OK\r\n"),
        ],
    )
    async def test_whatever_breaks_before_the_message_leaves_no_doubt(self, lines: tuple[bytes, ...]) -> None:
        async with speaking(*lines) as port:
            with pytest.raises((TransientError, ConfigurationError)):
                await send(plain(port))

    async def test_a_silent_server_is_given_up_without_doubt(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_BEFORE_THE_MESSAGE", 0.05)

        async with speaking(b"", START) as port:
            await failure(TransientError, plain(port))

    async def test_nobody_at_the_address_leaves_no_doubt(self) -> None:
        async with speaking(START) as port:
            pass
        await failure(TransientError, plain(port))


class TestSettings:
    @pytest.mark.parametrize(
        ("url", "place", "encryption"),
        [
            ("smtp://u:p@mail.test", ("mail.test", 587), "starttls"),
            ("smtp://mail.test:25", ("mail.test", 25), "starttls"),
            ("smtps://u:p@mail.test", ("mail.test", 465), "tls"),
            ("smtp://localhost", ("localhost", 25), "none"),
            ("smtp://[::1]:1025/", ("::1", 1025), "none"),
            ("smtp://u:p@localhost:25", ("localhost", 25), "starttls"),
            ("smtps://localhost", ("localhost", 465), "tls"),
        ],
    )
    def test_only_this_machine_is_spoken_to_in_the_clear(
        self, url: str, place: tuple[str, int], encryption: str
    ) -> None:
        relay = relay_at(url)
        assert ((relay.host, relay.port), relay.encryption) == (place, encryption)

    def test_a_password_is_read_as_a_url_has_it_and_not_shown(self) -> None:
        relay = relay_at("smtps://bot%40x.test:p%2Fw%3A%40d@mail.test")
        assert (relay.user, relay.password) == ("bot@x.test", "p/w:@d")
        assert "p/w" not in repr(relay)

    @pytest.mark.parametrize(
        "url",
        [
            *(
                "mail.test",
                "http://mail.test",
                "smtp://",
                "smtp://u:secret-word@",
                "smtp://u:secret-word@a b",
            ),
            *(
                "smtp://u@mail.test",
                "smtp://:secret-word@mail.test",
                "smtp://mail.test/x",
                "smtp://mail.test?x=1",
            ),
            *("smtp://mail.test:0", "smtp://mail.test:99999", "smtp://u:secret-word@127.1", "smtp://[::1"),
        ],
    )
    def test_an_address_that_is_none_is_told_without_its_password(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="BELAYER_SMTP_URL") as raised:
            relay_of(SecretStr(url), SENDER)
        assert "secret-word" not in str(raised.value.problem())

    @pytest.mark.parametrize(
        "sender", ["bot", "a@b@c", "Bot bot@x.test", "Bot\r\nX: y <bot@x.test>", "b@x.test, c@x.test"]
    )
    def test_a_sender_that_is_none_is_told(self, sender: str) -> None:
        with pytest.raises(ConfigurationError, match="BELAYER_MAIL_FROM"):
            relay_of(SecretStr("smtp://localhost"), sender)

    def test_one_setting_without_the_other_is_told(self) -> None:
        assert relay_of(None, None) is None
        for url, sender in ((SecretStr("smtp://localhost"), None), (None, SENDER)):
            with pytest.raises(ConfigurationError, match="both"):
                relay_of(url, sender)

    async def test_without_a_server_it_says_which_settings_it_misses(self, workspace: Workspace) -> None:
        error = await failure(ConfigurationError, None)
        assert "BELAYER_SMTP_URL" in (error.hint or "")
        tool = email(None, Redactor())
        assert tool.health is not None
        assert "BELAYER_SMTP_URL" in (await tool.health() or "")
        assert tool.preview is not None
        with pytest.raises(ConfigurationError):
            await tool.preview(tool.read(LETTER), workspace)


def tool() -> Tool[Letter]:
    return email(relay_at("smtp://localhost"), Redactor(["hunter2-hunter2"]))


class TestLetters:
    @pytest.mark.parametrize(
        "address",
        [
            *(
                "ada",
                "@x.test",
                "ada@",
                "a b@x.test",
                "ada@x.test\r\nBcc: eve@x.test",
                "ada@x test",
                "a..b@x.test",
            ),
            *(
                "Ada <ada@x.test>",
                "ada@x.test,eve@x.test",
                "ada@[127.0.0.1]",
                "ada@1.2.3.4",
                "\u0430da@x.test",
            ),
            *(
                '"a b"@x.test',
                "ada@bücher.test",
                "a" * 65 + "@x.test",
                "a@" + "x." * 130 + "test",
                "ada@x.test>",
                "a\0@x.test",
            ),
        ],
    )
    def test_an_address_that_is_not_plain_is_refused(self, address: str) -> None:
        for name in ("to", "cc", "bcc"):
            with pytest.raises(ConfigurationError):
                tool().read({**LETTER, name: [address]})
        with pytest.raises(ConfigurationError):
            tool().read({**LETTER, "reply_to": address})

    @pytest.mark.parametrize(
        "wrong",
        [
            *(
                {"to": []},
                {"to": [ADA] * 51},
                {"subject": ""},
                {"subject": "a\nb"},
                {"subject": "a\rb"},
                {"text": ""},
            ),
            *(
                {"subject": "a\u2028b"},
                {"subject": "x" * 251},
                {"subject": "\u202etxt"},
                {"text": "a\x1b[2Jb"},
            ),
            *({"text": "a\u200bb"}, {"html": "a\u2066b"}, {"text": "\ud800"}, {"attachments": ["a\nb"]}),
            *({"attachments": ["a"] * 11}, {"headers": {"X": "y"}}, {"text": "x" * 500_001}, {"from": BOB}),
        ],
    )
    def test_what_could_not_be_sent_as_it_is_shown_is_refused(self, wrong: dict[str, Json]) -> None:
        with pytest.raises(ConfigurationError):
            tool().read({**LETTER, **wrong})

    def test_the_domains_of_all_recipients_are_what_it_reaches_and_it_is_asked_about(self) -> None:
        letter = tool().read({**LETTER, "cc": [EVE], "attachments": ["a.txt"]})
        reach = tool().reach(letter)
        assert (reach.hosts, reach.paths, reach.risk) == (
            ("example.test", "other.test"),
            ("a.txt",),
            Risk.MEDIUM,
        )
        assert tool().effect is Effect.EXTERNAL
        assert not tool().idempotent
        call = Call("email", tool().effect, reach)
        assert rule_on(call, ()).verdict is Verdict.ASK
        assert offer_for(call) is None

    @given(
        st.fixed_dictionaries(
            {
                "to": st.lists(st.one_of(st.text(), st.emails(), st.just(ADA)), min_size=1, max_size=3),
                "subject": st.text(),
                "text": st.text(min_size=1),
                "reply_to": st.one_of(st.none(), st.text(), st.emails()),
                "html": st.one_of(st.none(), st.text()),
            }
        )
    )
    def test_whatever_is_given_no_header_is_added_or_broken(self, given_: dict[str, Any]) -> None:
        try:
            letter = tool().read(given_)
        except ConfigurationError:
            return
        headers_are_ours(letter)

    @given(
        st.text(
            st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Zl", "Zp")), min_size=1, max_size=250
        ),
        st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co")), min_size=1, max_size=60),
    )
    def test_every_subject_and_file_name_that_is_taken_arrives_whole(self, subject: str, name: str) -> None:
        try:
            letter = tool().read({**LETTER, "subject": subject, "attachments": [name]})
        except ConfigurationError:
            return
        message = headers_are_ours(letter, {name: b"x"})
        assert " ".join(message["Subject"].split()) == " ".join(subject.split())


def headers_are_ours(letter: Letter, files: dict[str, bytes] | None = None) -> Any:
    """The message, once its head was found to hold the headers that were meant and nothing else."""
    sender = Sender("bot@belayer.test", "Bot")
    content = sealed_letter(letter, sender, files or {}, "<belayer.x@belayer.test>", ManualClock().now())
    head = content.partition(b"\r\n\r\n")[0]
    assert head.isascii()
    assert b"\n" not in head.replace(b"\r\n", b"")
    assert b"\r" not in head.replace(b"\r\n", b"")
    names = [line.partition(b":")[0] for line in head.split(b"\r\n") if not line.startswith((b" ", b"\t"))]
    known = {b"From", b"To", b"Cc", b"Reply-To", b"Subject", b"Date", b"Message-ID", b"MIME-Version"}
    assert set(names) <= known | {b"Content-Type", b"Content-Transfer-Encoding"}
    assert len(names) == len(set(names))
    return message_from_bytes(content, policy=policy.default)


class TestFilter:
    @pytest.mark.parametrize("place", ["subject", "text", "html"])
    async def test_a_secret_is_not_sent(self, place: str) -> None:
        async with taking_mail(MailServer()) as server:
            secret: dict[str, Json] = {place: "it is hunter2-hunter2!"}
            error = await failure(
                HoldsSecret, plain(server.port), redactor=Redactor(["hunter2-hunter2"]), **secret
            )
        assert "hunter2" not in str(error.problem())
        assert server.read == 0

    @pytest.mark.parametrize(
        "content",
        [
            b"x hunter2-hunter2 y",
            b"\xff\xfe hunter2-hunter2",
            b"aHVudGVyMi1odW50ZXIy",
            b"x" * 262_140 + b"hunter2-hunter2",
        ],
    )
    async def test_a_secret_in_a_file_is_not_sent(self, workspace: Workspace, content: bytes) -> None:
        workspace.root.write("a.env", content)
        async with taking_mail(MailServer()) as server:
            await failure(
                HoldsSecret,
                plain(server.port),
                workspace,
                redactor=Redactor(["hunter2-hunter2"]),
                attachments=["a.env"],
            )
        assert server.read == 0

    async def test_files_are_those_of_the_workspace_and_not_too_large(self, workspace: Workspace) -> None:
        relay = relay_at("smtp://localhost:1")
        await failure(PathMissing, relay, workspace, attachments=["nowhere.txt"])
        await failure(OutsideWorkspace, relay, workspace, attachments=["../home/x"])
        await failure(OutsideWorkspace, relay, workspace, attachments=["/etc/passwd"])
        workspace.root.write("a.bin", bytes(6_000_000))
        workspace.root.write("b.bin", bytes(6_000_000))
        await failure(TooLarge, relay, workspace, attachments=["a.bin", "b.bin"])


class TestApproval:
    async def test_what_is_shown_is_what_would_be_sent_and_stays_the_same(self, workspace: Workspace) -> None:
        workspace.root.write("a.txt", b"content")
        mailing = tool()
        assert mailing.preview is not None
        letter = mailing.read({**LETTER, "bcc": [EVE], "html": "<p>x", "attachments": ["a.txt"]})
        shown = await mailing.preview(letter, workspace)
        assert shown == {
            "from": SENDER,
            "to": [ADA],
            "bcc": [EVE],
            "subject": "The rope",
            "text": "Hold it.\nTight.\n",
            "html": "<p>x",
            "attachments": [
                {
                    "path": "a.txt",
                    "name": "a.txt",
                    "content_type": "text/plain",
                    "bytes": 7,
                    "sha256": hashlib.sha256(b"content").hexdigest(),
                }
            ],
        }
        assert await mailing.preview(letter, workspace) == shown

    async def test_it_is_sent_once_a_person_has_seen_it_and_said_yes(self, tmp_path: Path) -> None:
        async with taking_mail(MailServer()) as server:
            mailing = replace(email(plain(server.port), Redactor()), name="post")
            plan: Any = {"steps": [{"id": "mail", "tool": "post", "params": LETTER}]}
            async with open_engine(settings=settings(tmp_path / "home"), tools=[mailing]) as engine:
                session = engine.session(await engine.begin(Start(workflow="plan", input={"plan": plan})))
                state = await session.settled()
                assert state.status is Status.WAITING
                (request,) = state.pending.values()
                assert isinstance(request, ApprovalRequested)
                assert cast("Any", request.shown)["preview"]["text"] == LETTER["text"]
                assert request.risk is Risk.MEDIUM
                assert server.read == 0
                await session.approve()
                result = cast("Any", await session.result())
        (mail,) = server.received
        assert result["outputs"]["mail"]["message_id"] == mail.message["Message-ID"]

    async def test_a_letter_in_doubt_is_not_sent_again_unasked(self, tmp_path: Path) -> None:
        async def hang_up(session: SMTP) -> str:
            hang_up_on(session)
            return "250 nobody hears this"

        async with taking_mail(MailServer(after=hang_up)) as server:
            mailing = replace(email(plain(server.port), Redactor()), name="post")
            plan: Any = {"steps": [{"id": "mail", "tool": "post", "params": LETTER}]}
            async with open_engine(settings=settings(tmp_path / "home"), tools=[mailing]) as engine:
                session = engine.session(await engine.begin(Start(workflow="plan", input={"plan": plan})))
                await session.settled()
                await session.approve()
                state = await session.settled()
                assert state.status is Status.WAITING
                assert server.read == 1
                server.after = "250 OK"
                await session.answer("did not happen")
                await session.result()
        assert server.read == 2
        assert len({mail.message["Message-ID"] for mail in server.received}) == 1


@pytest.mark.parametrize(
    ("text", "address"),
    [("ada+x@x.test", "ada+x@x.test"), ("A.da@X.TEST", "A.da@x.test"), ("o'neil@localhost", None)],
)
def test_an_address_has_one_spelling(text: str, address: str | None) -> None:
    assert mail_address(text) == (address or text)
