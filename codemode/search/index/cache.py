"""A cache of indexes on disk, keyed by the state of the catalog."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from codemode.search.index.index import Index
from codemode.search.index.storage import load, save

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from codemode.catalog.catalog import Catalog
    from codemode.search.documents.weights import Weights

#: Number of indexes in the cache. The least recently written ones are removed.
MOST_KEPT = 10


class IndexCache:
    """A folder of indexes. If the folder is not writable, indexes are built each time without an error."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, catalog: Catalog, digests: Iterable[str], *, previous: Index | None, weights: Weights) -> Index:
        """Load the index of a catalog from disk, or build it.

        `digests` are those of the source documents. An empty digest stands for an unknown state, and the index is then
        built. A build reuses the segments of `previous` for unchanged sources.
        """
        states = tuple(digests)
        if not all(states):
            return Index.build(catalog, previous=previous, weights=weights)
        key = hashlib.blake2b("\n".join((catalog.digest, *states)).encode(), digest_size=20).hexdigest()
        path = self._folder / f"{key}.index"
        index = load(path, catalog, key=key, weights=weights)
        if index is None:
            index = Index.build(catalog, previous=previous, weights=weights)
            self._keep(index, path, catalog, key)
        return index

    def _keep(self, index: Index, path: Path, catalog: Catalog, key: str) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            save(index, path, catalog, key=key)
            kept = sorted(self._folder.glob("*.index"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in kept[MOST_KEPT:]:
                old.unlink(missing_ok=True)
