"""Traces are an extra: without a collector nothing listens, and without the packages it is said what to install."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from belayer.sessions.log import Log
from belayer.vocabulary.errors import ConfigurationError


@asynccontextmanager
async def tracing(log: Log, endpoint: str | None, tools: Collection[str]) -> AsyncGenerator[None]:
    """Send spans of what is committed to a collector, if there is one, for as long as the block lasts."""
    if not endpoint:
        yield
        return
    _check(endpoint)
    try:
        from belayer.runner.spans import Spans, exported_to  # noqa: PLC0415 - only who traces has the packages
    except ImportError as error:
        raise ConfigurationError(
            f"BELAYER_OTLP_ENDPOINT is set, but {error.name} is not installed, so there can be no traces.",
            "Install the extra: pip install 'belayer[telemetry]'. Or unset BELAYER_OTLP_ENDPOINT.",
        ) from error
    spans = Spans(exported_to(endpoint), tools)
    log.listen(spans.hear)
    try:
        yield
    finally:
        await asyncio.to_thread(spans.close)


def _check(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fits = False
    if not fits:
        raise ConfigurationError(
            f"BELAYER_OTLP_ENDPOINT ({endpoint!r}) is no http or https address.",
            "Give the collector's, like http://localhost:4318.",
        )
