"""Binary data that programs pass from one call to another without reading it."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections import OrderedDict
from contextvars import ContextVar
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


#: Whose call is being made, by the caller's id: what it keeps is given back to nobody else.
OWNER: ContextVar[str] = ContextVar("content_owner", default="")


class ContentStore:
    """Content by reference, bounded: the least recently used goes first. References cannot be guessed.

    A reference is good for its `OWNER` alone: for anybody else there is no such content.
    """

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[str, tuple[str, Content]] = OrderedDict()
        self._size_bytes = 0
        self._changing = Lock()

    def put(self, content: Content) -> dict[str, Any]:
        """Keep content; returns the JSON that a program gets for it."""
        if _MEDIA_TYPE.fullmatch(content.media_type) is None:
            content = replace(content, media_type=_ANY_BYTES)
        key = f"c_{secrets.token_hex(16)}"
        with self._changing:  # large answers are read in threads
            self._kept[key] = (OWNER.get(), content)
            self._size_bytes += _weight(content)
            while self._size_bytes > self._limit_bytes and len(self._kept) > 1:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size_bytes -= _weight(dropped)
        reference: dict[str, Any] = {REFERENCE_KEY: key, "media_type": content.media_type}
        if content.name:
            reference["name"] = content.name
        return {**reference, "size_bytes": len(content.data)}

    def get(self, value: Any) -> Content:
        """The content that a program's value stands for: a reference, `{"$base64": …}`, or text. Raises CallError."""
        if isinstance(value, str):
            return Content(value.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        if isinstance(value, dict) and isinstance(value.get(INLINE_KEY), str):
            try:
                return Content(base64.b64decode(value[INLINE_KEY], validate=True))
            except binascii.Error:
                raise CallError("the value of '$base64' is not base64") from None
        key = value.get(REFERENCE_KEY) if isinstance(value, dict) else None
        with self._changing:
            owner, content = self._kept.get(key, ("", None)) if isinstance(key, str) else ("", None)
            if content is None or key is None or owner != OWNER.get():
                raise CallError("this content is no longer kept (or never was): download it again before passing it on")
            self._kept.move_to_end(key)
        return content


def _weight(content: Content) -> int:
    return max(len(content.data), LEAST_BYTES)
