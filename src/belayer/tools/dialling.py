"""Connections that go only where they may: the address that was checked is the address that is dialled.

So it does not matter how a host is spelled, where a redirect leads, or whether a name changes its mind meanwhile.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

import httpcore

from belayer.vocabulary.addresses import Address, Allowed
from belayer.vocabulary.errors import AddressBlocked, ConfigurationError, TransientError
from belayer.vocabulary.resolving import Resolver

# A host with more addresses than this has one that works among the first.
_MOST_TRIED = 3
_LONGEST = 30.0


class Dialler(httpcore.AsyncNetworkBackend):
    """Opens connections for an HTTP client, to public addresses and to those a person has allowed."""

    def __init__(self, allowed: Allowed, resolve: Resolver) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        patience = timeout or _LONGEST
        addresses = await self._addresses(host, port, patience)
        for address in addresses:
            self._check(host, address, port)
        *some, last = addresses[:_MOST_TRIED]
        share = patience / (len(some) + 1)
        for address in some:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._network.connect_tcp(
                    str(address), port, share, local_address, socket_options
                )
        return await self._network.connect_tcp(str(last), port, share, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002 - the signature is httpcore's
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        raise AddressBlocked(f"{path} is a socket of this machine, not a host of the internet.", "Use a URL.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int, patience: float) -> Sequence[Address]:
        try:
            async with asyncio.timeout(patience):
                addresses = await self._resolve(host, port)
        except UnicodeError as error:
            raise ConfigurationError(
                f"{host} cannot be the name of a host.", "Check how it is spelled."
            ) from error
        except (TimeoutError, OSError) as error:
            raise _not_found(host) from error
        if not addresses:
            raise _not_found(host)
        return addresses

    def _check(self, host: str, address: Address, port: int) -> None:
        if self._allowed.permits(host, address, port):
            return
        written = f"[{host}]" if ":" in host else host
        where = host if host == str(address) else f"{host} leads to {address}, which"
        raise AddressBlocked(
            f"{where} is inside the house, not on the internet. Nothing was sent to it.",
            f"If it may be reached, add {written}:{port} to the setting BELAYER_PRIVATE_HOSTS.",
        )


def _not_found(host: str) -> TransientError:
    return TransientError(
        f"No address was found for {host}: it does not exist, or names cannot be looked up now.",
        "Check how the host is spelled, and whether this machine is online.",
    )
