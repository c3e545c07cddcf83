"""JSON for readers that keep numbers as doubles, such as clients in JavaScript.

They round integers beyond 2**53 - 1, and an id of a service is then the id of something else (RFC 8259, section 6).
"""

from __future__ import annotations

from typing import Any

#: The largest integer up to which every integer has a double of its own (`Number.MAX_SAFE_INTEGER`).
LARGEST = 2**53 - 1

#: The note beside data in which integers were replaced.
NOTE = "integers beyond 2**53 are text here, since clients would round them: pass them on as numbers, digit by digit"


def safe_integers(data: Any) -> Any:
    """Return JSON data in which integers beyond 2**53 - 1 are text; the same object if there are none."""
    if isinstance(data, int):
        return str(data) if not isinstance(data, bool) and abs(data) > LARGEST else data
    if isinstance(data, dict):
        fields = {name: safe_integers(value) for name, value in data.items()}
        return fields if any(fields[name] is not value for name, value in data.items()) else data
    if isinstance(data, (list, tuple)):
        items = [safe_integers(item) for item in data]
        return items if any(new is not old for new, old in zip(items, data, strict=True)) else data
    return data
