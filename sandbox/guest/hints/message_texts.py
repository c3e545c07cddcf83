"""Hints that follow from the text of an error alone: what it says, and what to write. Data only, but for the search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.guest.hints.situation import Situation

_TEXTS: list[tuple[str, str]] = [
    (
        r"compare datetime\.datetime to datetime\.date|'datetime\.date(time)?' and 'datetime\.date(time)?'",
        "make both sides one kind: x.date() is the date of a datetime",
    ),
    (
        r"'str'.*'(datetime\.)?(date|datetime)'|'(datetime\.)?(date|datetime)'.*'str'",
        "one side is text: date.fromisoformat(text) or datetime.fromisoformat(text) reads a date",
    ),
    (
        r"unsupported format string passed to",
        "the value has no format of its own: write str(x) in the braces, or take the field that is meant",
    ),
    (
        r"Unknown format code '\w' for object of type 'str'",
        "the value is text: write float(x) in the braces for a number",
    ),
    (r"for >>: 'function'", "print is a function: print(..., file=sys.stderr)"),
    (r"doesn't define __round__", "round takes numbers: round(float(x), 2)"),
    (r"could not convert string to float", 'text with other signs: float(re.sub(r"[^0-9.-]", "", text))'),
    (r"invalid literal for int\(\) with base 10: '-?\d+\.\d+'", "the text is a decimal number: int(float(text))"),
    (r"invalid literal for int\(\)", 'text with other signs: int(re.sub(r"[^0-9-]", "", text))'),
    (
        r"^(?!.*<locals>)\w+\.\w+\(\) takes 0 positional arguments but 1 was given",
        "the first parameter of a method is self: write def name(self):",
    ),
    (r"'async for' requires an object with __aiter__", "it is no stream: write a plain `for`"),
    (r"does not support the asynchronous context manager", "write `with`, without async"),
    (
        r"Exceeds the limit \(\d+ digits\)",
        "sys.set_int_max_str_digits(0) allows longer numbers in text; a result has them as text: str(n)",
    ),
    (r"'module' object is not callable", "that is the module: write `from name import name`, or name.name(...)"),
]


def hint_for_text(at: Situation) -> str:
    """Return what to write, or nothing."""
    return next((hint for pattern, hint in _TEXTS if re.search(pattern, at.message)), "")
