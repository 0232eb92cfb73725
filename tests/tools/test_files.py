"""Files through the tool: every action, every refusal, hostile paths, and an undo for all that was done."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.execution.act import Happened
from belayer.execution.policy import Reach
from belayer.tools import files, searching
from belayer.tools.tool import AnyTool
from belayer.vocabulary.errors import (
    BelayerError,
    ConfigurationError,
    LogicError,
    NotAFile,
    OutsideWorkspace,
    PathExists,
    PathMissing,
    ProtectedPath,
    TooLarge,
)
from belayer.vocabulary.rules import Risk, Rule, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace, Workspaces
from tests.workspace.trees import held, make

TOOLS = {tool.name.removeprefix("files."): tool for tool in files.TOOLS}


class Desk:
    """A folder with some files, one beside it with a secret, and the tools at work in the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.outside = folder / "outside"
        make(self.folder, {"a.txt": b"one\ntwo\ntwo\n", "docs/b.md": b"# B\n", "docs/deep/c.md": b"# C\n"})
        make(self.outside, {"secret": b"the secret"})
        self.workspace: Workspace = Workspaces(folder / "home").of(self.folder)

    def tool(self, action: str) -> AnyTool:
        return TOOLS[action]

    async def do(self, action: str, **params: Any) -> dict[str, Any]:
        tool = TOOLS[action]
        assert tool.execute is not None
        return await tool.execute(tool.read(params), self.workspace)  # pyright: ignore[reportReturnType]

    async def undo(self, action: str, output: Any, **params: Any) -> None:
        tool = TOOLS[action]
        assert tool.undo is not None
        await tool.undo(tool.read(params), output, self.workspace)

    async def probe(self, action: str, **params: Any) -> Any:
        tool = TOOLS[action]
        assert tool.probe is not None
        return await tool.probe(tool.read(params), self.workspace)

    async def preview(self, action: str, **params: Any) -> str:
        tool = TOOLS[action]
        assert tool.preview is not None
        return str(await tool.preview(tool.read(params), self.workspace))

    def held(self) -> dict[str, tuple[str, bool, bytes]]:
        return held(self.folder)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_a_file_is_read_with_its_lines_and_its_digest(desk: Desk) -> None:
    read = await desk.do("read", path="a.txt")
    assert (read["text"], read["lines"], read["bytes"], read["truncated"]) == (
        "one\ntwo\ntwo\n",
        3,
        12,
        False,
    )


@pytest.mark.parametrize(
    ("first", "most", "text", "truncated"),
    [
        (1, 1, "one\n", True),
        (2, None, "two\ntwo\n", True),
        (1, 3, "one\ntwo\ntwo\n", False),
        (9, 1, "", True),
    ],
)
async def test_some_lines_of_a_file_are_read(
    desk: Desk, first: int, most: int | None, text: str, truncated: bool
) -> None:
    read = await desk.do("read", path="a.txt", first_line=first, most_lines=most)
    assert (read["text"], read["truncated"]) == (text, truncated)


async def test_only_a_line_feed_ends_a_line(desk: Desk) -> None:
    content = "a\x0cb\u2028c\x85d\re\r\nlast"
    (desk.folder / "odd.txt").write_bytes(content.encode())
    assert (await desk.do("read", path="odd.txt"))["lines"] == 2
    assert (await desk.do("read", path="odd.txt", first_line=2))["text"] == "last"
    assert (await desk.do("search", text="last"))["matches"] == [
        {"path": "odd.txt", "line": 2, "text": "last"}
    ]


async def test_a_file_is_written_with_its_folders_and_its_rights_stay(desk: Desk) -> None:
    await desk.do("write", path="x/y/z.txt", content="ä\r\n")
    assert (desk.folder / "x/y/z.txt").read_bytes() == "ä\r\n".encode()
    (desk.folder / "a.txt").chmod(0o750)
    await desk.do("write", path="a.txt", content="new")
    assert (desk.folder / "a.txt").stat().st_mode & 0o777 == 0o750


async def test_one_occurrence_is_edited_or_all_of_them(desk: Desk) -> None:
    assert (await desk.do("edit", path="a.txt", old="one\n", new="1\n"))["replaced"] == 1
    assert (await desk.do("edit", path="a.txt", old="two", new="", all=True))["replaced"] == 2
    assert (desk.folder / "a.txt").read_bytes() == b"1\n\n\n"


