"""Idempotency keys: a service that receives the same key twice does the work once.

The header is that of draft-ietf-httpapi-idempotency-key-header, or another one that the operator configures.
"""

from __future__ import annotations

import uuid


def key_of(execution: str, path: str) -> str:
    """Return the key of one call of an execution. It is the same for every attempt, and unique to the call."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{execution}/{path}"))
