"""What a program does, in one line: its first line that is no import."""

from __future__ import annotations

import re

#: Characters of a title.
LONGEST = 100

_IMPORT = re.compile(r"(import|from)\s")
_QUOTES = re.compile(r"^[rbuf]?(\"\"\"|''')|(\"\"\"|''')$", re.IGNORECASE)


def program_title(code: str) -> str:
    """Return the first line that says what a program does, at most 100 characters; "" if it has none.

    Comments and docstrings are lines too, without their marks.
    """
    is_imported = False  # within the brackets of an import
    for line in code.splitlines():
        text = line.strip()
        if is_imported or _IMPORT.match(text):
            is_imported = ")" not in text and (is_imported or "(" in text)
            continue
        title = _QUOTES.sub("", text.lstrip("#")).strip()
        if title:
            return title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
    return ""
