"""Indexes on disk, by the state of the catalog they were built from: what was indexed once is opened, not built."""

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

#: Indexes beyond this many: the least recently written are removed.
MOST_KEPT = 10


class IndexCache:
    """Indexes in one folder. A folder that cannot be written is not an error: the index is built each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, catalog: Catalog, digests: Iterable[str], previous: Index) -> Index:
        """The index of a catalog with the weights of the one before: from disk where it is there, else built.

        `digests` are of the documents that the catalog was read from; where one is empty its state is not known, and
        the index is built. What `previous` has read of sources that are the same is not read again.
        """
        weights = previous.weights
        states = tuple(digests)
        if not all(states):
            return Index.build(catalog, previous=previous)
        key = hashlib.blake2b("\n".join((catalog.digest, *states)).encode(), digest_size=20).hexdigest()
        path = self._folder / f"{key}.index"
        found = load(path, catalog, key=key, weights=weights)
        if found is None:
            found = Index.build(catalog, previous=previous)
            self._keep(found, path, catalog, key)
        return found

    def _keep(self, index: Index, path: Path, catalog: Catalog, key: str) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            save(index, path, catalog, key=key)
            kept = sorted(self._folder.glob("*.index"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in kept[MOST_KEPT:]:
                old.unlink(missing_ok=True)
