"""Binary data that programs pass from one call to another by reference.

A reference is made from the content (SHA-256), so the same file has the same reference in every run. It is valid for
the caller that received or uploaded the content, and for nobody else.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import logging
import re
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from codemode.catalog.content import DIGITS, INLINE_KEY, PREFIX, REFERENCE_KEY, by_id, content_ids, id_in, is_inline
from codemode.errors import CallError, CodeModeError
from codemode.text.times import has_passed
from codemode.transports.media_types import media_type_of_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)

#: Bytes of content in memory, the most recently used: four answers of the default size limit.
KEPT_BYTES = 64 * 1024 * 1024

#: Seconds for which content is kept.
KEPT_S = 24 * 3600.0

#: Smallest size counted for an entry, so that tiny contents cannot become numerous.
LEAST_BYTES = 1024

#: Default media type, also for invalid ones (RFC 9110, 8.3.1), which could break out of a header.
ANY_BYTES = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+(\s*;[ -~]*)?", re.ASCII)

_ABSENT = "this content is no longer stored, or never was: download or upload it again, then pass it on"


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes with their media type and name. `expires` is the end of archived content, in seconds since 1970."""

    data: bytes
    media_type: str = ANY_BYTES
    name: str = ""
    expires: float | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        """The id: `c_` and 32 hexadecimal digits of the SHA-256 of media type, name and data."""
        digest = hashlib.sha256(f"{self.media_type}\0{self.name}\0".encode("utf-8", "replace"))
        digest.update(self.data)
        return f"{PREFIX}{digest.hexdigest()[:DIGITS]}"

    @property
    def reference(self) -> dict[str, Any]:
        """The JSON that stands for the content in programs."""
        name = {"name": self.name} if self.name else {}
        return {REFERENCE_KEY: self.id, "media_type": self.media_type, **name, "size_bytes": len(self.data)}

    @property
    def value(self) -> Any:
        """The content as JSON data: text in UTF-8 as text, other bytes as `{"$base64": …}`."""
        if b"\0" not in self.data:
            with suppress(UnicodeDecodeError):
                return self.data.decode()
        return {INLINE_KEY: base64.b64encode(self.data).decode()}

    def checked(self) -> Content:
        """Return the content with a valid media type. A missing one is recognized from the first bytes."""
        if _MEDIA_TYPE.fullmatch(self.media_type) is None:
            return replace(self, media_type=ANY_BYTES)
        recognized = media_type_of_bytes(self.data) if self.media_type == ANY_BYTES else ""
        return replace(self, media_type=recognized) if recognized else self


class ContentNotFound(CallError):
    """Content with this id is not stored for the caller."""

    code = "content_not_found"

    def __init__(self, message: str = _ABSENT) -> None:
        super().__init__(message)


class ContentArchive(Protocol):
    """Content that outlives this process."""

    async def keep(self, owner: str, content: Content) -> None:
        """Store content for a caller."""
        ...

    async def find(self, owner: str, id_: str) -> Content | None:
        """Return a caller's content, None if it is not stored."""
        ...


