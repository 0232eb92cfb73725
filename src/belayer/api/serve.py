"""Run the server until somebody stops it; those who watch are told to come back."""

import asyncio
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from belayer.api.app import make_app
from belayer.api.chat import stream_chat
from belayer.api.door import Door
from belayer.api.fanout import Fanout
from belayer.api.line import LineProtocol
from belayer.api.socket import stream_live
from belayer.api.webhooks import receiver_of, sending_webhooks
from belayer.engine import Engine
from belayer.sessions.redact import Redactor
from belayer.settings import Settings, secrets_in
from belayer.vocabulary.errors import ConfigurationError

_LARGEST_FRAME = 1_000_000
_SECONDS_BETWEEN_PINGS = 20.0
_WAITS_FOR_REQUESTS = 5
_MILLISECONDS_UNHEARD = 30_000


async def serve(engine: Engine, settings: Settings, token: str, ready: Callable[[str], None]) -> None:
    """Listen until cancelled; `ready` is called with the address once requests are taken."""
    receiver = receiver_of(settings.webhook_url, settings.webhook_secret)
    listening = _bound(settings.host, settings.port)
    host, port = _written(settings.host), listening.getsockname()[1]
    others = [name.strip() for name in settings.hosts.split(",") if name.strip()]
    app = make_app(engine, settings, Door.of(token, settings.host, port, others))
    sending = sending_webhooks(
        engine, receiver, settings.home, f"http://{host}:{port}", Redactor(secrets_in())
    )
    async with Fanout(engine) as fanout, sending:
        stream_live(app, fanout)
        stream_chat(app, fanout)
        server = _Server(_config(app), fanout, lambda: ready(f"http://{host}:{port}"))
        serving = asyncio.create_task(server.serve([listening]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws=LineProtocol,
        ws_max_size=_LARGEST_FRAME,
        ws_ping_interval=_SECONDS_BETWEEN_PINGS,
        ws_ping_timeout=_SECONDS_BETWEEN_PINGS,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_WAITS_FOR_REQUESTS,
    )


class _Server(uvicorn.Server):
    """uvicorn, but signals belong to whoever runs the loop, and who watches is told first that it stops."""

    def __init__(self, config: uvicorn.Config, fanout: Fanout, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._fanout = fanout
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._fanout.stop()
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux: who takes nothing for so long is gone, at any layer
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _MILLISECONDS_UNHEARD)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"The server cannot listen at {_written(host)}:{port}: {error.strerror or error}.",
            "Stop what uses the port, or choose another with BELAYER_PORT (and BELAYER_HOST).",
        ) from error
    return listening


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
