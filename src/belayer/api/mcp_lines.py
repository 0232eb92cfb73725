"""Read an MCP client's lines so that reading can be cancelled; the SDK's own reader holds a thread until the end."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from belayer.vocabulary.errors import ConfigurationError, TooLarge

# A line cannot be answered before it has been read, so one that is longer ends the connection.
_LONGEST_LINE = 16_000_000


@asynccontextmanager
async def lines_of_stdin() -> AsyncGenerator[Any]:
    """The lines that come in for as long as the block lasts. Children find an empty stdin meanwhile."""
    stdin = _descriptor()
    own = os.dup(stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, stdin)
    os.close(nothing)
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    pipe = os.fdopen(own, "rb", buffering=0, closefd=False)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            yield _lines(reader)
        finally:
            transport.close()
    finally:
        os.set_blocking(own, True)
        os.dup2(own, stdin)
        os.close(own)


def _descriptor() -> int:
    """Where a client's lines can come from: a file or nothing at all cannot be waited for."""
    stdin = sys.stdin.fileno() if sys.stdin is not None else -1
    kind = os.fstat(stdin).st_mode if stdin >= 0 else 0
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or (stdin >= 0 and os.isatty(stdin)):
        return stdin
    raise ConfigurationError(
        "Standard input is neither a pipe nor a terminal, so no client can be served.",
        "Have an MCP client start `belayer mcp`; docs/mcp.md shows how.",
    )


async def _lines(reader: asyncio.StreamReader) -> AsyncGenerator[str]:
    while True:
        try:
            line = await reader.readline()
        except ValueError as error:
            raise TooLarge(
                f"The client sent a line of more than {_LONGEST_LINE:,} bytes. It is no longer served; sessions go on.",
                "Send less at once: keep large contents in files of the workspace.",
            ) from error
        if not line:
            return
        yield line.decode(errors="replace")
