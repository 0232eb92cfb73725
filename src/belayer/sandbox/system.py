"""What every confined program sees of the machine: its programs and libraries, and the least of its settings."""

import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# The settings that programs cannot do without, and that hold no secret. Never all of /etc: to the owner of the files
# there, which Belayer may be, /etc/shadow is a file like any other.
_SETTINGS = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version"),
    *(
        "fonts",
        "java",
        "java-*",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "ld-musl-*.path",
        "locale.alias",
    ),
    *("locale.conf", "localtime", "magic", "maven", "mime.types", "os-release", "perl", "pki/ca-trust"),
    *("pki/java", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "protocols", "python3*"),
    *("services", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "terminfo", "timezone"),
)
_LARGEST = 5_000_000
_PROGRAMS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix/store")

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What nothing may write, as in workspace/names.py: whoever writes there may run code outside, or change the rules.
PROTECTED = (".git", ".hg", ".svn", ".claude", ".codex", ".belayer")


def programs(root: Path = Path("/")) -> Iterator[Path]:
    """The folders of programs and libraries; some are links to others of them."""
    yield from (root / name for name in _PROGRAMS if (root / name).exists())


def settings(root: Path = Path("/")) -> Iterator[Path]:
    """The files and folders of settings that are there."""
    for pattern in _SETTINGS:
        yield from sorted((root / "etc").glob(pattern))


def copied(folder: Path, user: str, home: str) -> Path:
    """An /etc of our own: the settings that everyone may read, and ours for those that would tell about the host.

    One folder, because each thing that is mounted makes every start slower.
    """
    folder.mkdir(mode=0o755)
    for path in settings():
        _copy(path, folder / path.relative_to("/etc"))
    for name, text in (
        ("passwd", f"root:x:0:0:root:/:/bin/sh\nsandbox:x:{user}:{user}:sandbox:{home}:/bin/sh\n"),
        ("group", f"root:x:0:\nsandbox:x:{user}:\n"),
        ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ):
        (folder / name).write_text(text)
    return folder


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):
        found = source.lstat()
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(found.st_mode):
            target.symlink_to(source.readlink())
        elif not found.st_mode & stat.S_IROTH:
            return
        elif stat.S_ISDIR(found.st_mode):
            target.mkdir(exist_ok=True)
            for entry in source.iterdir():
                _copy(entry, target / entry.name)
        elif stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
            shutil.copyfile(source, target)