async def test_a_folder_is_listed_as_deep_and_as_long_as_wanted(desk: Desk) -> None:
    def paths(listed: dict[str, Any]) -> list[str]:
        return [entry["path"] for entry in listed["entries"]]

    assert paths(await desk.do("list")) == ["a.txt", "docs"]
    assert paths(await desk.do("list", depth=9)) == [
        "a.txt",
        "docs",
        "docs/b.md",
        "docs/deep",
        "docs/deep/c.md",
    ]
    short = await desk.do("list", path="docs", most=1)
    assert (paths(short), short["truncated"]) == (["docs/b.md"], True)


async def test_a_text_is_found_as_it_stands_and_an_expression_as_it_means(desk: Desk) -> None:
    assert (await desk.do("search", text="^t.o"))["matches"] == []
    found = await desk.do("search", text="^t.o$", regex=True)
    assert [(hit["path"], hit["line"]) for hit in found["matches"]] == [("a.txt", 2), ("a.txt", 3)]
    assert [hit["path"] for hit in (await desk.do("search", text="#", path="docs/deep"))["matches"]] == [
        "docs/deep/c.md"
    ]


async def test_one_file_can_be_searched(desk: Desk) -> None:
    assert [hit["line"] for hit in (await desk.do("search", text="two", path="a.txt"))["matches"]] == [2, 3]


async def test_a_search_says_when_there_is_more(desk: Desk) -> None:
    assert (await desk.do("search", text="two", most=1))["truncated"] is True
    assert (await desk.do("search", text="two", most=2))["truncated"] is False


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}b", "(x+x+)+y", "(a?){500}a{500}"])
async def test_no_expression_takes_for_ever(desk: Desk, pattern: str) -> None:
    (desk.folder / "long.txt").write_text("a" * 50_000 + "!\n" + "x" * 50_000)
    assert (await desk.do("search", text=pattern, regex=True))["skipped"] == 0


async def test_what_is_no_text_or_too_large_is_skipped_and_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(desk.folder, {"binary": b"two\xff", "large.txt": b"two\n" * 500_001})
    (desk.folder / "link").symlink_to(desk.outside / "secret")
    found = await desk.do("search", text="two")
    assert ({hit["path"] for hit in found["matches"]}, found["skipped"]) == ({"a.txt"}, 2)
    assert (await desk.do("search", text="secret"))["matches"] == []
    monkeypatch.setattr(searching, "_MOST_SEARCHED", 5)
    assert (await desk.do("search", text="two"))["skipped"] == 4


async def test_a_search_goes_on_past_what_is_gone_since_it_was_listed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, read = desk.workspace.root, desk.workspace.root.read

    def read_or_lose(path: str) -> bytes:
        (desk.folder / "docs/b.md").unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(root, "read", read_or_lose)
    found = await desk.do("search", text="#")
    assert ([hit["path"] for hit in found["matches"]], found["skipped"]) == (["docs/deep/c.md"], 1)


async def test_what_re2_says_of_a_bad_expression_goes_to_whoever_asked_and_not_to_the_terminal(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigurationError, match="missing") as refused:
        await desk.do("search", text="(\x1b[31m", regex=True)
    assert "RE2" in (refused.value.hint or "")
    assert "\x1b" not in refused.value.detail
    assert capfd.readouterr().err == ""


REFUSALS: list[tuple[str, dict[str, Any], type[BelayerError], str]] = [
    ("read", {"path": "none"}, PathMissing, "does not exist"),
    ("read", {"path": "docs"}, NotAFile, "is a folder"),
    ("read", {"path": "a.txt/x"}, PathMissing, "is no folder"),
    ("read", {"path": "binary"}, NotAFile, "not a text file"),
    ("read", {"path": "huge"}, TooLarge, "larger than"),
    ("write", {"path": "docs", "content": ""}, NotAFile, "is a folder"),
    ("write", {"path": "a.txt", "content": "", "overwrite": False}, PathExists, "exists already"),
    ("write", {"path": "A.TXT", "content": ""}, LogicError, "one name"),
    ("write", {"path": "huge", "content": ""}, TooLarge, "Nothing was changed"),
    ("write", {"path": ".", "content": ""}, LogicError, "workspace itself"),
    ("write", {"path": "n" * 300, "content": ""}, LogicError, "too long"),
    ("edit", {"path": "a.txt", "old": "nine", "new": ""}, LogicError, "does not contain"),
    ("edit", {"path": "a.txt", "old": "two", "new": ""}, LogicError, "2 times"),
    ("edit", {"path": "none", "old": "x", "new": ""}, PathMissing, "does not exist"),
    ("edit", {"path": "binary", "old": "x", "new": ""}, NotAFile, "not a text file"),
    ("list", {"path": "none"}, PathMissing, "does not exist"),
    ("list", {"path": "a.txt"}, PathMissing, "is no folder"),
    ("search", {"path": "none", "text": "x"}, PathMissing, "does not exist"),
    ("search", {"text": "(?=x)", "regex": True}, ConfigurationError, "invalid perl operator"),
    ("search", {"text": "x{1001}", "regex": True}, ConfigurationError, "invalid repetition size"),
    ("move", {"source": "none", "target": "x"}, PathMissing, "does not exist"),
    ("move", {"source": "a.txt", "target": "docs/b.md"}, PathExists, "exists already"),
    ("move", {"source": "a.txt", "target": "docs", "overwrite": True}, NotAFile, "is a folder"),
    ("move", {"source": "docs", "target": "docs/deep/docs"}, LogicError, "into itself"),
    ("move", {"source": "a.txt", "target": "huge", "overwrite": True}, TooLarge, "Nothing was changed"),
    ("delete", {"path": "none"}, PathMissing, "does not exist"),
    ("delete", {"path": "docs"}, NotAFile, "is a folder"),
    ("delete", {"path": "huge"}, TooLarge, "Nothing was changed"),
    ("delete", {"path": ".", "folder": True}, LogicError, "workspace itself"),
    ("delete", {"path": "repository", "folder": True}, ProtectedPath, "other programs"),
]


