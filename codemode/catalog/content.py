"""Binary data in JSON: a reference to content that the host stores, or inline bytes.

{"$content": "c_5f2…", "media_type": "image/png", "size_bytes": 48213}      returned by downloads, accepted by uploads
{"$base64": "aGVsbG8="}                                                     bytes that a program has made
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE_KEY = "$content"
INLINE_KEY = "$base64"

#: How the id of stored content begins, and its hexadecimal digits.
PREFIX, DIGITS = "c_", 32

_ID = re.compile(rf"{PREFIX}[0-9a-f]{{{DIGITS}}}")


def is_content(value: Any) -> bool:
    """Whether a JSON value represents binary data."""
    return isinstance(value, Mapping) and (isinstance(value.get(REFERENCE_KEY), str) or is_inline(value))


def is_content_id(text: str) -> bool:
    """Whether a text has the form of the id of stored content."""
    return _ID.fullmatch(text) is not None


def is_inline(value: Any) -> bool:
    """Whether a JSON value is inline bytes."""
    return isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get(INLINE_KEY), str)


def id_in(value: Any) -> str:
    """Return the id in a content reference, "" for any other value."""
    id_ = value.get(REFERENCE_KEY) if isinstance(value, Mapping) else None
    return id_ if isinstance(id_, str) else ""


def by_id(value: Any) -> Any:
    """Return JSON data with each content reference as its id alone, which is a digest of the content.

    What a program wrote beside the id is its own: it describes nothing.
    """
    if isinstance(value, Mapping):
        id_ = id_in(value)
        return {REFERENCE_KEY: id_} if id_ else {name: by_id(part) for name, part in value.items()}
    return [by_id(part) for part in value] if isinstance(value, (list, tuple)) else value


def references_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the content references in JSON data, in order."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            if id_in(part):
                yield part
            else:
                pending.extend(reversed([*part.values()]))
        elif isinstance(part, (list, tuple)):
            pending.extend(reversed(part))


def content_ids(value: Any) -> Iterator[str]:
    """Yield the ids of the content references in JSON data."""
    return map(id_in, references_in(value))
