"""What a program does, in one line: its first comment or call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of a title.
LONGEST = 100

_IMPORT = re.compile(r"(import|from)\s")
_QUOTES = re.compile(r"^[rbuf]?(\"\"\"|''')|(\"\"\"|''')$", re.IGNORECASE)


def program_title(code: str) -> str:
    """Return the first line that says what a program does, at most 100 characters; "" if it has none.

    That is its first comment, docstring or call, without marks; in a program without these, its first line that is no
    import.
    """
    lines = [*_lines(code)]
    title = next((text for text, is_telling in lines if is_telling), lines[0][0] if lines else "")
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"


def _lines(code: str) -> Iterator[tuple[str, bool]]:
    """Yield the text of each line that is no import, and whether it is a comment, a docstring or a call."""
    is_imported = False  # within the brackets of an import
    is_quoted = False  # after a line that only opens a docstring
    for line in code.splitlines():
        text = line.strip()
        if is_imported or _IMPORT.match(text):
            is_imported = ")" not in text and (is_imported or "(" in text)
            continue
        title = _QUOTES.sub("", text.lstrip("#")).strip()
        if title:
            yield title, is_quoted or "(" in text or text.startswith("#") or _QUOTES.match(text) is not None
        is_quoted = not title and _QUOTES.match(text) is not None
