"""What git says in its own words is told in ours: what happened, and what to do."""

import pytest

from belayer.vocabulary.errors import AccessDenied, BelayerError, FetchFailed, RepositoryMoved, TransientError
from belayer.workspace.last_words import meaning

_ACCESS = "fatal: unable to access 'https://git.corp/x/': "


@pytest.mark.parametrize(
    ("said", "kind", "names"),
    [
        ("REMOTE HOST IDENTIFICATION HAS CHANGED! Host key verification failed.", FetchFailed, "who runs"),
        ("Host key verification failed.", FetchFailed, "ssh-keyscan"),
        ("git@git.corp: Permission denied (publickey).", AccessDenied, "BELAYER_SSH_FOLDER"),
        ("fatal: could not read Username for 'https://git.corp'", AccessDenied, "BELAYER_GIT_TOKENS"),
        ("fatal: Authentication failed for 'https://git.corp/x/'", AccessDenied, "BELAYER_GIT_TOKENS"),
        (f"{_ACCESS}The requested URL returned error: 403", AccessDenied, "BELAYER_GIT_TOKENS"),
        (f"{_ACCESS}The requested URL returned error: 301", RepositoryMoved, "browser"),
        (f"{_ACCESS}The requested URL returned error: 429", TransientError, "later"),
        (f"{_ACCESS}The requested URL returned error: 503", TransientError, "later"),
        ("fatal: repository 'https://git.corp/x/' not found", FetchFailed, "spelled"),
        ("fatal: '/x' does not appear to be a git repository", FetchFailed, "spelled"),
        (f"{_ACCESS}server certificate verification failed. CAfile: none CRLfile: none", FetchFailed, "SSL_CERT_FILE"),
        (f"{_ACCESS}SSL certificate problem: self-signed certificate", FetchFailed, "SSL_CERT_FILE"),
        (f"{_ACCESS}GnuTLS recv error (-110): The TLS connection was terminated.", TransientError, "later"),
        (f"{_ACCESS}Failed to connect to git.corp port 443: Couldn't connect to server", TransientError, "later"),
        ("ssh: connect to host 10.0.0.1 port 22: Connection timed out", TransientError, "later"),
        ("fatal: early EOF", TransientError, "later"),
    ],
)  # fmt: skip
def test_every_way_to_fail_has_its_kind_and_its_advice(
    said: str, kind: type[BelayerError], names: str
) -> None:
    error = meaning("fetch", said)
    assert type(error) is kind
    assert said in error.detail
    assert names in (error.hint or "")


def test_words_that_nobody_knows_are_passed_on() -> None:
    error = meaning("fetch", "fatal: the moon is in the wrong house")
    assert type(error) is FetchFailed
    assert "the moon is in the wrong house" in error.detail


def test_a_long_speech_is_cut() -> None:
    assert len(meaning("fetch", "x" * 100_000).detail) < 1_000
