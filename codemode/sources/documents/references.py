"""Read the documents that an entry document refers to, from its own folder or origin only."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from codemode.catalog.schema import walk
from codemode.errors import ConfigurationError, SourceError
from codemode.sources.documents.digest import text_digest
from codemode.sources.documents.parse import own_uri, parse_document
from codemode.sources.loaded import SourceWarning
from codemode.transports.http.addresses import origin
from codemode.transports.http.fetch import LARGEST_DOCUMENT_BYTES, fetch_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

#: The most documents of one source. The largest published tree, DigitalOcean's, has 2,907 files.
MOST_DOCUMENTS = 20_000

_PARALLEL_FETCHES = 8


class FileTree:
    """The files in the folder of an entry document, read on first reference."""

    def __init__(self, entry: Path) -> None:
        path = entry.resolve()
        self.entry = path.as_uri()
        self._root = path.parent
        self._read: dict[str, Any] = {}
        self._size_bytes = 0
        self.digests: dict[str, str] = {}
        self.warnings: list[SourceWarning] = []

    def __call__(self, uri: str) -> Any:
        """Return the data of a file by its `file:` URI. Adds a warning and returns None if it cannot be read."""
        if uri not in self._read:
            self._read[uri] = self._parsed(uri)
        return self._read[uri]

    def closure(self, entry: Any) -> dict[str, Any]:
        """Return all files that the entry document refers to, directly or indirectly, by URI."""
        open_ = set(_references(entry, self.entry))
        documents: dict[str, Any] = {}
        while open_:
            for uri in open_:
                documents[uri] = self(uri)
            open_ = (
                {target for uri in open_ for target in _references(documents[uri], uri)}
                - documents.keys()
                - {self.entry}
            )
        return {uri: document for uri, document in documents.items() if document is not None}

    def digest(self, uri: str) -> str | None:
        """Return the current digest of a file, or None if it cannot be read."""
        path = self._path(uri)
        try:
            return None if path is None else text_digest(path.read_bytes())
        except OSError:
            return None

    def _path(self, uri: str) -> Path | None:
        parts = urlsplit(uri)
        path = Path(unquote(parts.path)).resolve()
        return path if parts.scheme == "file" and path.is_relative_to(self._root) else None

    def _parsed(self, uri: str) -> Any:
        path = self._path(uri)
        if path is None:
            self.warnings.append(SourceWarning(uri, "is outside the entry document's folder: not read"))
            return None
        try:
            data = path.read_bytes()
            self._size_bytes += len(data)
            if self._size_bytes > LARGEST_DOCUMENT_BYTES or len(self._read) > MOST_DOCUMENTS:
                self.warnings.append(SourceWarning(uri, "the referenced documents are too large together: not read"))
                return None
            self.digests[uri] = text_digest(data)
            return parse_document(data.decode("utf-8-sig"), location=uri)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            self.warnings.append(SourceWarning(uri, f"cannot be read: {reason}"))
        except SourceError as error:
            self.warnings.append(SourceWarning(uri, str(error)))
        return None


class FetchedTree:
    """The documents on the origin of an entry document, fetched in advance."""

    def __init__(self, documents: dict[str, Any], warnings: list[SourceWarning]) -> None:
        self._documents = documents
        self.warnings = warnings
        self.digests = dict.fromkeys(list(documents)[1:], "fetched")  # not a digest: never found in a cache

    def __call__(self, uri: str) -> Any:
        """Return the data of a document by its URL, or None if it was not fetched."""
        return self._documents.get(uri)

    def closure(self, entry: Any) -> dict[str, Any]:
        """Return all documents except the entry document, by URI."""
        return {uri: document for uri, document in self._documents.items() if document is not entry}


async def fetch_tree(url: str, entry: Any, *, fetch: Callable[[str], Awaitable[str]] = fetch_text) -> FetchedTree:
    """Fetch the documents that `entry` refers to, directly or indirectly, on the origin of its `url`."""
    documents: dict[str, Any] = {url: entry}
    warnings: list[SourceWarning] = []
    gate = asyncio.Semaphore(_PARALLEL_FETCHES)

    async def load(target: str) -> None:
        async with gate:
            try:
                documents[target] = parse_document(await fetch(target), location=target)
            except SourceError as error:
                warnings.append(SourceWarning(target, str(error)))

    open_ = {url}
    while open_:
        wanted = {target for base in open_ for target in _references(documents.get(base), base)} - set(documents)
        allowed = {target for target in wanted if _is_same_origin(target, url)}
        warnings.extend(
            SourceWarning(target, "is on another origin than the entry document: not fetched")
            for target in sorted(wanted - allowed)
        )
        known = {warning.pointer for warning in warnings}
        open_ = allowed - known
        if len(documents) + len(open_) > MOST_DOCUMENTS:
            warnings.append(
                SourceWarning(url, f"refers to more than {MOST_DOCUMENTS:,} documents: the others are not fetched")
            )
            break
        await asyncio.gather(*(load(target) for target in sorted(open_)))
    return FetchedTree(documents, warnings)


def _references(document: Any, base: str) -> Iterator[str]:
    own = own_uri(document, base)
    for part in walk(document):
        reference = part.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            with suppress(ValueError):  # not a URL: reported as dangling when it is followed
                target = urldefrag(urljoin(base, reference))[0]
                if target != own:
                    yield target


def _is_same_origin(left: str, right: str) -> bool:
    try:
        return origin(left) == origin(right)
    except ConfigurationError:
        return False