@pytest.mark.parametrize(("action", "params", "kind", "says"), REFUSALS, ids=lambda one: str(one)[:40])
async def test_a_refusal_says_why_and_what_to_do_and_changes_nothing(
    desk: Desk, action: str, params: dict[str, Any], kind: type[BelayerError], says: str
) -> None:
    make(desk.folder, {"binary": b"\xff\xfe", "repository/.git/config": b"", "repository/x": b""})
    if "huge" in params.values():
        with (desk.folder / "huge").open("wb") as file:
            file.truncate(20_000_001)
    before = desk.held()
    with pytest.raises(kind) as refused:
        await desk.do(action, **params)
    assert says in refused.value.detail
    assert refused.value.hint
    assert desk.held() == before


def test_a_text_of_several_lines_is_not_looked_for_in_vain() -> None:
    with pytest.raises(ConfigurationError, match="text"):
        TOOLS["search"].read({"text": "one\ntwo"})


HOSTILE_PATHS = [
    "../outside/secret",
    "docs/../../outside/secret",
    "docs/..//../outside/secret",
    "/etc/passwd",
    "//etc/passwd",
    "out/secret",
    "link",
    "hard",
    "pipe",
    "socket",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/zero",
    ".git/config",
    ".GIT/config",
    ".git\u200b/hooks/x",
    "docs/.git",
    ".claude/settings.json",
    ".codex/x",
    ".belayer/x",
    "a\0b",
    "x" * 5000,
    "",
]


def arm(desk: Desk) -> list[socket.socket]:
    """Put everything there that a hostile repository could bring."""
    (desk.folder / "out").symlink_to(desk.outside)
    (desk.folder / "link").symlink_to(desk.outside / "secret")
    os.link(desk.outside / "secret", desk.folder / "hard")
    os.mkfifo(desk.folder / "pipe")
    make(desk.folder, {".git/config": b"[core]\n"})
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.relpath(desk.folder / "socket"))
    return [listening]


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=lambda path: ascii(path)[:30])
async def test_no_path_leads_out_or_into_what_is_protected(desk: Desk, path: str) -> None:
    held_open = arm(desk)
    before, outside = desk.held(), held(desk.outside)
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("write", {"path": path, "content": "x"}),
        ("write", {"path": path, "content": "x", "overwrite": False}),
        ("edit", {"path": path, "old": "the", "new": "x"}),
        ("move", {"source": "a.txt", "target": path, "overwrite": True}),
        ("move", {"source": "a.txt", "target": path + "/in"}),
    ]
    for action, params in attempts:
        with pytest.raises(BelayerError) as refused:
            await desk.do(action, **params)
        assert refused.value.hint
    assert desk.held() == before
    assert held(desk.outside) == outside
    for one in held_open:
        one.close()


@pytest.mark.parametrize("path", [path for path in HOSTILE_PATHS if "git" not in path.lower()], ids=ascii)
async def test_nothing_outside_is_read_listed_or_searched(desk: Desk, path: str) -> None:
    held_open = arm(desk)
    for action, params in (("read", {}), ("list", {}), ("search", {"text": "secret"})):
        try:
            said = str(await desk.do(action, path=path, **params))
        except BelayerError:
            continue
        assert path == "hard", f"{action} gave {said}"
    for one in held_open:
        one.close()


