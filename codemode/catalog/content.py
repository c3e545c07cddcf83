"""Binary data in JSON: a reference to content that the host stores, or inline bytes.

{"$content": "c_5f2…", "media_type": "image/png", "size_bytes": 48213}      returned by downloads, accepted by uploads
{"$base64": "aGVsbG8="}                                                     bytes that a program has made
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REFERENCE_KEY = "$content"
INLINE_KEY = "$base64"


def is_content(value: Any) -> bool:
    """Whether a JSON value represents binary data."""
    if not isinstance(value, Mapping):
        return False
    return isinstance(value.get(REFERENCE_KEY), str) or (len(value) == 1 and isinstance(value.get(INLINE_KEY), str))
