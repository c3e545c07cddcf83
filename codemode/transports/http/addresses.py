"""Permitted addresses of calls: the operator's configuration grants, a source document's suggestions must match it.

The parser that sends addresses also checks them, so no text is read in two ways. This module does no I/O.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from codemode.errors import AddressNotAllowed, ConfigurationError

#: The ports of URLs without one.
PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65535

#: Characters forbidden before a URL's path, because parsers read them differently.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")

#: Characters of a URL in an error.
_LONGEST_SHOWN = 200

_AFTER_AUTHORITY = re.compile(r"[/?#]")

#: Some resolvers read a host with this ending as an IPv4 address (WHATWG URL, "ends in a number checker").
_ENDS_IN_NUMBER = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")


class Origin(NamedTuple):
    """Scheme, host and port of a URL.

    The host is ASCII and lower case, without a final dot. Addresses are in their shortest form.
    """

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The value of a Host header: the host, and the port unless it is the scheme's default (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


class AddressKind(StrEnum):
    """The kind of network that an IP address belongs to. Names may resolve to the first two only."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    METADATA = "cloud metadata"
    NOWHERE = "unusable"


#: Metadata services, which give cloud credentials to any local client: AWS and others, AWS over IPv6, Azure, Alibaba,
#: Oracle.
_METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"))
)

#: IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052; RFC 8215 for local use), SIIT (RFC 2765), and
#: the deprecated IPv4-compatible form (RFC 4291, 2.5.5.1).
_ENDS_IN_IPV4 = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))


def kind_of_address(text: str) -> AddressKind:
    """Return the kind of an IP address. An IPv4 address inside an IPv6 address (mapped, 6to4, NAT64 …) decides."""
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
class PermittedOrigins:
    """The origins that the operator configured. `address` is the IP address of the first one, if configured too."""

    origins: tuple[Origin, ...]
    address: str | None = None

    def address_of(self, host: str, port: int) -> str | None:
        """Return the configured IP address of a host, None if its name must be resolved. Raises AddressNotAllowed."""
        if not any((host, port) == known[1:] for known in self.origins):
            message = f"{host}:{port} is not an address in the configuration"
            raise AddressNotAllowed(message)
        if self.address is not None and host == self.origins[0].host:
            return self.address
        return host if _is_literal(host) else None

    @staticmethod
    def judge(host: str, addresses: tuple[str, ...], *, was_public: bool) -> tuple[str, ...]:
        """Return the addresses that a name may resolve to. Raises AddressNotAllowed if none is left.

        A name may resolve to public and private addresses, but not to private ones once it was public (DNS rebinding).
        `localhost` resolves to this machine only (RFC 6761, 6.3).
        """
        allowed = {AddressKind.PUBLIC} if was_public else {AddressKind.PUBLIC, AddressKind.PRIVATE}
        if host == "localhost" or host.endswith(".localhost"):
            allowed = {AddressKind.LOOPBACK}
        allowed_addresses = tuple(address for address in addresses if kind_of_address(address) in allowed)
        if not allowed_addresses:
            first = addresses[0]
            message = (
                f"{host} resolves to {first}, a {kind_of_address(first)} address, which the configuration does not "
                f"allow; to allow it, write `address: {first}` beside base_url"
            )
            raise AddressNotAllowed(message)
        return allowed_addresses


def origin(url: str) -> Origin:
    """Return scheme, host and port of an absolute http or https URL. Raises ConfigurationError for anything else."""
    import httpx2

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
    if parsed.scheme not in PORTS or not host or parsed.userinfo or not 0 <= (port or 0) <= _LAST_PORT:
        message = f"{_unsigned(url)!r} is not a valid http or https address"
        raise ConfigurationError(message)
    return Origin(parsed.scheme, host, port or PORTS[parsed.scheme])


