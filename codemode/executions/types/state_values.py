"""Stored values and their places."""

from __future__ import annotations

from typing import NamedTuple

#: What each value counts beside its own bytes: its row and its name.
_ROW_BYTES = 256


class StateKey(NamedTuple):
    """The place of a value. `conversation` is a digest of the conversation's id."""

    owner: str
    conversation: str
    name: str


class StateWrite(NamedTuple):
    """A value, as JSON, and for how many seconds it is kept. `owner_bytes` limits all values of the owner."""

    key: StateKey
    value: bytes
    keep_s: float
    owner_bytes: int


class StoredValue(NamedTuple):
    """A stored value without its JSON: what it counts in bytes, and when it expires, in microseconds since 1970."""

    key: StateKey
    size_bytes: int
    expires_us: int


def size_of(value: bytes) -> int:
    """Return the bytes that a value counts."""
    return _ROW_BYTES + len(value)
