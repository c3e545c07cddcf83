"""Store the documents of each source as last read, for use while they cannot be fetched."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.errors import SourceError
from codemode.transports.http.addresses import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of one source while it is being read, by URL without password.

    Fetched texts are recorded in `noted`. If `known` is set, nothing is fetched and only those documents are used.
    """

    known: Mapping[str, str] | None = None
    noted: dict[str, str] = field(default_factory=dict)

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
    """Last known documents, in one file for each source. Write errors are ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, source: str, location: str) -> Documents | None:
        """Return the last known documents of a source at a location, or None."""
        try:
            data = json.loads(self._file(source).read_bytes())
            if data["location"] != without_userinfo(location):
                return None
            return Documents({str(url): str(text) for url, text in data["documents"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, source: str, location: str, documents: Documents) -> None:
        """Store the documents of a source that was read successfully, if they have changed."""
        known = self.read(source, location)
        if not documents.noted or (known is not None and known.known == documents.noted):
            return
        data = {"location": without_userinfo(location), "documents": documents.noted}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
                json.dump(data, file)
            Path(file.name).replace(self._file(source))
        except OSError:
            return

    def _file(self, source: str) -> Path:
        return self._folder / f"{source}.documents.json"
