"""Which addresses are everyone's, and what a person may allow besides."""

from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.vocabulary.addresses import Address, Allowed, is_name, is_public
from belayer.vocabulary.errors import ConfigurationError

INSIDE = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200"),
    *("127.0.0.1", "127.255.255.254", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255"),
    *("192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1"),
    *("198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
    *(
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "100::1",
    ),
    *(
        "2001::1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "2001:db8::1",
        "2001:10::1",
        "2001:20::1",
        "2002:7f00:1::",
    ),
    *("2002:a9fe:a9fe::", "2002:808:808::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254"),
    *("fe80::1", "fec0::1", "ff02::1", "ff0e::1"),
]

OUTSIDE = [
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "126.255.255.255"),
    *("128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1"),
    *(
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001:80b::200e",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ),
]

ADDRESSES = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6))


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_inside_the_house_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", OUTSIDE)
def test_a_host_of_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@given(ADDRESSES)
def test_no_address_is_public_that_the_standard_library_calls_private(address: Address) -> None:
    wrapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    assert not is_public(address) or wrapped or not (address.is_private or address.is_multicast)


@given(st.ip_addresses(v=4))
def test_wrapping_an_address_makes_it_no_more_public(address: IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        assert is_public(IPv6Address(int(IPv6Address(prefix)) | int(address))) == is_public(address)
    assert not is_public(IPv6Address(int(address)))
    assert not is_public(IPv6Address((0x2002 << 112) | (int(address) << 80)))


def permits(written: list[str], host: str, address: str, port: int = 80) -> bool:
    return Allowed.of(written).permits(host, ip_address(address), port)


@pytest.mark.parametrize(
    ("written", "host", "address", "port"),
    [
        ([], "example.org", "8.8.8.8", 443),
        (["localhost"], "localhost", "127.0.0.1", 5000),
        (["localhost"], "localhost", "::1", 5000),
        (["LocalHost."], "LOCALHOST.", "127.0.0.1", 80),
        (["10.0.0.0/8"], "wiki", "10.1.2.3", 80),
        (["10.0.0.1/8"], "wiki", "::ffff:10.1.2.3", 80),
        (["127.0.0.1:8080"], "anything", "127.0.0.1", 8080),
        (["[::1]:8080"], "anything", "::1", 8080),
        (["::1"], "anything", "::1", 1),
        (["fd00::/8"], "wiki", "fd00::1", 80),
        (["wiki.corp:8080", "10.9.9.9"], "wiki", "10.9.9.9", 80),
        (["::ffff:127.0.0.1"], "anything", "127.0.0.1", 80),
        (["10.0.0.0/8:8080"], "wiki", "10.1.2.3", 8080),
    ],
)
def test_what_was_allowed_may_be_dialled(written: list[str], host: str, address: str, port: int) -> None:
    assert permits(written, host, address, port)


@pytest.mark.parametrize(
    ("written", "host", "address", "port"),
    [
        ([], "localhost", "127.0.0.1", 80),
        (["localhost"], "localhost.evil.org", "127.0.0.1", 80),
        (["localhost"], "evil.org", "127.0.0.1", 80),
        (["127.0.0.1:8080"], "anything", "127.0.0.1", 8081),
        (["127.0.0.1"], "anything", "127.0.0.2", 80),
        (["10.0.0.0/8"], "anything", "127.0.0.1", 80),
        (["10.0.0.0/8"], "anything", "::1", 80),
        (["wiki.corp:8080"], "wiki.corp", "10.0.0.1", 80),
    ],
)
def test_what_was_not_allowed_may_not_be_dialled(
    written: list[str], host: str, address: str, port: int
) -> None:
    assert not permits(written, host, address, port)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            ":80",
            "host:",
            "host:0",
            "host:65536",
            "host:http",
            "host:-1",
            "host:٣",
            "[::1",
            "[::1]x",
        ),
        *(
            "10.0.0.0/33",
            "http://wiki",
            "a b",
            "*",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "1.2.3.4.5",
            "::1:x:y",
        ),
        *("wiki..corp", "é", "wiki.corp:80:80", "[]:80"),
    ],
)
def test_what_names_no_place_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Allowed.of([text])
    assert "10.0.0.0/8" in (raised.value.hint or "")


@given(st.text(max_size=30))
def test_any_text_is_a_place_or_refused(text: str) -> None:
    with suppress(ConfigurationError):
        assert len(Allowed.of([text]).places) == 1


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_no_spelling_of_a_number_passes_for_a_name(number: int) -> None:
    first, rest = divmod(number, 2**24)
    for spelling in (f"{number}", f"{number:#x}", f"0{number:o}", f"{first}.{rest}", f"{first:#x}.{rest:#x}"):
        assert not is_name(spelling)
