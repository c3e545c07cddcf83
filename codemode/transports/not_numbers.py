"""NaN and infinities in answers. JSON cannot carry them, so programs get their names as text.

Null would look like a missing value. `float(value)` turns the text into the number again.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

#: The names that services write, and Python's JSON parser reads.
NAMES = ("NaN", "Infinity", "-Infinity")


def name_of(number: float) -> str:
    """Return the name of a float that is no finite number."""
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def with_names(value: Any) -> Any:
    """Return data with a name in the place of each float that is not finite. Data without these is returned itself."""
    if type(value) is float:
        return value if isfinite(value) else name_of(value)
    if type(value) is dict:
        named = {key: with_names(item) for key, item in value.items()}
        return named if any(named[key] is not item for key, item in value.items()) else value
    if type(value) in (list, tuple):
        items = [with_names(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value
