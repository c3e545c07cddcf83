"""Postings: for each term the documents that contain it, with their BM25F impacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codemode.search.documents.segment import Segment
    from codemode.search.documents.weights import Weights


@dataclass(frozen=True, slots=True)
class Postings:
    """Postings of all terms. Term `t` occurs in `documents[starts[t]:starts[t + 1]]`, in ascending order.

    `impacts[starts[t]:starts[t + 1]]` are its saturated term frequencies, to be multiplied by `rarity[t]`. `size` is
    the number of documents.
    """

    size: int
    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    impacts: NDArray[np.float32]
    rarity: NDArray[np.float32]


def build_postings(documents: Segment, weights: Weights, terms: int) -> Postings:
    """Compute the postings of all documents. `terms` is the size of the vocabulary."""
    size = len(documents)
    holders, keys, impacts = _impacts(documents, weights)
    frequency = np.bincount(keys, minlength=terms)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(frequency)))
    order = _stable_order(keys)
    return Postings(size, starts, holders[order], impacts[order], rarity_of(frequency, size, weights))


def rarity_of(frequency: NDArray[np.int64], size: int, weights: Weights) -> NDArray[np.float32]:
    """Return the inverse document frequency of terms, raised to `weights.rarity_power`.

    `frequency` is the number of documents with each term, of `size` documents. The formula is that of Lucene's BM25:
    ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    inverse = np.log1p((size - frequency + 0.5) / (frequency + 0.5))
    rarity: NDArray[np.float32] = inverse.astype(np.float32) ** weights.rarity_power
    return rarity


def _impacts(documents: Segment, weights: Weights) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return documents, terms and impacts, one row for each term of each document."""
    b = np.asarray(weights.length_b)
    average = np.maximum(documents.lengths.mean(axis=0) if len(documents) else b, 1.0)
    w = np.asarray(weights.fields)
    present = (documents.lengths > 0).dot(w)
    fill = (w.sum() / np.maximum(present, 1.0)) ** weights.fill
    per_field = (w / (1 - b + b * documents.lengths / average) * fill[:, None]).astype(np.float32)
    holders = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(documents.starts))
    weighted = documents.counts * per_field[holders, documents.fields]
    first = np.ones(len(holders), bool)
    first[1:] = (holders[1:] != holders[:-1]) | (documents.terms[1:] != documents.terms[:-1])
    at = np.flatnonzero(first)
    frequency = np.add.reduceat(weighted, at) if len(at) else weighted
    k1 = np.float32(weights.saturation_k1)
    return holders[at], documents.terms[at], frequency * (k1 + 1) / (frequency + k1)


def _stable_order(keys: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return `keys.argsort(kind="stable")`, several times faster, by sorting key and position as one number."""
    bits = max(len(keys) - 1, 1).bit_length()
    both = keys.astype(np.int64) << bits
    both |= np.arange(len(keys))
    both.sort()
    both &= (1 << bits) - 1
    return both
