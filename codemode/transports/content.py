"""Binary data that programs pass from one call to another by reference."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from codemode.catalog.content import INLINE_KEY, REFERENCE_KEY
from codemode.errors import CallError

#: Content of this much is kept, the most recently used of it (four answers of the default size limit).
KEPT_BYTES = 64 * 1024 * 1024

#: What each counts for at least, so that nobody has many kept that are next to nothing.
LEAST_BYTES = 1024


#: What content is where nobody says it, or in what is no media type (RFC 9110, 8.3.1) and would break out of a header.
_ANY_BYTES = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+(\s*;[ -~]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes, what they are, and what they were called."""

    data: bytes
    media_type: str = _ANY_BYTES
    name: str = ""


class ContentStore:
    """Content of all callers, bounded: the least recently used goes first. References cannot be guessed."""

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[str, tuple[str, Content]] = OrderedDict()
        self._size_bytes = 0
        self._changing = Lock()

    def of(self, owner: str) -> OwnedContents:
        """Return the content of one caller, by the caller's id. References are valid for that id only."""
        return OwnedContents(self, owner)

    def put(self, content: Content, owner: str) -> dict[str, Any]:
        """Keep content and return the JSON that a program receives for it."""
        if _MEDIA_TYPE.fullmatch(content.media_type) is None:
            content = replace(content, media_type=_ANY_BYTES)
        key = f"c_{secrets.token_hex(16)}"
        with self._changing:  # large answers are read in threads
            self._kept[key] = (owner, content)
            self._size_bytes += _weight(content)
            while self._size_bytes > self._limit_bytes and len(self._kept) > 1:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size_bytes -= _weight(dropped)
        reference: dict[str, Any] = {REFERENCE_KEY: key, "media_type": content.media_type}
        if content.name:
            reference["name"] = content.name
        return {**reference, "size_bytes": len(content.data)}

    def get(self, value: Any, owner: str) -> Content:
        """Return the content of a program's value: a reference, `{"$base64": …}`, or text. Raises CallError."""
        if isinstance(value, str):
            return Content(value.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        if isinstance(value, dict) and isinstance(value.get(INLINE_KEY), str):
            try:
                return Content(base64.b64decode(value[INLINE_KEY], validate=True))
            except binascii.Error:
                raise CallError("the value of '$base64' is not base64") from None
        key = value.get(REFERENCE_KEY) if isinstance(value, dict) else None
        with self._changing:
            kept_by, content = self._kept.get(key, ("", None)) if isinstance(key, str) else ("", None)
            if content is None or key is None or kept_by != owner:
                raise CallError("this content is no longer kept (or never was): download it again before passing it on")
            self._kept.move_to_end(key)
        return content


@dataclass(frozen=True, slots=True)
class OwnedContents:
    """The content of one caller in a store."""

    store: ContentStore
    owner: str

    def put(self, content: Content) -> dict[str, Any]:
        """Keep content and return the JSON that a program receives for it."""
        return self.store.put(content, self.owner)

    def get(self, value: Any) -> Content:
        """Return the content of a program's value. Raises CallError for references of other callers."""
        return self.store.get(value, self.owner)


def _weight(content: Content) -> int:
    return max(len(content.data), LEAST_BYTES)
