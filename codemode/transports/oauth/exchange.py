"""Connections to the endpoints of an authorization server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.transports.http.addresses import PermittedOrigins, origin
from codemode.transports.http.exchange import Exchange
from codemode.transports.http.network import open_pool

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The largest answer of an endpoint.
_ANSWER_BYTES = 1024 * 1024


def open_exchange(
    source: str, addresses: Iterable[str], *, ca_file: str | None = None, timeout_s: float = 30.0
) -> Exchange:
    """Return connections to the origins of these addresses, for errors that name `source`. Close it with `aclose`.

    Raises ConfigurationError for a text that is no address.
    """
    pool = open_pool(PermittedOrigins(tuple(origin(url) for url in addresses if url)), most=2, ca_file=ca_file)
    return Exchange(source, timeout_s=timeout_s, limit_bytes=_ANSWER_BYTES, connections=pool)
