"""Security Scheme Objects, in the words of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.schema import Schema


def auth_of(schemes: Mapping[str, Schema]) -> tuple[str, ...]:
    """The ways of authentication that a document declares, each in words that say what to configure."""
    found = []
    for name, node in schemes.items():
        kind = str(node.get("type", ""))
        scheme = str(node.get("scheme", "")).lower()
        place = str(node.get("in", ""))
        if kind == "apiKey" and place in ("header", "query", "cookie"):
            found.append(f"{name}: kind: api_key, name: {node.get('name')}, location: {place}")
        elif kind == "basic" or scheme == "basic":
            found.append(f"{name}: kind: basic")
        elif scheme == "bearer" or kind == "openIdConnect":
            found.append(f"{name}: kind: bearer")
        elif kind == "oauth2":
            flows = node.get("flows")
            names = ", ".join(flows) if isinstance(flows, dict) else str(node.get("flow", ""))
            found.append(f"{name}: kind: oauth2 ({names}), or kind: bearer with a token")
        elif kind == "mutualTLS":
            found.append(f"{name}: a client certificate")
        else:
            found.append(f"{name}: {kind or 'unknown'} {scheme}".strip())
    return tuple(found)