def _canonical(host: str) -> str:
    """Return the canonical form of a host. Raises ValueError for IPv4 forms that only some resolvers accept."""
    host = host.removesuffix(".")
    if "%" in host:
        raise ValueError
    if ":" in host:
        return str(IPv6Address(host))
    return str(IPv4Address(host)) if _ENDS_IN_NUMBER.search(host) else host


def _is_literal(host: str) -> bool:
    return ":" in host or _ENDS_IN_NUMBER.search(host) is not None


def without_userinfo(url: str) -> str:
    """Return a URL without its user name and password."""
    return re.sub(r"^([^/?#]*//)[^/?#]*@", r"\1", url)


def upgraded(place: Origin) -> Origin:
    """Return the https origin of the same host for http on the default port, and other origins unchanged."""
    return Origin("https", place.host, PORTS["https"]) if (place.scheme, place.port) == ("http", 80) else place


def _unsigned(url: str) -> str:
    return re.sub(r"://[^/?#]*@", "://…@", url)


def is_same_origin(left: str, right: str) -> bool:
    """Return whether two URLs have the same scheme, host and port. Text that is no URL matches nothing."""
    try:
        return origin(left) == origin(right)
    except ConfigurationError:
        return False


def without_query(url: str) -> str:
    """Return a URL for an error: its query may hold a signature, and its userinfo a password."""
    return without_userinfo(url.partition("#")[0].partition("?")[0])[:_LONGEST_SHOWN]


def checked_base(url: str) -> str:
    """Return the operator's base URL without its final slash. Raises ConfigurationError."""
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        message = f"base_url {_unsigned(url)!r}: write only scheme, host, port and path; credentials have their own key"
        raise ConfigurationError(message)
    origin(url)
    return url.rstrip("/")


def base_for(
    suggested: tuple[str, ...],
    *,
    common: tuple[str, ...],
    configured: str | None,
    location: str,
    source: str,
    permitted: tuple[str, ...] = (),
) -> str:
    """Return the base URL of an operation. Raises AddressNotAllowed.

    `suggested` are the source document's servers for this operation, `common` those for the whole document.
    `configured` is the operator's base URL, `location` the address of the document. `permitted` are further servers,
    for operations that have a server of their own.
    """
    if suggested != common:
        for url in suggested:
            if any(is_same_origin(url, one) for one in permitted):
                return url.rstrip("/")
    if configured is None:
        return _beside_document(suggested, location, source)
    overrides = suggested != common
    same = [url for url in suggested if is_same_origin(url, configured)]
    if same and (overrides or not urlsplit(configured).path):
        return same[0].rstrip("/")
    if not overrides:
        return configured
    if any(is_same_origin(url, configured) for url in common) and any(urlsplit(url).netloc for url in suggested):
        message = (
            f"{source}: this operation has the server {suggested[0]}, which is not under base_url {configured}; write "
            f"servers: [{suggested[0]}] if you trust it"
        )
        raise AddressNotAllowed(message)
    return _moved(configured, common, suggested)


def _beside_document(suggested: tuple[str, ...], location: str, source: str) -> str:
    """Return the base URL without a configured one: only the document's own origin is permitted."""
    if location.lower().startswith(("http://", "https://")):
        for url in suggested or ("/",):
            absolute = urljoin(location, url)
            if is_same_origin(absolute, location):
                return absolute.rstrip("/")
    named = [url for url in suggested if urlsplit(url).netloc]
    hint = f"write base_url: {named[0]} if you trust it" if named else "write its base_url"
    message = f"{source} has no base_url in the configuration; {hint} (with --source, pass --base-url)"
    raise AddressNotAllowed(message)


def _moved(configured: str, common: tuple[str, ...], suggested: tuple[str, ...]) -> str:
    """Return the operator's base URL with the document's path for the operation: `…/v4` becomes `…/v4beta`."""
    if not common or not suggested:
        return configured
    usual, own = (urlsplit(urls[0]).path.rstrip("/") for urls in (common, suggested))
    if usual and configured.endswith(usual):
        return configured[: -len(usual)] + own
    return configured
