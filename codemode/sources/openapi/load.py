"""Load the tools of a document from a file, a URL or the cache."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.loading import LoadingStep
from codemode.errors import SourceError
from codemode.settings import is_url
from codemode.shared.callbacks import ignore
from codemode.sources.documents.digest import text_digest
from codemode.sources.documents.parse import parse_document
from codemode.sources.documents.references import FetchedTree, FileTree, fetch_tree
from codemode.sources.openapi.discovery import as_openapi, is_discovery
from codemode.sources.openapi.discriminators import with_children
from codemode.sources.openapi.document import details_of, load_openapi
from codemode.sources.openapi.overlays import overlaid
from codemode.transports.http.fetch import LARGEST_DOCUMENT_BYTES, fetch_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.loading import LoadingListener
    from codemode.catalog.tool import Tool
    from codemode.sources.loaded import SourceWarning, Surface
    from codemode.sources.openapi.cache import CatalogCache
    from codemode.sources.stable_ids import StableIds

    Fetch = Callable[[str], Awaitable[str]]

#: A reference to another document, in JSON or YAML. A path may end in `$ref`, as in Microsoft Graph.
_EXTERNAL = re.compile(rb"""\$ref["']?\s*:\s*["']?(?![\s"'#{])""")

#: The number of warnings that an error repeats if no operation could be read.
_REASONS = 3


@dataclass(frozen=True, slots=True)
class Edits:
    """What the operator changes of a document: overlays as texts by their files, and whether internal parts stay."""

    overlays: Mapping[str, str] = field(default_factory=dict)
    keeps_internal: bool = False


_NONE = Edits()


async def read_surface(
    name: str,
    location: str,
    *,
    fetch: Fetch = fetch_text,
    cache: CatalogCache | None = None,
    known_ids: StableIds | None = None,
    progress: LoadingListener = ignore,
    edits: Edits = _NONE,
) -> Surface:
    """Read a document and the documents that it refers to, with the operator's edits.

    `fetch` returns the text at a URL. `known_ids` holds the stored tool ids; ids of new operations are added to it.
    Raises SourceError, which names the file or URL. `progress` receives the size of the document once it is read.
    """
    data = await _bytes(location, fetch)
    progress(LoadingStep("parsing", name, size_bytes=len(data)))
    make = partial(_cached, data, name, location, fetch, cache, edits)
    return await (make({}) if known_ids is None else known_ids.named(name, make))


async def _cached(
    data: bytes,
    name: str,
    location: str,
    fetch: Fetch,
    cache: CatalogCache | None,
    edits: Edits,
    ids: Mapping[str, str],
) -> Surface:
    if cache is None:
        return await _read(data, name, location, fetch, None, "", edits, ids)
    key = cache.key(data, name, [location, edits.overlays, edits.keeps_internal])
    tree = None if is_url(location) else FileTree(Path(location))
    cached = await asyncio.to_thread(cache.read, key, details_of, tree.digest if tree else _unknown_digest)
    if cached is not None and all(ids.get(tool.key, tool.id) == tool.id for tool in cached.tools):
        return cached
    return await _read(data, name, location, fetch, cache, key, edits, ids)


async def _read(
    data: bytes,
    name: str,
    location: str,
    fetch: Fetch,
    cache: CatalogCache | None,
    key: str,
    edits: Edits,
    ids: Mapping[str, str],
) -> Surface:
    repeated: list[SourceWarning] = []
    document = await asyncio.to_thread(_parsed, data, location, edits.overlays, repeated)
    if is_url(location):
        tree: FetchedTree | FileTree = await fetch_tree(
            location, document if _EXTERNAL.search(data) else {}, fetch=fetch
        )
        uri = location
    else:
        tree = FileTree(Path(location))
        uri = tree.entry
    load = partial(load_openapi, name=name, uri=uri, retrieve=tree, known_ids=ids, keeps_internal=edits.keeps_internal)
    surface = await asyncio.to_thread(_at, location, load, document)
    warnings = (*repeated, *surface.warnings)
    surface = replace(surface, digest=_digest(key, tree.digests, surface.tools), warnings=warnings)
    if not surface.tools:
        unread = "".join(f"; {pointer}: {reason}" for pointer, reason in surface.warnings[:_REASONS])
        message = f"has no callable operations: check `paths`{unread}"
        raise SourceError(message, location=location)
    if cache is not None:
        has_others = _EXTERNAL.search(data) is not None
        others = await asyncio.to_thread(tree.closure, document) if has_others else {}
        await asyncio.to_thread(_keep, cache, key, surface, {uri: document, **others}, uri, tree)
    return replace(surface, warnings=(*surface.warnings, *tree.warnings))


def _keep(
    cache: CatalogCache, key: str, surface: Surface, documents: dict[str, Any], uri: str, tree: FetchedTree | FileTree
) -> None:
    whole = replace(surface, warnings=(*surface.warnings, *tree.warnings))
    cache.write(key, whole, documents, uri, tree.digests)


def _digest(key: str, files: Mapping[str, str], tools: tuple[Tool, ...]) -> str:
    """Return the digest of a document and its references. Empty if fetched references may have changed."""
    if not key or "fetched" in files.values():
        return ""
    return text_digest(json.dumps([key, sorted(files.items()), [tool.id for tool in tools]]).encode())


def _unknown_digest(_: str) -> None:
    """Return None: referenced documents behind a URL may have changed."""


def _at(location: str, load: Callable[[Any], Surface], document: Any) -> Surface:
    try:
        return load(document)
    except SourceError as error:
        raise error.at(location) from None


def _parsed(data: bytes, location: str, overlays: Mapping[str, str], warnings: list[SourceWarning]) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError("is not UTF-8 text", location=location) from None
    document = overlaid(parse_document(text, location=location, warnings=warnings), overlays, warnings)
    try:
        return as_openapi(document) if is_discovery(document) else with_children(document)
    except SourceError as error:
        raise error.at(location) from None


async def _bytes(location: str, fetch: Fetch) -> bytes:
    if is_url(location):
        return (await fetch(location)).encode()
    return await asyncio.to_thread(_file_bytes, Path(location))


def _file_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_DOCUMENT_BYTES:
            message = f"is larger than {LARGEST_DOCUMENT_BYTES:,} bytes"
            raise SourceError(message, location=str(path))
        return path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise SourceError(message, location=str(path)) from None
