"""Which addresses a repository may be fetched from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import UnfitRepository
from belayer.workspace.repo_url import read_repo_url

FIT = {
    "https://github.com/ada/engine": ("https", "github.com", 443, "engine"),
    "https://github.com/ada/engine.git": ("https", "github.com", 443, "engine"),
    "https://GitHub.com:8443/ada/engine/": ("https", "github.com", 8443, "engine"),
    "ssh://git@github.com/ada/engine.git": ("ssh", "github.com", 22, "engine"),
    "ssh://git@forge.corp:2222/ada/engine": ("ssh", "forge.corp", 2222, "engine"),
    "git@github.com:ada/engine.git": ("ssh", "github.com", 22, "engine"),
    "forge.corp:engine.git": ("ssh", "forge.corp", 22, "engine"),
    "/srv/git/engine": ("local", "", 0, "engine"),
    "/srv/with space/engine": ("local", "", 0, "engine"),
    "http://127.0.0.1:3000/ada/engine": ("http", "127.0.0.1", 3000, "engine"),
    "https://[::1]:3000/ada/engine": ("https", "::1", 3000, "engine"),
    "https://forge.corp/ada/engine/.git": ("https", "forge.corp", 443, "engine"),
    "/srv/git/engine/.git": ("local", "", 0, "engine"),
}
UNFIT = [
    "",
    " ",
    "ext::sh -c touch% /tmp/pwned",
    "fd::17",
    "file:///etc",
    "ftp://host/x",
    "git://host/x",
    "javascript:alert(1)//host/x://y",
    "--upload-pack=touch /tmp/pwned",
    "-oProxyCommand=id",
    "ssh://-oProxyCommand=id/x",
    "ssh://git@-oProxyCommand=id/x",
    "ssh://host/-x",
    "ssh://host/--upload-pack=id",
    "host:-x",
    "-host:x",
    "https://user:password@host/x",
    "https://token@host/x",
    "ssh://git:password@host/x",
    "https://",
    "https:///x",
    "https://host",
    "https://host/",
    "https://host/a/../../b",
    "https://host/%2e%2e/b",
    "https://host/x?y=z",
    "https://host/x#y",
    "https://ho st/x",
    "https://0x7f.1/x",
    "https://2130706433/x",
    "https://host:99999/x",
    "https://ho\nst/x",
    "https://host/x\x00",
    "https://host/\u202ex",
    "relative/path",
    "./relative",
    "../up",
    "~/home",
    "/srv/../etc",
    "x" * 3_000,
]


@pytest.mark.parametrize("written", FIT)
def test_a_plain_address_is_taken(written: str) -> None:
    url = read_repo_url(written)
    assert (url.kind, url.host, url.port, url.name) == FIT[written]


@pytest.mark.parametrize(
    ("written", "reaches", "known_as"),
    [
        ("https://forge.corp/x", "forge.corp", "[forge.corp]:443"),
        ("https://[::1]:8443/x", "[::1]:8443", "[::1]:8443"),
        ("ssh://git@forge.corp:2222/x", "forge.corp:2222", "[forge.corp]:2222"),
        ("git@forge.corp:x", "forge.corp", "forge.corp"),
        ("/srv/x", None, None),
    ],
)
def test_rules_and_known_hosts_see_the_port_unless_it_is_the_usual_one(
    written: str, reaches: str | None, known_as: str | None
) -> None:
    url = read_repo_url(written)
    assert url.reaches == reaches
    assert known_as is None or url.known_as == known_as


@pytest.mark.parametrize("written", UNFIT)
def test_an_address_that_could_mean_something_else_is_refused(written: str) -> None:
    with pytest.raises(UnfitRepository):
        read_repo_url(written)


def test_a_password_in_an_address_is_not_told_again() -> None:
    with pytest.raises(UnfitRepository) as refused:
        read_repo_url("https://ada:correct-horse@host/x")
    assert "correct-horse" not in f"{refused.value.detail} {refused.value.hint}"


def test_rules_see_the_port_only_where_it_is_not_the_usual_one() -> None:
    assert read_repo_url("https://github.com/a/b").reaches == "github.com"
    assert read_repo_url("https://github.com:8443/a/b").reaches == "github.com:8443"
    assert read_repo_url("/srv/git/engine").reaches is None


@given(
    st.text(max_size=60) | st.from_regex(r"[a-z+.-]{1,6}:{1,2}/{0,2}[-@:/a-z%.\[\]]{0,20}", fullmatch=True)
)
def test_whatever_is_taken_is_no_option_and_runs_no_helper(written: str) -> None:
    try:
        url = read_repo_url(written)
    except UnfitRepository:
        return
    assert not url.text.startswith("-")
    assert "::" not in url.text.partition("/")[0].partition("[")[0]
    assert url.text.startswith(("https://", "http://", "ssh://", "/")) or ":" in url.text
