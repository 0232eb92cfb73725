"""The survey that comes with Belayer says what is really there."""

import os
from pathlib import Path

import pytest

from belayer.cli.exits import Exit
from belayer.workflows.survey import Function, Language, Note, Survey, render
from tests.cli.stage import Cli


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small source tree with things to find and things to leave alone."""
    files = {
        "a.py": "def short():\n    pass\n\n\ndef long():\n    # TODO: make shorter\n    a = 1\n    return a\n",
        "lib/b.py": "class C:\n    async def m(self):\n        return 1  # FIXME\n",
        "README.md": "# Hi\n",
        "broken.py": "def (:\n",
        "null.py": "\0",
        "picture.png": "not text",
        ".hidden/c.py": "def hidden(): pass\n",
        ".venv/d.py": "def d(): pass\n",
        "node_modules/e.js": "x\n",
        "big.py": "x = 1\n" * 200_000,
    }
    root = tmp_path / "tree"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "loop").symlink_to(root)
    (root / os.fsdecode(b"\xff.py")).write_text("def nameless(): pass\n")
    return root


def test_a_survey_finds_what_is_there_and_leaves_the_rest(cli: Cli, tree: Path, tmp_path: Path) -> None:
    report = tmp_path / "out" / "report.md"
    asked = cli("run", "survey", "-i", f"folder={tree}", "-i", f"report={report}", "--json")
    assert asked.code == Exit.WAITING
    said = cli("answer", asked.json()["session_id"], "notes", "--json").json()
    result = said["result"]
    assert result["files"] == 5
    assert result["languages"][0]["name"] == "Python"
    assert [function["name"] for function in result["largest"]] == ["long", "short", "m"]
    assert result["notes"] == 2
    assert said["progress"]["percent"] == 100
    text = report.read_text()
    assert (
        text.index("## Open notes") < text.index("## Lines by language") < text.index("## Largest functions")
    )
    assert "TODO make shorter" in text
    assert report.with_suffix(".csv").read_text().splitlines()[1] == "README.md,Markdown,1"
    assert [path.name for path in report.parent.iterdir() if path.name.startswith(".")] == []


def test_a_survey_of_nothing_says_so(cli: Cli, tmp_path: Path) -> None:
    said = cli("run", "survey", "-i", f"folder={tmp_path / 'none'}")
    assert said.code == Exit.FAILED
    assert "is not a folder" in said.out


def test_a_huge_tree_is_cut(cli: Cli, tree: Path, tmp_path: Path) -> None:
    id_ = cli(
        "run",
        "survey",
        "-i",
        f"folder={tree}",
        "-i",
        f"report={tmp_path / 'r.md'}",
        "-i",
        "most_files=2",
        "--json",
    ).json()["session_id"]
    assert cli("answer", id_, "notes", "--json").json()["result"]["files"] == 2


def test_a_report_puts_the_chosen_part_first_and_keeps_to_the_count() -> None:
    functions = [Function(10 - n, f"f{n}", f"a.py:{n}") for n in range(5)]
    found = Survey([Language("Python", 1, 10)], functions, [Note("TODO a|b", "a.py:1")])
    text = render(found, Path("/x/tree"), "functions", 2)
    assert text.startswith("# Survey of tree\n\n## Largest functions")
    assert "`f1`" in text
    assert "`f2`" not in text
    assert "TODO a/b" in text
