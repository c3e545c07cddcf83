"""What the name of an operation says of its effect, where nothing else does."""

from __future__ import annotations

from codemode.catalog.names import snake
from codemode.catalog.tool import Effect

_DESTROYING = frozenset(
    ("cancel", "delete", "deregister", "destroy", "disassociate", "drop", "erase", "expire", "forget", "invalidate",
     "purge", "release", "remove", "reset", "revoke", "terminate", "uninstall", "unlink", "wipe")
)  # fmt: skip

_READING = frozenset(
    ("batch_get", "check", "compare", "count", "describe", "detect", "discover", "download", "estimate", "evaluate",
     "fetch", "filter", "find", "get", "head", "list", "lookup", "poll", "preview", "query", "read", "recognize",
     "resolve", "retrieve", "scan", "search", "select", "show", "simulate", "test", "validate", "verify", "view")
)  # fmt: skip


def destroys(name: str) -> bool:
    """Whether any word of a name says that something is gone afterwards: `deleteOrder`, `productDelete`."""
    return not _DESTROYING.isdisjoint(snake(name).split("_"))


def effect_of_verb(name: str) -> Effect:
    """The effect of an operation whose name begins with a verb: `ListBuckets` reads; what is not known writes."""
    words = snake(name).split("_")
    if words[0] in _DESTROYING or words[:2] in (["batch", "delete"], ["bulk", "delete"]):
        return Effect.DESTRUCTIVE
    return Effect.READ if words[0] in _READING or "_".join(words[:2]) in _READING else Effect.WRITE
