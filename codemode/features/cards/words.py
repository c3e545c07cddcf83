"""The words of field names, and which fields name a record."""

from __future__ import annotations

import re

#: Last words of fields that identify a record, alone or after its kind: `id`, `salaryId`, `member_uuid`.
IDENTIFIERS = frozenset(("id", "uuid", "guid", "key", "ref", "number", "code", "slug", "sku", "iban"))
#: Words of fields whose value identifies a person without being an id.
ADDRESSES = frozenset(("email", "login", "username", "handle"))

_NAMES = frozenset(("name", "title", "label", "subject", "summary", "email", "username", "login"))
_AMOUNTS = frozenset(("amount", "price", "total", "balance", "cost", "currency", "quantity", "count"))
_TIMES = frozenset(("date", "due", "month", "period", "year", "day", "start", "end", "paid", "created", "at"))
_STATES = frozenset(("status", "state", "type", "kind", "role", "phase"))
_GROUPS = (_NAMES, _AMOUNTS, _TIMES, _STATES)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST_NAME = 100


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in singular lower case: `salaryIds`, `salary_id` → `("salary", "id")`."""
    return tuple(_singular(word.lower()) for word in _WORD.findall(name[:_LONGEST_NAME]))


def rank_of(name: str) -> int | None:
    """Return how well a field names its record, 0 being best: names, amounts, times, states. None: not at all."""
    words = frozenset(words_of(name))
    return next((rank for rank, group in enumerate(_GROUPS) if words & group), None)


def is_identifier(name: str) -> bool:
    """Return whether a field holds an id, of its own record or of another one."""
    words = words_of(name)
    return bool(words) and words[-1] in IDENTIFIERS


def is_own_id(name: str) -> bool:
    """Return whether a field holds the id of its own record: `id`, `uuid`."""
    words = words_of(name)
    return len(words) == 1 and words[0] in IDENTIFIERS


def is_address(name: str) -> bool:
    """Return whether a field holds an address of a person."""
    words = words_of(name)
    return bool(words) and words[-1] in ADDRESSES


def kind_of(name: str) -> frozenset[str]:
    """Return the words for the kind of record that an id argument means: `staffId` → `{"staff"}`, `id` → nothing."""
    return frozenset(word for word in words_of(name) if word not in IDENTIFIERS)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return f"{word[:-3]}y"
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > len("its")
    return word[:-1] if is_plural else word