async def test_of_a_link_only_the_link_is_deleted_or_moved(desk: Desk) -> None:
    for one in arm(desk):
        one.close()
    await desk.do("move", source="out", target="elsewhere")
    await desk.do("delete", path="elsewhere", folder=True)
    await desk.do("delete", path="link")
    assert held(desk.outside) == {"secret": ("file", False, b"the secret")}


async def test_an_edit_cannot_grow_without_bounds(desk: Desk) -> None:
    (desk.folder / "long.txt").write_text("a" * 5_000_000)
    for attempt in (desk.do, desk.preview):
        with pytest.raises(TooLarge, match="Nothing was changed"):
            await attempt("edit", path="long.txt", old="a", new="b" * 5_000_000, all=True)


async def test_a_preview_shows_what_will_be_done(desk: Desk) -> None:
    assert (await desk.preview("write", path="new.txt", content="x\n")).splitlines() == [
        "--- /dev/null", "+++ new.txt", "@@ -0,0 +1 @@", "+x",
    ]  # fmt: skip
    assert (await desk.preview("edit", path="a.txt", old="one", new="1")).splitlines()[2:5] == [
        "@@ -1,3 +1,3 @@", "-one", "+1",
    ]  # fmt: skip


@pytest.mark.parametrize("old", ["nine", "two"])
async def test_a_preview_of_what_cannot_be_done_says_so(desk: Desk, old: str) -> None:
    with pytest.raises(LogicError, match="Nothing was changed"):
        await desk.preview("edit", path="a.txt", old=old, new="x")


async def test_what_is_no_text_can_be_overwritten_and_the_preview_tells_its_size(desk: Desk) -> None:
    (desk.folder / "binary").write_bytes(b"\xff" * 1234)
    assert "1,234 bytes" in await desk.preview("write", path="binary", content="text\n")
    await desk.do("write", path="binary", content="text\n")


async def test_a_long_preview_is_cut_and_says_so(desk: Desk) -> None:
    many = await desk.preview("write", path="new", content="line\n" * 3000)
    assert "more lines" in many.splitlines()[-1]
    assert "500 more characters" in await desk.preview("write", path="new", content="x" * 999)


async def test_a_preview_of_many_lines_leaves_out_what_stays(desk: Desk) -> None:
    lines = [f"{number}\n" for number in range(3000)]
    (desk.folder / "many").write_text("".join(lines))
    lines[1500] = "changed\n"
    shown = await desk.preview("write", path="many", content="".join(lines))
    assert shown.splitlines()[2:] == ["@@ -1501,1 +1501,1 @@", "-1500", "+changed"]


def test_a_call_reaches_its_paths_in_one_spelling() -> None:
    def reach(action: str, **params: Any) -> Reach:
        return TOOLS[action].reach(TOOLS[action].read(params))

    assert reach("read", path="./docs//b.md") == Reach(paths=("docs/b.md",))
    assert reach("write", path="docs/./x/../b.md", content="") == Reach(paths=("docs/b.md",))
    assert reach("move", source="a/", target="./b") == Reach(paths=("a", "b"))
    assert reach("list") == Reach(paths=(".",))
    assert reach("search", text="x") == Reach(paths=(".",))
    assert reach("delete", path="a") == Reach(paths=("a",))
    assert reach("delete", path="a/", folder=True) == Reach(paths=("a",), risk=Risk.HIGH, below=True)


CUT_OFF: list[tuple[str, dict[str, Any]]] = [
    ("write", {"path": "a.txt", "content": "new"}),
    ("edit", {"path": "a.txt", "old": "one", "new": "1"}),
    ("move", {"source": "docs/b.md", "target": "a.txt", "overwrite": True}),
    ("delete", {"path": "a.txt"}),
]


@pytest.mark.parametrize(("action", "params"), CUT_OFF, ids=[action for action, _ in CUT_OFF])
async def test_a_step_whose_end_was_only_found_out_is_not_undone_by_guessing(
    desk: Desk, action: str, params: dict[str, Any]
) -> None:
    """What was there before is not known then: to take it for nothing would be to lose it."""
    await desk.do(action, **params)
    found = await desk.probe(action, **params)
    assert isinstance(found, Happened)
    before = desk.held()
    for output in (found.output, None):
        with pytest.raises(LogicError) as refused:
            await desk.undo(action, output, **params)
        assert "Rewind" in (refused.value.hint or "")
    assert desk.held() == before


async def test_the_undo_of_a_move_does_not_write_over_what_has_come_since(desk: Desk) -> None:
    params = {"source": "docs/b.md", "target": "a.txt", "overwrite": True}
    output = await desk.do("move", **params)
    (desk.folder / "docs/b.md").write_text("somebody's new work")
    before = desk.held()
    with pytest.raises(PathExists):
        await desk.undo("move", output, **params)
    assert desk.held() == before


