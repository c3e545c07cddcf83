"""Store the documents of each source as last read, for use while they cannot be fetched."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemode.errors import SourceError
from codemode.shared.values import UNAVAILABLE
from codemode.transports.http.addresses import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.shared.values import ValueStore


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of one source while it is being read, by URL without password.

    Fetched texts are recorded in `noted`. If `known` is set, nothing is fetched and only those documents are used.
    """

    known: Mapping[str, str] | None = None
    noted: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The digest of all texts, known or fetched (BLAKE2b, in hexadecimal)."""
        texts = sorted((self.noted if self.known is None else self.known).items())
        return hashlib.blake2b(json.dumps(texts).encode(), digest_size=20).hexdigest()

    async def text(self, url: str, fetch: Callable[[], Awaitable[str]]) -> str:
        """Return the text at a URL. Raises SourceError for an unknown URL, and any error of `fetch`."""
        address = without_userinfo(url)
        if self.known is not None:
            if address not in self.known:
                raise SourceError("is missing from the last known documents", location=url)
            return self.known[address]
        text = self.noted[address] = await fetch()
        return text


class KnownDocuments:
    """Last known documents, in one shared value for each source. Write errors are ignored."""

    def __init__(self, store: ValueStore, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def read(self, source: str, location: str) -> Documents | None:
        """Return the last known documents of a source at a location, or None."""
        try:
            return _parsed(self._store.value("documents", source).read(), location, least=0.0)
        except UNAVAILABLE:
            return None

    def recent(self, source: str, location: str) -> Documents | None:
        """Return documents that another server has fetched just now, or None. None on a single machine."""
        if not self._store.repeats_s:
            return None
        try:
            least = self._clock() - self._store.repeats_s
            return _parsed(self._store.value("documents", source).read(), location, least=least)
        except UNAVAILABLE:
            return None

    def keep(self, source: str, location: str, documents: Documents) -> None:
        """Store the documents of a source that was read successfully, if they have changed."""
        if not documents.noted:
            return
        value = {"location": without_userinfo(location), "documents": documents.noted}

        def store(data: bytes | None) -> bytes | None:
            known = _parsed(data, location, least=0.0)
            is_known = known is not None and known.known == documents.noted
            if is_known and not self._store.repeats_s:
                return None
            return json.dumps(value | {"read": self._clock()}).encode()

        with suppress(*UNAVAILABLE):
            self._store.value("documents", source).change(store)


def _parsed(data: bytes | None, location: str, *, least: float) -> Documents | None:
    """Return the documents of a value, None if they are of another location or were read before `least`."""
    try:
        content = json.loads(data or b"{}")
        if content["location"] != without_userinfo(location) or content.get("read", 0.0) < least:
            return None
        return Documents({str(url): str(text) for url, text in content["documents"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