class ContentStore:
    """Content of all callers: the most recently used in memory, and all of it in an archive if there is one.

    Transports put and get content without waiting. The gateway fetches what a call's arguments refer to with `recall`
    before it sends the call, and stores what the answer brought with `save` before the program receives it.
    """

    def __init__(self, limit_bytes: int = KEPT_BYTES, *, keep_s: float = KEPT_S) -> None:
        #: Where content is stored beyond this process. None keeps it in memory only.
        self.archive: ContentArchive | None = None
        self._limit_bytes = limit_bytes
        self._keep_s = keep_s
        self._kept: OrderedDict[tuple[str, str], tuple[float, Content]] = OrderedDict()
        self._unsaved: dict[tuple[str, str], Content] = {}
        self._size_bytes = 0
        self._lock = Lock()
        self._saving = asyncio.Lock()

    def of(self, owner: str) -> OwnedContents:
        """Return the content of one caller, by the caller's id. References are valid for that id only."""
        return OwnedContents(self, owner)

    def put(self, content: Content, owner: str) -> dict[str, Any]:
        """Store content and return the JSON that a program receives for it."""
        content = content.checked()
        key = (owner, content.id)
        with self._lock:  # large answers are decoded in threads
            self._hold(key, content)
            if self.archive is not None:
                self._unsaved[key] = content
        return content.reference

    def get(self, value: Any, owner: str) -> Content:
        """Return the content of a program's value: a reference, `{"$base64": …}`, or text. Raises CallError."""
        if isinstance(value, str):
            return Content(value.encode("utf-8", "replace"), "text/plain; charset=utf-8")
        if isinstance(value, dict) and isinstance(value.get(INLINE_KEY), str):
            try:
                return Content(base64.b64decode(value[INLINE_KEY], validate=True)).checked()
            except binascii.Error:
                raise CallError("the value of '$base64' is not base64") from None
        content = self._held((owner, id_in(value)))
        if content is None:
            raise ContentNotFound
        return content

    async def add(self, content: Content, owner: str) -> dict[str, Any]:
        """Store content in memory and in the archive. Return its JSON. Raises what the archive raises."""
        content = content.checked()
        if self.archive is not None:
            await self.archive.keep(owner, content)
        with self._lock:
            self._hold((owner, content.id), content)
        return content.reference

    async def recall(self, value: Any, owner: str) -> None:
        """Fetch the archived content that a JSON value refers to, so that `get` finds it. Raises CallError."""
        try:
            await self._fetch(content_ids(value), owner)
        except CallError:
            raise
        except CodeModeError as error:
            raise CallError("stored content cannot be read at present; nothing was sent, try again later") from error

    async def restore(self, value: Any, owner: str) -> Any:
        """Return JSON data with each reference as it is stored, and as its id alone if it is not.

        A program may have written another name, type or size beside the id.
        """
        if not any(content_ids(value)):
            return value
        with suppress(CallError):  # the call itself reports it
            await self.recall(value, owner)
        return self._restored(value, owner)

    def _restored(self, value: Any, owner: str) -> Any:
        if isinstance(value, dict):
            id_ = id_in(value)
            content = self._held((owner, id_)) if id_ else None
            if content is not None:
                return content.reference
            return by_id(value) if id_ else {name: self._restored(part, owner) for name, part in value.items()}
        return [self._restored(part, owner) for part in value] if isinstance(value, list) else value

    async def find(self, id_: str, owner: str) -> Content:
        """Return a caller's content by id. Raises ContentNotFound."""
        await self._fetch((id_,), owner)
        content = self._held((owner, id_))
        if content is None:
            raise ContentNotFound
        return content

    async def save(self, owner: str) -> None:
        """Archive what was put for a caller. If the archive is unavailable, the content stays in memory."""
        if self.archive is None or not self._unsaved:
            return
        async with self._saving:  # whoever comes second waits until its content is stored as well
            with self._lock:
                mine = {key: self._unsaved.pop(key) for key in [*self._unsaved] if key[0] == owner}
            try:
                for content in mine.values():
                    await self.archive.keep(owner, content)
            except CodeModeError as error:
                log.warning("content is kept in memory only: %s", error)

    async def _fetch(self, ids: Iterable[str], owner: str) -> None:
        if self.archive is None:
            return
        for id_ in ids:
            if self._held((owner, id_)) is None:
                content = await self.archive.find(owner, id_)
                if content is not None:
                    with self._lock:
                        self._hold((owner, id_), content)

    def _held(self, key: tuple[str, str]) -> Content | None:
        with self._lock:
            until_s, content = self._kept.get(key, (0.0, None))
            if content is None or has_passed(until_s, time.time()):
                return None
            self._kept.move_to_end(key)
            return content

    def _hold(self, key: tuple[str, str], content: Content) -> None:
        _, replaced = self._kept.pop(key, (0.0, None))
        self._size_bytes += _weight(content) - (_weight(replaced) if replaced else 0)
        self._kept[key] = (time.time() + self._keep_s if content.expires is None else content.expires, content)
        while self._size_bytes > self._limit_bytes and len(self._kept) > 1:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._size_bytes -= _weight(dropped)


@dataclass(frozen=True, slots=True)
class OwnedContents:
    """The content of one caller in a store."""

    store: ContentStore
    owner: str

    def put(self, content: Content) -> dict[str, Any]:
        """Store content and return the JSON that a program receives for it."""
        return self.store.put(content, self.owner)

    def get(self, value: Any) -> Content:
        """Return the content of a program's value. Raises CallError for references of other callers."""
        return self.store.get(value, self.owner)

    def as_base64(self, value: Any) -> Any:
        """Return JSON data with the base64 of each content in the content's place. Raises CallError."""
        if id_in(value) or is_inline(value):
            return base64.b64encode(self.get(value).data).decode()
        if isinstance(value, dict):
            return {name: self.as_base64(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.as_base64(item) for item in value]
        return value


def _weight(content: Content) -> int:
    return max(len(content.data), LEAST_BYTES)
