"""What git's last words mean. Git says in text alone why it failed, so this is the one place that reads it. Pure.

The other side may have put words of its own among them: the worst they can do is to choose one of these sentences.
"""

import re

from belayer.vocabulary.errors import AccessDenied, BelayerError, FetchFailed, RepositoryMoved, TransientError

_SHOWN = 500
_TRY_LATER = "Try again later, and check that the host is up."
_TOKEN = (
    "Set GITHUB_TOKEN or GITLAB_TOKEN, or BELAYER_GIT_TOKENS=HOST=TOKEN for another host, where Belayer runs; check"
    " that it has not expired and may read this repository."
)
# The first that fits. What is said of the key of a host comes before what is said of ours.
_MEANINGS: tuple[tuple[str, type[BelayerError], str, str], ...] = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        FetchFailed,
        "the host shows another key than the one known of it: somebody may be in between, so nothing was fetched",
        "Ask who runs the host. If its key was changed, put the new one into known_hosts.",
    ),
    (
        "Host key verification failed",
        FetchFailed,
        "the host's key is not known, so nobody can tell whether it is the right host, and nothing was fetched",
        "Put its key into known_hosts of the user who runs Belayer (`ssh-keyscan -p PORT HOST`, once you have compared"
        " it with what the host's owner says), or into BELAYER_SSH_FOLDER.",
    ),
    (
        r"Permission denied \(|Too many authentication failures",
        AccessDenied,
        "the host takes none of our keys",
        "Give the user who runs Belayer a key without a passphrase (~/.ssh/id_ed25519, or in BELAYER_SSH_FOLDER), and"
        " add it to the repository.",
    ),
    (
        r"could not read (Username|Password)|Authentication failed|returned error: 40[13]|HTTP Basic: Access denied",
        AccessDenied,
        "the host does not let us read it: it wants a token, or does not take the one that there is",
        _TOKEN,
    ),
    (
        r"returned error: 30\d|unable to update url base from redirection",
        RepositoryMoved,
        "the host sends us on to another address, and that is not followed: nobody has checked it",
        "Open the address in a browser and give the one that it ends at.",
    ),
    (
        r"returned error: (429|5\d\d)",
        TransientError,
        "the host is busy or not well",
        _TRY_LATER,
    ),
    (
        r"not found|does not appear to be a git repository|returned error: 4\d\d|not a git repository",
        FetchFailed,
        "there is no repository at this address, or we are not let to see it",
        f"Check how it is spelled. {_TOKEN}",
    ),
    (
        r"[Cc]ould(n't| not) (connect|resolve)|Failed to connect|[Cc]onnection (timed out|refused|reset|closed)"
        r"|early EOF|unexpected disconnect|Empty reply|RPC failed|Recv failure|Network is unreachable|No route to host"
        r"|recv error|SSL_read|timed out",
        TransientError,
        "the host cannot be reached, or the connection broke off",
        _TRY_LATER,
    ),
    (
        r"certificate|gnutls|SSL|TLS",
        FetchFailed,
        "the host cannot be trusted: the secure connection failed, and nothing was fetched",
        "Check the address; the certificate may be expired, or of an authority that this machine does not know. Add a"
        " company's own authority to the machine's, or name its file in SSL_CERT_FILE.",
    ),
)
_ELSE = "Check the address, that the repository exists, and that Belayer may read it."


def meaning(command: str, last_words: str) -> BelayerError:
    """Our own error for a git that failed."""
    said = last_words[-_SHOWN:] or "nothing"
    for pattern, kind, what, hint in _MEANINGS:
        if re.search(pattern, last_words):
            return kind(f"git {command} failed: {what}. Git says: {said}", hint)
    return FetchFailed(f"git {command} failed. Git says: {said}", _ELSE)
