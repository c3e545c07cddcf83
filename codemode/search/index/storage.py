"""Index files: one file for each index, whose arrays are memory-mapped on load."""

from __future__ import annotations

import hashlib
import json
import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from codemode.search.analysis.spelling import Spelling
from codemode.search.analysis.vocabulary import Vocabulary
from codemode.search.documents.postings import Postings
from codemode.search.documents.profile import Profile
from codemode.search.documents.segment import Segment
from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index
from codemode.search.ranking.exact import ExactNames

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from codemode.catalog.catalog import Catalog

_MAGIC = b"codemode index 6\n"
_ALIGNMENT = 64  # bytes, a multiple of every item size
_SOURCE_FIELDS = ("id", "summary", "description", "retrieval_text", "source")


def fingerprint(catalog: Catalog) -> str:
    """Return a hash of the texts of all tools. An index is loaded only for the same texts."""
    state = hashlib.blake2b(digest_size=16)
    for tool in catalog:
        parts = [getattr(tool, name) for name in _SOURCE_FIELDS]
        parts += [*tool.tags, *tool.aliases, *tool.examples, *tool.related]
        parts += [text for parameter in tool.parameters for text in (parameter.name, parameter.description)]
        state.update("\x1f".join(parts).encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def save(index: Index, path: Path, catalog: Catalog, *, key: str = "") -> None:
    """Write an index of `catalog` atomically: readers see the old file or the new one.

    `key` identifies the state of the catalog, such as a hash of its source digests. Without a key, `fingerprint` reads
    all texts, which takes longer than loading the index. Raises OSError.
    """
    arrays = _arrays(index)
    places: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        offset += -offset % _ALIGNMENT
        places[name] = [offset, str(array.dtype), list(array.shape)]
        offset += array.nbytes
    head = {"key": key or fingerprint(catalog), "weights": repr(index.weights), "arrays": places}
    header = json.dumps(head).encode()
    start = len(_MAGIC) + 8 + len(header)
    padding = -start % _ALIGNMENT
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(_MAGIC + (len(header) + padding).to_bytes(8, "little") + header + b" " * padding)
        for name, array in arrays.items():
            file.seek(start + padding + places[name][0])
            file.write(np.ascontiguousarray(array).tobytes())
    beside.replace(path)


def load(path: Path, catalog: Catalog, *, key: str = "", weights: Weights | None = None) -> Index | None:
    """Load the index of `catalog` from a file. Return None without a file, or for another key, format or weights."""
    chosen = weights or Weights()
    opened = _open(path)
    if opened is None:
        return None
    head, arrays = opened
    if head["weights"] != repr(chosen) or head["key"] != (key or fingerprint(catalog)):
        return None
    tools = Index.arranged(catalog)
    vocabulary = Vocabulary(_words(arrays["terms"]), _words(arrays["surfaces"]), arrays["of_surface"].tolist())
    documents = Segment(*(arrays[f"documents.{name}"] for name in Segment.__slots__))
    postings = Postings(len(tools), *(arrays[f"postings.{name}"] for name in Postings.__slots__ if name != "size"))
    return Index(
        tools, documents, vocabulary, postings, weights=chosen,
        profile=Profile(*(arrays[f"profile.{name}"] for name in Profile.__slots__)),
        exact=ExactNames(tools, arrays["names.hashes"], arrays["names.documents"]),
        spelling=Spelling(
            vocabulary.surfaces, vocabulary.term_of_surface, (arrays["spelling.lengths"], arrays["spelling.masks"])
        ),
    )  # fmt: skip


def _arrays(index: Index) -> dict[str, NDArray[Any]]:
    vocabulary = index.vocabulary
    return {
        "terms": _text(vocabulary.terms),
        "surfaces": _text(vocabulary.surfaces),
        "of_surface": vocabulary.term_of_surface,
        **{f"documents.{name}": getattr(index.documents, name) for name in Segment.__slots__},
        **{f"postings.{name}": getattr(index.postings, name) for name in Postings.__slots__ if name != "size"},
        **{f"profile.{name}": getattr(index.profile, name) for name in Profile.__slots__},
        "spelling.lengths": index.spelling.lengths,
        "spelling.masks": index.spelling.masks,
        "names.hashes": index.exact.hashes,
        "names.documents": index.exact.documents,
    }


def _text(words: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _words(array: NDArray[np.uint8]) -> list[str]:
    content = array.tobytes().decode()
    return content.split("\n") if content else []


def _open(path: Path) -> tuple[Mapping[str, Any], dict[str, NDArray[Any]]] | None:
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, ValueError):  # ValueError: an empty file cannot be mapped
        return None
    if content[: len(_MAGIC)] != _MAGIC:
        return None
    start = len(_MAGIC) + 8
    size = int.from_bytes(content[len(_MAGIC) : start], "little")
    head = json.loads(content[start : start + size])
    arrays = {}
    for name, (offset, dtype, shape) in head["arrays"].items():
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(content, np.dtype(dtype), count, start + size + offset).reshape(shape)
    return head, arrays
