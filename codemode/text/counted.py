"""A number with its noun."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
