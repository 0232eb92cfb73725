"""Which paths there may be, which names are protected, and how names are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.errors import OutsideWorkspace
from belayer.workspace.names import (
    cleaned,
    folders_above,
    is_living,
    protected_part,
    shown,
    twin_key,
    visible,
)


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("a", b"a"),
        ("./a//b/", b"a/b"),
        (".", b""),
        ("a/./b", b"a/b"),
        ("m\udce9", b"m\xe9"),
        ("...", b"..."),
    ],
)
def test_a_path_loses_its_empty_parts(path: str, clean: bytes) -> None:
    assert cleaned(path) == clean


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/passwd", "..", "a/..", "d/..//../x", "a\0b", "x" * 4097, "\ud800", "//a"]
)
def test_a_path_that_could_lead_out_is_refused(path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        cleaned(path)


@given(st.text(max_size=50))
def test_a_path_is_refused_or_stays_below(path: str) -> None:
    try:
        clean = cleaned(path)
    except OutsideWorkspace:
        return
    assert not clean.startswith(b"/")
    assert not {b"..", b".", b"\0"} & set(clean.split(b"/"))


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git",
        ".g\u200cit",
        "\ufeff.git",
        ".gi\u202et",
        "\uff0e\uff47\uff49\uff54",
        ".\uff47it",
        ".hg",
        ".SVN",
        ".claude",
        ".Codex",
        ".belayer",
    ],
)
def test_a_protected_name_is_known_in_every_spelling(name: str) -> None:
    assert protected_part(f"a/{name}/b".encode()) == name.encode()


@pytest.mark.parametrize("name", ["git", ".gitignore", ".gitmodules", ".github", "x.git", "é", "m\udce9"])
def test_an_ordinary_name_is_not_protected(name: str) -> None:
    assert protected_part(name.encode("utf-8", "surrogateescape")) is None


def test_the_settings_of_agents_are_kept_in_snapshots_though_nobody_may_write_them() -> None:
    assert not is_living(b".claude")
    assert is_living(b".GIT")


@pytest.mark.parametrize(
    ("one", "other"), [("README", "readme"), ("m\u00e9", "me\u0301"), ("STRASSE", "straße")]
)
def test_names_that_are_one_on_some_disks_are_twins(one: str, other: str) -> None:
    assert twin_key(one.encode()) == twin_key(other.encode())


def test_names_that_differ_everywhere_are_no_twins() -> None:
    assert twin_key(b"a") != twin_key(b"b")


@given(st.binary(max_size=60))
def test_whatever_a_name_holds_it_is_shown_on_one_line_of_printable_text(name: bytes) -> None:
    assert shown(name).isprintable()
    visible(name).encode()


def test_a_name_that_is_not_utf_8_is_visible() -> None:
    assert visible(b"m\xe9") == "m\\xe9"


def test_the_folders_above_a_path_are_named_from_the_nearest() -> None:
    assert folders_above(b"a/b/c") == [b"a/b", b"a"]
