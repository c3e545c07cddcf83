"""Segments: documents as arrays of numbers. Each source has one segment, so a changed source replaces only its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.documents.documents import Field, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Reader

FIELDS = len(Field)
_BATCH = 500  # tools read at a time, which bounds memory
_MOST = 255  # highest count of a term in one field


@dataclass(frozen=True, slots=True)
class Segment:
    """Documents as rows (document, term, field, count), sorted in that order.

    `starts[d]:starts[d + 1]` are the rows of document `d`. `lengths` is documents x fields: the number of terms in each
    field. `names[name_starts[d]:name_starts[d + 1]]` are the surface forms of its name, in order.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    fields: NDArray[np.uint8]
    counts: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    names: NDArray[np.int32]
    name_starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)

    def part(self, start: int, end: int) -> Segment:
        """Return the documents from `start` up to `end`. Only the start positions are copied."""
        rows = slice(self.starts[start], self.starts[end])
        names = slice(self.name_starts[start], self.name_starts[end])
        return Segment(
            self.starts[start : end + 1] - self.starts[start],
            self.terms[rows],
            self.fields[rows],
            self.counts[rows],
            self.lengths[start:end],
            self.names[names],
            self.name_starts[start : end + 1] - self.name_starts[start],
        )


def join(segments: Sequence[Segment]) -> Segment:
    """Concatenate segments."""
    return Segment(
        _joined_places([segment.starts for segment in segments]),
        np.concatenate([_NO_TERMS, *(segment.terms for segment in segments)]),
        np.concatenate([_NO_COUNTS, *(segment.fields for segment in segments)]),
        np.concatenate([_NO_COUNTS, *(segment.counts for segment in segments)]),
        np.concatenate([_NO_LENGTHS, *(segment.lengths for segment in segments)]),
        np.concatenate([_NO_TERMS, *(segment.names for segment in segments)]),
        _joined_places([segment.name_starts for segment in segments]),
    )


def read_segment(tools: Sequence[Tool], reader: Reader) -> Segment:
    """Read the documents of tools into a segment."""
    return join([_read_batch(tools[i : i + _BATCH], reader) for i in range(0, len(tools), _BATCH)])


_NO_TERMS = np.zeros(0, np.int32)
_NO_COUNTS = np.zeros(0, np.uint8)
_NO_LENGTHS = np.zeros((0, FIELDS), np.uint16)


def _joined_places(places: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    sizes = [np.diff(each) for each in places]
    return _places(np.concatenate([np.zeros(0, np.int64), *sizes]))


def _places(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    places = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=places[1:])
    return places


def _read_batch(tools: Sequence[Tool], reader: Reader) -> Segment:
    surfaces, places = reader.read([text for tool in tools for text in fields_of(tool)])
    terms = reader.vocabulary.term_of_surface[surfaces]
    lengths = np.bincount(places, minlength=len(tools) * FIELDS).reshape(-1, FIELDS)
    in_name = places % FIELDS == Field.NAME
    documents, fields = np.divmod(places.astype(np.int64), FIELDS)
    span = int(terms.max(initial=0)) + 1
    rows, counts = np.unique((documents * span + terms) * FIELDS + fields, return_counts=True)
    rows, row_fields = np.divmod(rows, FIELDS)
    row_documents, row_terms = np.divmod(rows, span)
    return Segment(
        _places(np.bincount(row_documents, minlength=len(tools))),
        row_terms.astype(np.int32),
        row_fields.astype(np.uint8),
        np.minimum(counts, _MOST).astype(np.uint8),
        np.minimum(lengths, np.iinfo(np.uint16).max).astype(np.uint16),
        surfaces[in_name],
        _places(lengths[:, Field.NAME]),
    )
