"""A real sshd on loopback that gives repositories to whoever has the key, and to nobody else."""

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin:/usr/local/sbin")


@dataclass(frozen=True)
class SshServer:
    """Where it listens, the key that it shows, and the key that opens it."""

    port: int
    host_key: Path
    user_key: Path

    def url(self, folder: Path) -> str:
        return f"ssh://{_user()}@localhost:{self.port}{folder}"

    def known(self, name: str = "localhost") -> str:
        """Its line in a file of known hosts."""
        kind, key, *_ = self.host_key.with_suffix(".pub").read_text().split()
        return f"[{name}]:{self.port} {kind} {key}\n"


@contextmanager
def ssh_server(folder: Path) -> Generator[SshServer]:
    """Listen for as long as the block lasts; keys and settings lie in the folder."""
    assert SSHD is not None
    folder.mkdir(mode=0o700, parents=True)
    server = SshServer(_free_port(), _key(folder / "host"), _key(folder / "user"))
    (folder / "authorized").write_text(server.user_key.with_suffix(".pub").read_text())
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1:{server.port}\nHostKey {server.host_key}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    command = [SSHD, "-D", "-e", "-f", folder / "config"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            _await_listening(process)
            yield server
        finally:
            process.terminate()


def _await_listening(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if b"Server listening" in line:
            return
    raise AssertionError("sshd did not start")


def _key(place: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", place]
    subprocess.run(command, check=True, capture_output=True)
    return place


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def _user() -> str:
    return subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
