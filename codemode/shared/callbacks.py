"""The callback of those who want to know nothing."""

from __future__ import annotations


def ignore(*_: object) -> None:
    """Do nothing."""
