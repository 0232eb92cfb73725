"""Run the server until somebody stops it; those who watch are told to come back."""

from collections.abc import Callable

import uvicorn

from belayer.api.app import make_app
from belayer.api.door import Door
from belayer.engine import Engine
from belayer.settings import Settings

_LARGEST_FRAME = 1_000_000
_WAITS_FOR_REQUESTS = 5


async def serve(engine: Engine, settings: Settings, token: str, ready: Callable[[str], None]) -> None:
    """Listen; `ready` is called with the address once requests are taken."""
    others = [name.strip() for name in settings.hosts.split(",") if name.strip()]
    config = uvicorn.Config(
        "",
        host=settings.host,
        port=settings.port,
        ws="websockets-sansio",
        ws_max_size=_LARGEST_FRAME,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_WAITS_FOR_REQUESTS,
    )
    listening = config.bind_socket()
    port = listening.getsockname()[1]
    config.app = make_app(engine, settings, Door.of(token, settings.host, port, others))
    server = uvicorn.Server(config)
    ready(f"http://{settings.host}:{port}")
    await server.serve([listening])
