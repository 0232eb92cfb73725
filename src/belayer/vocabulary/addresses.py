"""Which addresses may be dialled: everyone's, and those inside the house that a person has named. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self

from belayer.vocabulary.errors import ConfigurationError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# What the standard library calls global in one version or another, and is not a host of the internet (IANA registries).
_SPECIAL: tuple[Network, ...] = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "224.0.0.0/3",
        "2001::/23",
        "2002::/16",
        "3fff::/20",
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: the gateway dials the IPv4 address in the last 32 bits
_BRACKETED = re.compile(r"\[([^\[\]]+)\](?::([0-9]{1,5}))?")
_PLAIN = re.compile(r"([^:\[\]]+)(?::([0-9]{1,5}))?")


def is_public(address: Address) -> bool:
    """Whether the address is a host of the internet, and nothing else, whatever it may be wrapped in."""
    address = unwrapped(address)
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global and not any(address in network for network in _SPECIAL)


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


@dataclass(frozen=True, slots=True)
class Allowed:
    """The hosts inside the house that may be reached, as a person has written them down."""

    places: tuple["Place", ...] = ()

    @classmethod
    def of(cls, written: Iterable[str]) -> Self:
        """From `localhost`, `wiki.corp:8080`, `10.0.0.0/8`, `127.0.0.1:8080`, `[::1]:8080`."""
        return cls(tuple(Place.of(text) for text in written))

    def permits(self, host: str, address: Address, port: int) -> bool:
        """Whether the host, which turned out to be at this address, may be dialled."""
        return is_public(address) or any(place.is_at(host, address, port) for place in self.places)


@dataclass(frozen=True, slots=True)
class Place:
    """A name or a range of addresses, on one port or on all."""

    where: str | Network
    port: int | None

    @classmethod
    def of(cls, text: str) -> Self:
        host, port = _split(text.strip())
        if port is not None and not 0 < port < 65536:
            raise _not_a_place(text)
        return cls(_where(host, text), port)

    def is_at(self, host: str, address: Address, port: int) -> bool:
        if self.port not in (None, port):
            return False
        if isinstance(self.where, str):
            return self.where == plain_host(host)
        return unwrapped(address) in self.where


def plain_host(host: str) -> str:
    """A host's name in the one way it is compared."""
    return host.lower().removesuffix(".")


def _split(text: str) -> tuple[str, int | None]:
    """The host and the port; brackets tell an IPv6 address from a port."""
    found = _BRACKETED.fullmatch(text) or _PLAIN.fullmatch(text)
    if found is None:
        return text, None
    return found[1], int(found[2]) if found[2] else None


def _where(host: str, text: str) -> str | Network:
    try:
        return _network(host)
    except ValueError:
        name = plain_host(host)
    if not is_name(name):
        raise _not_a_place(text)
    return name


def _network(host: str) -> Network:
    if "/" in host:
        return ip_network(host, strict=False)
    return ip_network(unwrapped(ip_address(host)))


def is_name(host: str) -> bool:
    """Whether this can be a host's name: what looks like a number is an address in disguise."""
    labels = host.split(".")
    return (
        0 < len(host) <= 253
        and all(0 < len(label) < 64 and _is_label(label) for label in labels)
        and not labels[-1][0].isdigit()
    )


def _is_label(label: str) -> bool:
    return label.isascii() and label.replace("-", "").replace("_", "").isalnum()


def _not_a_place(text: str) -> ConfigurationError:
    return ConfigurationError(
        f"{text!r} is neither a host nor a range of addresses.",
        "Write localhost, wiki.corp:8080, 10.0.0.0/8, 127.0.0.1:8080 or [::1]:8080.",
    )
