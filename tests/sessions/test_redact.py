"""Secrets are taken out wherever they stand; nothing else is touched."""

import base64
import hashlib
import json
import uuid
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic_core import from_json, to_json

from belayer.sessions.redact import MARK, Redactor
from belayer.vocabulary.events.catalog import from_data, to_data
from belayer.vocabulary.events.event import StepStatus
from belayer.vocabulary.events.steps import StepChanged
from tests.support.records import beginning

SECRET = 'pa/ss+wo"rd ü\n1234'
GITHUB = "ghp_" + "a1B2" * 9
SHAPES = {
    "a GitHub token": GITHUB,
    "a fine-grained GitHub token": "github_pat_" + "a1B2_" * 14,
    "a GitLab token": "glpat-" + "a1B2-" * 5,
    "an AWS key": "AKIA" + "ABCD" * 4,
    "an Anthropic key": "sk-ant-" + "a1B2" * 10,
    "an OpenAI key": "sk-proj-" + "a1B2" * 10,
    "a Slack token": "xoxb-" + "1234567890-" * 3 + "abc",
    "a Google key": "AIza" + "a1B2c" * 7,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
}

FORMS = {
    "plain": SECRET,
    "JSON-escaped": json.dumps(SECRET)[1:-1],
    "JSON-escaped without ASCII": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "URL-encoded": quote(SECRET, safe=""),
    "URL-encoded with pluses": quote_plus(SECRET),
    "hexadecimal": SECRET.encode().hex(),
    "capital hexadecimal": SECRET.encode().hex().upper(),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "URL-safe base64": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "base64 with a newline after it": base64.b64encode(SECRET.encode() + b"\n").decode(),
    "base64 of basic authentication": base64.b64encode(b"user:" + SECRET.encode()).decode(),
    "base64 behind one letter": base64.b64encode(b"x" + SECRET.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_known_value_is_redacted_in_whatever_form_it_comes(form: str) -> None:
    # Of a value that shares its first or last base64 letter with its neighbour, what stays says nothing.
    assert FORMS[form][4:-8] not in Redactor([SECRET]).text(f"before {FORMS[form]} after")


@pytest.mark.parametrize("form", [form for form in FORMS if "JSON" not in form])
def test_a_known_value_is_redacted_in_data_in_whatever_form_it_comes(form: str) -> None:
    clean = from_json(Redactor([SECRET]).data(to_json({"text": f"before {FORMS[form]} after"})))
    assert FORMS[form][4:-8] not in clean["text"]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_has_the_shape_of_a_secret_is_redacted(shape: str) -> None:
    assert Redactor().text(f"before {SHAPES[shape]} after") == f"before {MARK} after"


@pytest.mark.parametrize("before", ["", " ", "=", ":", '"', "'", "\n", "\t", "\r\n", "\\", "/", "token="])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_has_the_shape_of_a_secret_is_redacted_in_data(shape: str, before: str) -> None:
    clean = from_json(Redactor().data(to_json({"text": f"x{before} {before}{SHAPES[shape]}\n"})))
    assert clean["text"] == f"x{before} {before}{MARK}\n"


def test_every_secret_of_a_text_is_redacted() -> None:
    text = f"{GITHUB} and {GITHUB}, then hunter2hunter2"
    assert Redactor(["hunter2hunter2"]).text(text) == f"{MARK} and {MARK}, then {MARK}"


def test_of_two_secrets_one_inside_the_other_nothing_stays() -> None:
    assert Redactor(["abcdefgh", "abcdefghijklmnop"]).text("abcdefghijklmnop") == MARK


def test_a_value_too_short_to_be_told_from_a_word_is_left() -> None:
    assert Redactor(["main"]).text("the main branch") == "the main branch"


@pytest.mark.parametrize(
    "text",
    [
        hashlib.sha256(b"x").hexdigest(),
        hashlib.sha1(b"x").hexdigest(),
        str(uuid.UUID(int=2**127)),
        "019b76da-a800-7000-a10a-a19db08fedd1",
        "def task_skip(sk_id): return sk_id - 1",
        "risk-assessment-for-the-next-quarter-of-the-year",
        "task-management-system-with-many-words-in-it",
        "highlight ghost ghp ghp_short gho_x",
        "AKIAshort, AKIA lower case akia1234567890123456",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "https://example.com/a?b=c&d=%20e",
        "import asyncio; asyncio.run(main())",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
        "xoxo, with love",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor(["hunter2hunter2"]).text(text) == text


@given(st.text())
def test_text_without_secrets_is_left_alone(text: str) -> None:
    assume("hunter2" not in text)
    assert Redactor(["hunter2hunter2"]).text(text) == text


@given(st.text(), st.text())
def test_a_secret_is_found_between_any_two_texts(before: str, after: str) -> None:
    assert "hunter2" not in Redactor(["hunter2hunter2"]).text(f"{before}hunter2hunter2{after}")


@given(st.text(), st.text())
def test_redacted_data_is_still_json(before: str, after: str) -> None:
    data = to_json({"text": f"{before}{SECRET}{after}", "list": [SECRET, {SECRET: SECRET}]})
    assert SECRET not in str(from_json(Redactor([SECRET]).data(data)))


def test_data_without_secrets_is_the_same_bytes() -> None:
    data = to_json({"text": "nothing here"})
    assert Redactor([SECRET]).data(data) == data


@pytest.mark.parametrize("secret", ["12345678", "87654321.5", "20260101"])
def test_a_secret_that_is_a_number_does_not_make_an_event_unreadable(secret: str) -> None:
    step = StepChanged(
        key="k", name="act", status=StepStatus.COMPLETED, output=[12345678, 87654321.5, 20260101]
    )
    clean = Redactor([secret]).data(to_data(step))
    assert from_data("s", 1, "step", 1, clean)


@pytest.mark.parametrize("secret", ["workflow", "completed", '"status":', 'begun":{"workflow', 'true,"a"'])
def test_a_secret_that_is_one_of_our_own_words_does_not_make_an_event_unreadable(secret: str) -> None:
    clean = Redactor([secret]).data(to_data(beginning("a title")))
    assert from_data("s", 1, "session", 1, clean)


def test_no_secret_is_needed() -> None:
    assert Redactor([]).text("text") == "text"


def test_an_empty_secret_redacts_nothing() -> None:
    assert Redactor(["", " "]).text("a b") == "a b"
