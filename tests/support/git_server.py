"""A real git server on loopback: `git http-backend` behind a small HTTP server, and what a client sent to it."""

import os
import ssl
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class GitServer:
    """What the server is, and has seen."""

    port: int
    scheme: str = "http"
    host: str = "127.0.0.1"
    paths: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    redirect_to: str | None = None
    moved: dict[str, str] = field(default_factory=dict)
    wants: str | None = None
    status: int | None = None
    silent: threading.Event | None = None

    def url(self, name: str) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/{name}"


@contextmanager
def git_server(folder: Path, certificate: Path | None = None) -> Generator[GitServer]:
    """Serve every repository below the folder for as long as the block lasts; with a certificate, as `localhost`."""
    seen = GitServer(0) if certificate is None else GitServer(0, "https", "localhost")

    class Backend(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is http.server's
            pass

        def _serve(self) -> None:
            path, _, query = self.path.partition("?")
            seen.paths.append(self.path)
            seen.authorizations.append(self.headers.get("Authorization", ""))
            moved = [there for begins, there in seen.moved.items() if path.startswith(begins)]
            if redirect_to := seen.redirect_to or next(iter(moved), None):
                self.send_response(302)
                self.send_header("Location", redirect_to)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if seen.silent is not None:
                seen.silent.wait()
                return
            if seen.status is not None or (seen.wants and self.headers.get("Authorization") != seen.wants):
                self.send_response(seen.status or 401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = self._chunks()
            given = {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            }
            answer = subprocess.run(
                ["git", "http-backend"], input=body, env=given, capture_output=True, check=True
            )
            head, _, content = answer.stdout.partition(b"\r\n\r\n")
            headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _chunks(self) -> bytes:
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        seen.port = server.server_address[1]
        if certificate is not None:
            server.socket = _secured(certificate).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            server.shutdown()
            thread.join()


def _secured(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def git(folder: Path, *args: str) -> str:
    """Run git as its user would, with a name to commit under; what it wrote."""
    named = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    environment = {"PATH": os.defpath, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *named, *args], cwd=folder, env=environment, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, str]) -> str:
    """Make a repository with one commit; the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    return commit(folder, files)


def commit(folder: Path, files: dict[str, str], message: str = "change") -> str:
    """Write files and commit them; the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
