"""Addresses, and what names may resolve to."""

from __future__ import annotations

import pytest

from codemode.errors import AddressNotAllowed, ConfigurationError
from codemode.transports.http.addresses import (
    AddressKind,
    Origin,
    PermittedOrigins,
    is_same_origin,
    kind_of_address,
    origin,
    upgraded,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://EXAMPLE.com", ("http", "example.com", 80)),
        ("https://example.com./x?y", ("https", "example.com", 443)),
        ("http://127.0.0.1:8080/", ("http", "127.0.0.1", 8080)),
        ("http://127.0.0.1./", ("http", "127.0.0.1", 80)),
        ("http://[0:0::1]:81/", ("http", "::1", 81)),
        ("http://bücher.example/", ("http", "xn--bcher-kva.example", 80)),
        ("http://example.com:/x", ("http", "example.com", 80)),
        ("http://example.com/a b\\c?d e", ("http", "example.com", 80)),
    ],
)
def test_an_origin_is_compared_in_one_form(url: str, expected: tuple[str, str, int]) -> None:
    assert tuple(origin(url)) == expected


@pytest.mark.parametrize(
    "url",
    [
        "", "ftp://x", "//x", "http://", "localhost:80", "http://x:99999", "http://x:-1/", "http://u:p@x/",
        "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://0x7f.1/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://good.test\\@evil.test/", "http://good.test@evil.test/", "http://a b/",
        "http://x\n.test/", "http://ex%61mple.com/", "http://[fe80::1%25eth0]/", "http://[::1/",
    ],
)  # fmt: skip
def test_what_different_parsers_read_differently_is_no_address(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a valid http or https address"):
        origin(url)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("8.8.8.8", AddressKind.PUBLIC),
        ("2606:4700::1111", AddressKind.PUBLIC),
        ("10.0.0.1", AddressKind.PRIVATE),
        ("192.168.1.1", AddressKind.PRIVATE),
        ("100.64.0.1", AddressKind.PRIVATE),
        ("fc00::1", AddressKind.PRIVATE),
        ("127.0.0.2", AddressKind.LOOPBACK),
        ("::1", AddressKind.LOOPBACK),
        ("::ffff:127.0.0.1", AddressKind.LOOPBACK),
        ("64:ff9b::7f00:1", AddressKind.LOOPBACK),
        ("64:ff9b:1::7f00:1", AddressKind.LOOPBACK),
        ("::127.0.0.1", AddressKind.LOOPBACK),
        ("::ffff:0:127.0.0.1", AddressKind.LOOPBACK),
        ("64:ff9b:1:2::a9fe:a9fe", AddressKind.METADATA),
        ("64:ff9b:1::808:808", AddressKind.PUBLIC),
        ("2002:7f00:1::", AddressKind.LOOPBACK),
        ("169.254.1.1", AddressKind.LINK_LOCAL),
        ("fe80::1%eth0", AddressKind.LINK_LOCAL),
        ("169.254.169.254", AddressKind.METADATA),
        ("::ffff:169.254.169.254", AddressKind.METADATA),
        ("fd00:ec2::254", AddressKind.METADATA),
        ("168.63.129.16", AddressKind.METADATA),
        ("::", AddressKind.NOWHERE),
        ("224.0.0.1", AddressKind.NOWHERE),
        ("255.255.255.255", AddressKind.NOWHERE),
    ],
)
def test_the_kind_of_an_address(address: str, kind: AddressKind) -> None:
    assert kind_of_address(address) is kind


def test_a_name_stands_for_public_and_private_addresses() -> None:
    found = ("127.0.0.1", "10.0.0.1", "8.8.8.8", "169.254.169.254")
    assert PermittedOrigins.judge("api.test", found, was_public=False) == ("10.0.0.1", "8.8.8.8")


def test_a_name_that_was_public_does_not_become_private() -> None:
    assert PermittedOrigins.judge("api.test", ("10.0.0.1", "8.8.8.8"), was_public=True) == ("8.8.8.8",)
    with pytest.raises(AddressNotAllowed, match=r"api\.test resolves to 10\.0\.0\.1, a private address"):
        PermittedOrigins.judge("api.test", ("10.0.0.1",), was_public=True)


@pytest.mark.parametrize("host", ["localhost", "app.localhost"])
def test_localhost_is_this_machine_and_nothing_else(host: str) -> None:
    assert PermittedOrigins.judge(host, ("::1", "127.0.0.1"), was_public=False) == ("::1", "127.0.0.1")
    with pytest.raises(AddressNotAllowed):
        PermittedOrigins.judge(host, ("8.8.8.8",), was_public=False)


def test_what_was_written_as_an_address_needs_no_name() -> None:
    permitted = PermittedOrigins((origin("http://127.0.0.1:80"), origin("http://api.test:81")))
    assert permitted.address_of("127.0.0.1", 80) == "127.0.0.1"
    assert permitted.address_of("api.test", 81) is None
    for host, port in (("127.0.0.1", 81), ("other.test", 81), ("api.test", 80)):
        with pytest.raises(AddressNotAllowed, match="is not an address in the configuration"):
            permitted.address_of(host, port)


def test_an_address_that_was_written_beside_a_name_is_that_names_alone() -> None:
    permitted = PermittedOrigins((origin("https://api.test"), origin("https://login.test")), "127.0.0.2")
    assert permitted.address_of("api.test", 443) == "127.0.0.2"
    assert permitted.address_of("login.test", 443) is None


def test_no_url_has_the_same_origin_as_anything() -> None:
    assert is_same_origin("http://x.test", "http://X.test:80/a")
    assert not is_same_origin("http://127.0.0.1", "http://2130706433")
    assert not is_same_origin("", "")


def test_http_on_the_usual_port_may_become_https() -> None:
    assert upgraded(origin("http://x.test")) == Origin("https", "x.test", 443)
    assert upgraded(origin("http://x.test:8080")) == origin("http://x.test:8080")
