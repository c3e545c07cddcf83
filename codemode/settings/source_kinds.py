"""The keys of each source kind. A key that does not fit the kind of its source would be ignored, so it is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

#: Keys of every kind: what happens to the tools once they are read.
_ALL = frozenset(
    ("kind", "location", "timeout_s", "concurrency", "include", "exclude", "rename", "describe", "effect", "examples")
) | {"instructions", "tier", "revert", "clock", "fields"}

#: Keys of calls over HTTP.
_HTTP = frozenset(
    ("base_url", "address", "servers", "headers", "credentials", "client_certificate", "ca_file", "retries")
) | {"rate_per_s", "response_limit_bytes", "connections"}

#: Keys of API documents whose operations are called over HTTP.
_DOCUMENT = _HTTP | {"keep_names", "idempotency_header", "overlays", "internal", "parameters", "pages"}

_MCP = frozenset(("command", "env", "cwd", "headers", "transport", "address", "credentials", "ca_file", "connections"))
_AWS = frozenset(("services", "region", "profile", "base_url", "credentials", "ca_file", "retries", "rate_per_s"))

#: The keys of each built-in kind besides those of every kind.
KEYS = {
    "openapi": _DOCUMENT,
    "google": _DOCUMENT | {"services"},
    "graphql": _HTTP | {"keep_names"},
    "toolkit": _HTTP | {"keep_names", "idempotency_header", "bind", "endpoints", "pages"},
    "python": frozenset[str](),
    "mcp": _MCP | {"response_limit_bytes"},
    "aws": _AWS | {"response_limit_bytes", "keep_names"},
}

#: The kinds that the content of a document may turn out to have, for `kind: auto`.
OF_DOCUMENTS = ("openapi", "graphql", "toolkit")


def unfitting(kinds: Collection[str], keys: Collection[str]) -> str | None:
    """Return the message about the first of the `keys` that fits none of the `kinds`, or None."""
    valid = _ALL.union(*(KEYS[kind] for kind in kinds))
    for key in keys:
        if key not in valid:
            fitting = ", ".join(name for name, known in KEYS.items() if key in known)
            return f"{key}: a source of kind {next(iter(kinds))} does not use it; it is for kind: {fitting}"
    return None
