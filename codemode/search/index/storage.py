"""Indexes on disk, one file for each state of a catalog."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from codemode.search.analysis.vocabulary import Vocabulary
from codemode.search.documents.postings import Postings
from codemode.search.documents.profile import Profile
from codemode.search.documents.segment import Segment
from codemode.search.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from codemode.catalog.catalog import Catalog
    from codemode.search.documents.weights import Weights

#: Part of every key: another number makes the files of earlier versions useless.
_FORMAT = "codemode index 8"

#: Number of indexes in a folder. The least recently written ones are removed.
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
            return Index.build(catalog, previous=previous, weights=weights, titles=catalog.titles)
        state = "\n".join((_FORMAT, repr(weights), catalog.digest, *states))
        path = self._folder / f"{hashlib.blake2b(state.encode(), digest_size=20).hexdigest()}.index"
        index = load(path, catalog, weights)
        if index is None:
            index = Index.build(catalog, previous=previous, weights=weights, titles=catalog.titles)
            self._keep(index, path)
        return index

    def _keep(self, index: Index, path: Path) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            save(index, path)
            kept = sorted(self._folder.glob("*.index"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in kept[MOST_KEPT:]:
                old.unlink(missing_ok=True)


def save(index: Index, path: Path) -> None:
    """Write an index atomically: readers see the old file or the new one. Raises OSError."""
    vocabulary = index.vocabulary
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        np.savez(
            file,
            terms=_text(vocabulary.terms),
            surfaces=_text(vocabulary.surfaces),
            of_surface=vocabulary.term_of_surface,
            **{
                f"{part}.{name}": getattr(getattr(index, part), name)
                for part, names in _PARTS.items()
                for name in names
            },
        )
    beside.replace(path)


def load(path: Path, catalog: Catalog, weights: Weights) -> Index | None:
    """Load the index of `catalog` with these weights from a file. Return None without a file, or for an invalid one."""
    try:
        with path.open("rb") as file, np.load(file) as members:
            arrays: dict[str, NDArray[Any]] = dict(members)
    except (OSError, ValueError, EOFError, BadZipFile):
        return None
    segment, postings, profile = ([arrays[f"{part}.{name}"] for name in names] for part, names in _PARTS.items())
    tools = Index.arranged(catalog)
    vocabulary = Vocabulary(_words(arrays["terms"]), _words(arrays["surfaces"]), arrays["of_surface"].tolist())
    parts = Segment(*segment), vocabulary, Postings(len(tools), *postings)
    return Index(tools, *parts, weights=weights, profile=Profile(*profile), titles=catalog.titles)


#: The parts of an index that only have arrays, and the names of these.
_PARTS = {
    "documents": Segment.__slots__,
    "postings": Postings.__slots__[1:],  # the number of documents is that of the tools
    "profile": Profile.__slots__,
}


def _text(words: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _words(array: NDArray[np.uint8]) -> list[str]:
    content = array.tobytes().decode()
    return content.split("\n") if content else []
