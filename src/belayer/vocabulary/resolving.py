"""The addresses behind a host's name, as the system knows them; addresses.py says which may be dialled."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address

from belayer.vocabulary.addresses import Address

Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]


async def resolved(host: str, port: int) -> list[Address]:
    """The addresses that the system knows for a host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = [str(place[0]).partition("%")[0] for *_, place in found]
    return [ip_address(text) for text in dict.fromkeys(texts)]
