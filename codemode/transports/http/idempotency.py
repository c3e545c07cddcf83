"""The key by which a service knows a second attempt at the same call, so that it does the work once.

Draft-ietf-httpapi-idempotency-key-header names the header; which one a service takes, if any, the operator says.
"""

from __future__ import annotations

import uuid
from contextvars import ContextVar

#: The key of the call that is being sent, "" for none, set by who makes the call.
IDEMPOTENCY_KEY: ContextVar[str] = ContextVar("idempotency_key", default="")


def key_of(execution: str, path: str) -> str:
    """The key of one call of one execution: the same whenever it is sent, and no other call's."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{execution}/{path}"))