async def test_the_undo_of_a_deletion_says_what_it_could_not_bring_back(desk: Desk) -> None:
    (desk.folder / "docs/link").symlink_to("b.md")
    output = await desk.do("delete", path="docs", folder=True)
    with pytest.raises(LogicError, match="docs/link"):
        await desk.undo("delete", output, path="docs", folder=True)
    assert (desk.folder / "docs/b.md").read_bytes() == b"# B\n"


async def test_a_folder_of_more_than_can_be_kept_is_not_deleted(desk: Desk) -> None:
    make(desk.folder, {f"many/{number}": b"" for number in range(10_001)})
    with pytest.raises(TooLarge, match="Nothing was deleted"):
        await desk.do("delete", path="many", folder=True)
    assert len(list((desk.folder / "many").iterdir())) == 10_001


NAMES = st.sampled_from(["a", "b", "c", "d/a", "d/b", "d/e/f", "g/h"])
TEXTS = st.text("ab\n", max_size=6)
ACTS = st.one_of(
    st.builds(lambda path, content: ("write", {"path": path, "content": content}), NAMES, TEXTS),
    st.builds(
        lambda path, old, new: ("edit", {"path": path, "old": old, "new": new, "all": True}),
        NAMES,
        st.sampled_from(["a", "b", "ab"]),
        TEXTS,
    ),
    st.builds(
        lambda source, target, overwrite: (
            "move",
            {"source": source, "target": target, "overwrite": overwrite},
        ),
        NAMES | st.sampled_from(["d", "g"]),
        NAMES | st.sampled_from(["x", "y/z"]),
        st.booleans(),
    ),
    st.builds(
        lambda path, folder: ("delete", {"path": path, "folder": folder}),
        NAMES | st.sampled_from(["d", "d/e"]),
        st.booleans(),
    ),
)


@given(st.dictionaries(NAMES, TEXTS.map(str.encode), min_size=1), st.lists(ACTS, max_size=12))
@settings(max_examples=60)
def test_whatever_was_done_is_taken_back_by_undoing_it_from_the_last_to_the_first(
    tree: dict[str, bytes], acts: list[tuple[str, dict[str, Any]]]
) -> None:
    async def there_and_back(desk: Desk) -> None:
        for path in held(desk.folder):
            (desk.folder / path).unlink()
        make(desk.folder, tree)
        before, done = desk.held(), list[tuple[str, dict[str, Any], Any]]()
        for action, params in acts:
            state = desk.held()
            try:
                done.append((action, params, await desk.do(action, **params)))
            except BelayerError:
                assert desk.held() == state
        for action, params, output in reversed(done):
            await desk.undo(action, output, **params)
        assert desk.held() == before

    _in_a_folder(there_and_back)


def _in_a_folder(work: Callable[[Desk], Any]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(work(Desk(Path(folder))))


async def test_nothing_is_found_outside_by_its_error(desk: Desk) -> None:
    """What is there outside and what is not get the same answer."""
    said: set[str] = set()
    for name in ("secret", "nothing"):
        with pytest.raises(OutsideWorkspace) as refused:
            await desk.do("read", path=f"../outside/{name}")
        said.add(refused.value.detail.replace(name, "NAME"))
    assert len(said) == 1


async def test_a_search_skips_what_the_rules_do_not_let_it_read(tmp_path: Path) -> None:
    make(tmp_path / "work", {"a.txt": b"word", "secrets/b.txt": b"word", "c.env": b"word"})
    rules = [Rule(verdict=Verdict.DENY, path="secrets/**"), Rule(verdict=Verdict.ASK, path="*.env")]
    step: Any = {"id": "find", "tool": "files.search", "params": {"text": "word"}}
    async with open_engine(tmp_path / "home") as engine:
        session = await engine.carry_out({"steps": [step]}, workspace=tmp_path / "work", policy=rules)
        ended: Any = await session.result()
    found = ended["outputs"]["find"]
    assert ([hit["path"] for hit in found["matches"]], found["skipped"]) == (["a.txt"], 2)


async def test_a_program_that_was_deleted_comes_back_as_a_program(tmp_path: Path) -> None:
    make(tmp_path / "work", {"run.sh": b"#!/bin/sh"})
    (tmp_path / "work" / "run.sh").chmod(0o755)
    workspace = Workspaces(tmp_path / "home").of(tmp_path / "work")
    params = files.Delete(path="run.sh")
    await files.undo_delete(params, await files.delete(params, workspace), workspace)
    assert (tmp_path / "work" / "run.sh").stat().st_mode & 0o777 == 0o755
