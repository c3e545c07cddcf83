"""Where a call may go: what the operator wrote is the permission, what a document suggests must match it.

Addresses are read by the parser that also sends them, so that no two readings of one text differ. No I/O in here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx2

from codemode.errors import AddressNotAllowed, ConfigurationError

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65535

#: What the parts of a URL before its path never hold, and what different parsers read differently.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")

_AFTER_AUTHORITY = re.compile(r"[/?#]")

#: A host that ends so is an IPv4 address to some resolvers (WHATWG URL, "ends in a number checker").
_ENDS_IN_NUMBER = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")


class Origin(NamedTuple):
    """Scheme, host (ASCII, lower case, no last dot, addresses in their shortest form) and port of a URL."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the scheme's own, as a Host header has it (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


class AddressKind(StrEnum):
    """What an IP address leads to. Only the first two are what a name may stand for."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    METADATA = "cloud metadata"
    NOWHERE = "unusable"


#: Where clouds give keys to whoever asks from inside: AWS and others, AWS over IPv6, Azure, Alibaba, Oracle.
_METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"))
)

#: IPv6 addresses whose last 32 bits are an IPv4 address: NAT64 (RFC 6052; 8215 for a network's own), SIIT (RFC 2765),
#: and the old way to write one (RFC 4291, 2.5.5.1).
_ENDS_IN_IPV4 = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))


def kind_of_address(text: str) -> AddressKind:
    """What an IP address leads to; one inside of an IPv6 address (mapped, 6to4, NAT64 …) counts for itself."""
    address = _innermost(ip_address(text.partition("%")[0]))
    if address in _METADATA:
        return AddressKind.METADATA
    if address.is_loopback:
        return AddressKind.LOOPBACK
    if address.is_unspecified or address.is_multicast or (address.is_reserved and isinstance(address, IPv4Address)):
        return AddressKind.NOWHERE
    if address.is_link_local:
        return AddressKind.LINK_LOCAL
    return AddressKind.PUBLIC if address.is_global else AddressKind.PRIVATE


def _innermost(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv4Address):
        return address
    if any(address in network for network in _ENDS_IN_IPV4) and not (address.is_loopback or address.is_unspecified):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


@dataclass(frozen=True, slots=True)
class Permitted:
    """The origins that the operator wrote. `address` is the IP address of the first one, where that was written too."""

    origins: tuple[Origin, ...]
    address: str | None = None

    def address_of(self, host: str, port: int) -> str | None:
        """The IP address that was written for a host, None where its name decides. Raises AddressNotAllowed."""
        if not any((host, port) == known[1:] for known in self.origins):
            message = f"{host}:{port} is no address of the configuration"
            raise AddressNotAllowed(message)
        if self.address is not None and host == self.origins[0].host:
            return self.address
        return host if _is_literal(host) else None

    @staticmethod
    def judge(host: str, addresses: tuple[str, ...], *, was_public: bool) -> tuple[str, ...]:
        """Those of the addresses that a name may stand for. Raises AddressNotAllowed where none is left.

        A name stands for public and private addresses, and no longer for private ones once it was public; `localhost`
        stands for this machine and nothing else (RFC 6761, 6.3).
        """
        allowed = {AddressKind.PUBLIC} if was_public else {AddressKind.PUBLIC, AddressKind.PRIVATE}
        if host == "localhost" or host.endswith(".localhost"):
            allowed = {AddressKind.LOOPBACK}
        kept = tuple(address for address in addresses if kind_of_address(address) in allowed)
        if not kept:
            first = addresses[0]
            message = (
                f"{host} resolves to {first}, a {kind_of_address(first)} address, which the configuration does not "
                f"name; write `address: {first}` beside base_url if that is meant"
            )
            raise AddressNotAllowed(message)
        return kept


def origin(url: str) -> Origin:
    """Scheme, host and port of an absolute URL. Raises ConfigurationError for anything else."""
    start, slashes, rest = url.partition("://")
    try:
        authority = _AFTER_AUTHORITY.split(rest, maxsplit=1)[0]
        if _AMBIGUOUS.search(start + slashes + authority) or not url.isprintable():
            raise ValueError
        parsed = httpx2.URL(url)
        host = _canonical(parsed.raw_host.decode("ascii").lower())
        port = parsed.port
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        parsed, host, port = httpx2.URL(""), "", None
    if parsed.scheme not in _PORTS or not host or parsed.userinfo or not 0 <= (port or 0) <= _LAST_PORT:
        message = f"{_unsigned(url)!r} is no http or https address, as host and port are usually written"
        raise ConfigurationError(message)
    return Origin(parsed.scheme, host, port or _PORTS[parsed.scheme])


def _canonical(host: str) -> str:
    """A host as it is compared. Raises ValueError for an IPv4 address in a form that only some resolvers read."""
    host = host.removesuffix(".")
    if "%" in host:
        raise ValueError
    if ":" in host:
        return str(IPv6Address(host))
    return str(IPv4Address(host)) if _ENDS_IN_NUMBER.search(host) else host


def _is_literal(host: str) -> bool:
    return ":" in host or _ENDS_IN_NUMBER.search(host) is not None


def without_userinfo(url: str) -> str:
    """A URL without the user name and password before its host."""
    return re.sub(r"^([^/?#]*//)[^/?#]*@", r"\1", url)


def upgraded(place: Origin) -> Origin:
    """The same host by https, where it was asked by http on the usual port."""
    return Origin("https", place.host, _PORTS["https"]) if (place.scheme, place.port) == ("http", 80) else place


def _unsigned(url: str) -> str:
    return re.sub(r"://[^/?#]*@", "://…@", url)


def is_same_origin(left: str, right: str) -> bool:
    """Whether two URLs have the same scheme, host and port; nothing has that of no URL."""
    try:
        return origin(left) == origin(right)
    except ConfigurationError:
        return False


def checked_base(url: str) -> str:
    """A base URL as the operator wrote it, without its last slash. Raises ConfigurationError."""
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        message = f"base_url {_unsigned(url)!r}: give scheme, host, port and path only (credentials have their own key)"
        raise ConfigurationError(message)
    origin(url)
    return url.rstrip("/")


def base_for(
    suggested: tuple[str, ...], *, common: tuple[str, ...], configured: str | None, location: str, source: str
) -> str:
    """The base URL of an operation. Raises AddressNotAllowed.

    `suggested` are the document's servers for this operation, `common` those for the whole document; `configured` is
    the operator's base URL, `location` where the document came from.
    """
    if configured is None:
        return _beside_document(suggested, location, source)
    overrides = suggested != common
    same = [url for url in suggested if is_same_origin(url, configured)]
    if same and (overrides or not urlsplit(configured).path):
        return same[0].rstrip("/")
    if not overrides:
        return configured
    if any(is_same_origin(url, configured) for url in common) and any(urlsplit(url).netloc for url in suggested):
        message = f"{source}: this operation is at {suggested[0]}, which is not under base_url {configured}"
        raise AddressNotAllowed(message)
    return _moved(configured, common, suggested)


def _beside_document(suggested: tuple[str, ...], location: str, source: str) -> str:
    """Without a base URL: only the origin that the operator named as the document's own."""
    if location.lower().startswith(("http://", "https://")):
        for url in suggested or ("/",):
            absolute = urljoin(location, url)
            if is_same_origin(absolute, location):
                return absolute.rstrip("/")
    named = [url for url in suggested if urlsplit(url).netloc]
    hint = f"write base_url: {named[0]} if you trust it" if named else "write its base_url"
    message = f"{source} has no base_url in the configuration; {hint} (with --source, give --base-url)"
    raise AddressNotAllowed(message)


def _moved(configured: str, common: tuple[str, ...], suggested: tuple[str, ...]) -> str:
    """`…/v4` becomes `…/v4beta` where the document moves an operation so, at the operator's own address."""
    if not common or not suggested:
        return configured
    usual, own = (urlsplit(urls[0]).path.rstrip("/") for urls in (common, suggested))
    if usual and configured.endswith(usual):
        return configured[: -len(usual)] + own
    return configured
