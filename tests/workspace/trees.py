"""Trees of files to make, look at and compare."""

import os
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

Tree = dict[str, bytes]


def make(folder: Path, tree: Tree) -> None:
    for path, content in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@contextmanager
def dug(folder: Path, name: str, levels: int) -> Generator[int, None, None]:
    """Folders in folders; the lowest, open. They go again, since pytest cannot remove so many."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    try:
        yield here
    finally:
        os.close(here)
        subprocess.run(["rm", "-rf", str(folder / name)], check=True)


def age(folder: Path) -> None:
    """Make the files look as if nobody had touched them for long. Only ctime stays, which nobody can set."""
    for path in folder.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)


def held(folder: Path) -> dict[str, tuple[str, bool, bytes]]:
    """Every file and link: what it is, whether it can be run, what it holds."""
    found: dict[str, tuple[str, bool, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = ("link", False, os.fsencode(path.readlink()))
        elif stat.S_ISREG(mode):
            found[name] = ("file", bool(mode & 0o100), path.read_bytes())
        elif not stat.S_ISDIR(mode):
            found[name] = ("other", False, b"")
    return found


def git(folder: Path, *arguments: str) -> str:
    """Real git, with nobody's settings but its own."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    command = ["git", "-C", str(folder), "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def git_tree(folder: Path, beside: Path) -> str:
    """The tree that git makes of the folder, in a repository beside it."""
    git(folder, "init", "-q", "--bare", str(beside))
    work = [f"--git-dir={beside}", f"--work-tree={folder}"]
    git(folder, *work, "add", "-A", "-f")
    return git(folder, *work, "write-tree")
