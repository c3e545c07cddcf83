"""Words that say that what an operation does cannot be taken back."""

from __future__ import annotations

import re

#: Whole words, as names, summaries and descriptions have them.
_WORDS = ("reset", "purge", "wipe", "erase", "destroy", "truncate", "drop", "factory reset")
_DESTRUCTIVE = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})(?:s|d|es|ed|ing)?\b|\bbulk \w*\s?delet\w*|\bdelet\w*|\bcannot be undone\b",
    re.IGNORECASE,
)
_APART = re.compile(r"[_\-./]+|(?<=[a-z])(?=[A-Z])")


def destructive_word(text: str) -> str | None:
    """The first word in a name or sentence that says so; None without any."""
    found = _DESTRUCTIVE.search(_APART.sub(" ", text))
    return found[0].lower() if found else None
