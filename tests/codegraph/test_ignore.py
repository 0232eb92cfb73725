"""What a .gitignore leaves out: the same as git says."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belayer.codegraph.ignore import Ignore, is_ignored


def ignored(text: str, path: str) -> bool:
    """As a walk would find out: whoever is in an ignored folder is never asked about."""
    rules = [("", Ignore(text.encode()))]
    parts = path.split("/")
    return any(
        is_ignored("/".join(parts[:end]), rules, folder=end < len(parts)) for end in range(1, len(parts) + 1)
    )


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        ("*.pyc", "a/b.pyc", True),
        ("*.pyc", "a/b.py", False),
        ("/build", "build/x.py", True),
        ("/build", "src/build/x.py", False),
        ("build/", "src/build/x.py", True),
        ("build/", "build", False),
        ("docs/*.py", "docs/a.py", True),
        ("docs/*.py", "docs/in/a.py", False),
        ("docs/**/a.py", "docs/x/y/a.py", True),
        ("docs/**/a.py", "docs/a.py", True),
        ("**/gen", "a/b/gen/x.py", True),
        ("gen/**", "gen/x.py", True),
        ("*.py\n!keep.py", "keep.py", False),
        ("gen/\n!gen/keep.py", "gen/keep.py", True),
        ("a[0-9].py", "a1.py", True),
        ("a[!0-9].py", "a1.py", False),
        ("a?.py", "ab.py", True),
        ("\\#a.py", "#a.py", True),
        ("# a.py", "a.py", False),
        ("a.py   ", "a.py", True),
        ("a.py\r", "a.py", True),
        ("a[", "a[", False),
        ("[z-a]", "b", False),
    ],
)
def test_a_pattern_means_what_git_means(text: str, path: str, wanted: bool) -> None:
    assert ignored(text, path) is wanted


def test_a_deeper_file_speaks_before_a_higher_one() -> None:
    rules = [("sub/", Ignore(b"!*.py")), ("", Ignore(b"*.py"))]
    assert not is_ignored("sub/a.py", rules, folder=False)
    assert is_ignored("a.py", rules[1:], folder=False)


def test_patterns_of_many_stars_and_many_lines_take_no_time() -> None:
    rules = Ignore(b"*a" * 200 + b"b\n" + b"\n".join(b"x%d*" % number for number in range(20_000)))
    assert rules.says("a" * 3_000, folder=False) is None
    assert rules.says("x77.py", folder=False) is True


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "[a-c]",
        "/",
        "/",
        "\\*",
        "*.py",
        "[[:alpha:]]",
        "x y",
        " ",
        "#",
        "!",
    ]
)
LINES = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["", "", "!", "/"]),
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
)
NAMES = st.sampled_from(["a", "b", "c", "ab", "a.py", "b.py", "x y", "*", "#", "!", "1"])


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    lines=st.lists(LINES, min_size=1, max_size=4),
    paths=st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join)),
)
def test_any_patterns_say_of_any_paths_what_git_says(
    tmp_path_factory, lines: list[str], paths: set[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    text = "\n".join(lines) + "\n"
    (folder / ".gitignore").write_text(text)
    files = [path for path in sorted(paths) if not any(other.startswith(path + "/") for other in paths)]
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    told = subprocess.run(
        ["git", "-C", folder, "check-ignore", "--stdin", "-z", "--no-index"],
        input="\0".join(files).encode(),
        capture_output=True,
        check=False,
    ).stdout.decode()
    assert {path for path in files if ignored(text, path)} == set(told.split("\0")) - {""}
