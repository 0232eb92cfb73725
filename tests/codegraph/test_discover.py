"""Which files are source; hostile folders."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from belayer.codegraph import discover as discovering
from belayer.codegraph.discover import Files, Tree, discover


def found(folder: Path) -> Tree:
    return discover(folder, lambda name: name.endswith((".py", ".js", ".go")), lambda name: name == "go.mod")


def write(folder: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def test_sources_and_manifests_are_found_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, "b/z.py", "a.py", "b/a.js", "go.mod", "README.md")
    tree = found(tmp_path)
    assert list(tree.sources) == ["a.py", "b/a.js", "b/z.py"]
    assert list(tree.manifests) == ["go.mod"]
    assert not tree.skipped
    assert not tree.truncated


def test_vendored_generated_and_ignored_paths_are_left_out_and_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.py",
        "node_modules/x/i.js",
        "vendor/v.go",
        "env/lib/x.py",
        "env/pyvenv.cfg",
        "__pycache__/a.py",
    )
    write(tmp_path, "api_pb2.py", "lib.min.js", "out/gen.py", "local.py")
    write(tmp_path, ".gitignore", text="/out\nlocal.py\n")
    tree = found(tmp_path)
    assert list(tree.sources) == ["a.py"]
    assert tree.skipped == {"vendored": 3, "generated": 2, "minified": 1, "ignored": 2}


def test_build_output_is_told_by_what_stands_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        "java/pom.xml",
        "java/target/a.py",
        "python/target/a.py",
        "cs/x.csproj",
        "cs/obj/a.py",
        "bin/a.py",
    )
    assert list(found(tmp_path).sources) == ["bin/a.py", "python/target/a.py"]


def test_nested_ignore_files_hold_for_their_folder(tmp_path: Path) -> None:
    write(tmp_path, "a/x.py", "a/keep.py", "b/x.py")
    write(tmp_path, "a/.gitignore", text="*.py\n!keep.py\n")
    assert list(found(tmp_path).sources) == ["a/keep.py", "b/x.py"]


def test_what_git_keeps_although_it_is_ignored_is_source(tmp_path: Path) -> None:
    write(tmp_path, "lib/kept.py", "lib/other.py", "src/lib/x.py", "out/a.py", "kept.py", "not_kept.py")
    write(tmp_path, ".gitignore", text="lib/\nout/\n*kept.py\n")
    run = ["git", "-C", str(tmp_path)]
    subprocess.run([*run, "init", "-q"], check=True)
    subprocess.run([*run, "add", "-f", "lib/kept.py", "kept.py"], check=True)
    tree = found(tmp_path)
    assert list(tree.sources) == ["kept.py", "lib/kept.py"]
    assert tree.skipped["ignored"] == 4


def test_a_commits_files_are_source_whatever_an_ignore_file_says(tmp_path: Path) -> None:
    write(tmp_path, "lib/a.py")
    write(tmp_path, ".gitignore", text="lib/\n")
    tree = discover(tmp_path, lambda name: name.endswith(".py"), lambda _name: False, is_commit=True)
    assert list(tree.sources) == ["lib/a.py"]


def test_links_are_never_followed_neither_loops_nor_ways_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "secret.py")
    folder = tmp_path / "repository"
    write(folder, "a.py")
    (folder / "loop").symlink_to(folder)
    (folder / "out").symlink_to(outside)
    (folder / "secret.py").symlink_to(outside / "secret.py")
    tree = found(folder)
    assert list(tree.sources) == ["a.py"]
    assert tree.skipped["symlink"] == 3


def test_pipes_and_sockets_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.py"))
        tree = found(tmp_path)
    assert not tree.sources
    assert tree.skipped["special"] == 2


def test_a_huge_file_is_left_out(tmp_path: Path) -> None:
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(discovering.LARGEST + 1)
    assert found(tmp_path).skipped == {"huge": 1}


def test_odd_names_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "new\nline.py", "quote'\".py", "\u202egpj.py")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py"))).write_text("x")
    tree = found(tmp_path)
    assert set(tree.sources) == {"new\nline.py", "quote'\".py", "\u202egpj.py"}
    assert tree.skipped == {"odd name": 1}


def test_git_and_our_own_state_are_not_even_counted(tmp_path: Path) -> None:
    write(tmp_path, ".git/hooks/x.py", ".belayer/x.py", "a.py")
    tree = found(tmp_path)
    assert list(tree.sources) == ["a.py"]
    assert not tree.skipped


def test_a_folder_a_thousand_levels_deep_is_cut_and_said(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_000):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    write(tmp_path, "a.py")
    tree = found(tmp_path)
    subprocess.run(
        ["rm", "-rf", tmp_path / "d"], check=True
    )  # too deep for whoever tidies up after the tests
    assert list(tree.sources) == ["a.py"]
    assert tree.truncated


@pytest.mark.parametrize(("limit", "value"), [("MOST_FILES", 3), ("MOST_ENTRIES", 3), ("MOST_BYTES", 20)])
def test_limits_cut_the_same_files_every_time(tmp_path: Path, monkeypatch, limit: str, value: int) -> None:
    monkeypatch.setattr(discovering, limit, value)
    write(tmp_path, *(f"{number}/a.py" for number in range(9)))
    first, second = found(tmp_path), found(tmp_path)
    assert first.truncated
    assert len(first.sources) <= 3
    assert list(first.sources) == list(second.sources)


def test_a_folder_that_became_a_link_is_not_read_through(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.py", "repository/in/a.py")
    files = Files(tmp_path / "repository")
    assert files.read("in/a.py")[0] == b"x = 1\n"
    (tmp_path / "repository/in").rename(tmp_path / "repository/was")
    (tmp_path / "repository/in").symlink_to(tmp_path / "outside")
    other = Files(tmp_path / "repository")
    with pytest.raises(OSError, match="in"):
        other.read("in/a.py")
    files.close()
    other.close()
