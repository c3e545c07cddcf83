"""What the name of an operation says of its effect, where nothing else does."""

from __future__ import annotations

from codemode.catalog.names import snake
from codemode.catalog.tool import Effect

_DESTROYING = frozenset(
    ("delete", "deregister", "destroy", "drop", "erase", "purge", "release", "remove", "revoke", "terminate",
     "uninstall", "wipe")
)  # fmt: skip

_READING = frozenset(
    ("check", "compare", "count", "describe", "detect", "discover", "download", "estimate", "evaluate", "fetch",
     "filter", "find", "get", "head", "list", "lookup", "preview", "query", "read", "recognize", "retrieve", "scan",
     "search", "select", "show", "simulate", "validate", "view")
)  # fmt: skip

#: What may stand before the verb: `AdminDeleteUser`, `BatchGetItem`.
_BEFORE = ("admin", "batch", "bulk")


def destroys(name: str) -> bool:
    """Whether any word of a name says that something is gone afterwards: `deleteOrder`, `productDelete`."""
    return not _DESTROYING.isdisjoint(snake(name).split("_"))


def effect_of_verb(name: str) -> Effect:
    """The effect of an operation whose name begins with a verb: `ListBuckets` reads; what is not known writes."""
    words = snake(name).split("_")
    verb = words[1] if words[0] in _BEFORE and len(words) > 1 else words[0]
    if verb in _DESTROYING:
        return Effect.DESTRUCTIVE
    return Effect.READ if verb in _READING else Effect.WRITE
