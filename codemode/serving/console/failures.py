"""How often logins of one address, and of its network, may fail."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from codemode.serving.web.admission import Admission
from codemode.settings import LoadSettings

if TYPE_CHECKING:
    from starlette.requests import Request

#: Failed attempts per second of one address, and of one network: an IPv6 customer has a /64.
FAILURES_PER_S, FAILURES_OF_NETWORK_PER_S = 1.0, 4.0
_NETWORK_BITS = {4: 24, 6: 64}


class Failures:
    """Counts failed attempts to log in."""

    def __init__(self) -> None:
        rates = (FAILURES_PER_S, FAILURES_OF_NETWORK_PER_S)
        self._counters = [Admission(LoadSettings(per_key_rate_per_s=rate), processors=8) for rate in rates]

    def check(self, request: Request) -> None:
        """Raise Overloaded if the address or its network has failed too often."""
        for counter, name in zip(self._counters, _names(request), strict=True):
            counter.check(name)

    async def count(self, request: Request) -> None:
        """Count an attempt that failed. Raises Overloaded if there were too many meanwhile."""
        for counter, name in zip(self._counters, _names(request), strict=True):
            async with counter.turn(name):  # counts it
                pass


def _names(request: Request) -> tuple[str, str]:
    address = request.client.host if request.client else ""
    return address, _network(address)


def _network(address: str) -> str:
    """Return the network of an address, or the text itself if it is no address."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    without_scope = str(ip).partition("%")[0]
    return str(ip_network(f"{without_scope}/{_NETWORK_BITS[ip.version]}", strict=False))
