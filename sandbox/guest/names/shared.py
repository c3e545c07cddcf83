"""State of the library that every program would share: made unchangeable, or put back."""

from __future__ import annotations

import calendar
import csv
import textwrap
from typing import Any

_FIELD_SIZE_LIMIT = 131_072  # the library's own


def freeze_shared() -> None:
    """Replace lists and dicts that classes of the library hold by what reads alike and cannot be changed."""
    wrapper: Any = textwrap.TextWrapper
    spaces = wrapper.unicode_whitespace_trans
    if isinstance(spaces, dict):
        wrapper.unicode_whitespace_trans = "".join(chr(spaces.get(code, code)) for code in range(max(spaces) + 1))
    days: Any = calendar.HTMLCalendar
    days.cssclasses, days.cssclasses_weekday_head = tuple(days.cssclasses), tuple(days.cssclasses_weekday_head)


def restore_shared() -> None:
    """Undo what a program may have set."""
    csv.field_size_limit(_FIELD_SIZE_LIMIT)
