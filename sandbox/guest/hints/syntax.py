"""Hints for text that is not Python."""

from __future__ import annotations


def hint_for_syntax(error: SyntaxError, code: str) -> str:
    """Return what to do about a syntax error, or nothing."""
    return ""
