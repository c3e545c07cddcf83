"""Derive the effect of an operation from the verb in its name."""

from __future__ import annotations

from codemode.catalog.effect_words import destructive_word
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect

_READING = frozenset(
    ("check", "compare", "count", "describe", "detect", "discover", "download", "estimate", "evaluate", "fetch",
     "filter", "find", "get", "head", "list", "lookup", "preview", "query", "read", "recognize", "retrieve", "scan",
     "search", "select", "show", "simulate", "validate", "view")
)  # fmt: skip

#: Words that may precede the verb: `AdminDeleteUser`, `BatchGetItem`.
_PREFIXES = ("admin", "batch", "bulk")


def effect_of_verb(name: str) -> Effect:
    """Return the effect of an operation by its verb, such as `read` for `ListBuckets`. Unknown verbs write."""
    words = snake(name).split("_")
    verb = words[1] if words[0] in _PREFIXES and len(words) > 1 else words[0]
    if verb in _READING:
        return Effect.READ
    return Effect.DESTRUCTIVE if destructive_word(name) else Effect.WRITE
