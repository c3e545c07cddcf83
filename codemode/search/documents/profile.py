"""Profiles: values of each document that ranking needs, computed when the index is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import wordlists
from codemode.search.documents.documents import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.segment import Segment

_LEAST_RARITY = 1e-6  # of each field, empty ones included: avoids division by zero

COVERED = [Field.NAME, Field.HOME, Field.SUMMARY]


@dataclass(frozen=True, slots=True)
class Profile:
    """Profiles of all documents.

    `rarity` is documents x `COVERED`: the summed rarity of the terms in a field. `actions` are the kinds of action of
    each document as bits, and `namespaces` numbers its namespace.
    """

    rarity: NDArray[np.float32]
    actions: NDArray[np.uint64]
    namespaces: NDArray[np.int32]


def build_profile(tools: Sequence[Tool], documents: Segment, postings: Postings, vocabulary: Vocabulary) -> Profile:
    """Compute the profiles of all documents."""
    holders = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(documents.starts))
    rarity = np.zeros((len(documents), len(COVERED)), np.float32)
    for column, field in enumerate(COVERED):
        rows = documents.fields == field
        worth = postings.rarity[documents.terms[rows]]
        rarity[:, column] = np.bincount(holders[rows], worth, minlength=len(documents)).clip(min=_LEAST_RARITY)
    numbers: dict[str, int] = {}
    namespaces = [numbers.setdefault(tool.namespace, len(numbers)) for tool in tools]
    actions = _of_many(documents, vocabulary, _actions(documents, _kinds_of_surfaces(vocabulary)))
    return Profile(rarity, actions, np.array(namespaces, np.int32))


def _of_many(documents: Segment, vocabulary: Vocabulary, kinds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Add the kind `list` to documents whose name has the kind `read` and a plural."""
    pairs = zip(vocabulary.surfaces, vocabulary.term_of_surface.tolist(), strict=True)
    terms = vocabulary.terms
    plural = np.array([form.endswith("s") and not terms[term].endswith("s") for form, term in pairs], bool)
    owners = np.repeat(np.arange(len(documents)), np.diff(documents.name_starts))
    many = np.zeros(len(documents), bool)
    many[owners[plural[documents.names]]] = True
    read, listed = np.uint64(wordlists.kind("read")), np.uint64(wordlists.kind("list"))
    return np.where(many & ((kinds & read) > 0), kinds | listed, kinds)


def _kinds_of_surfaces(vocabulary: Vocabulary) -> NDArray[np.uint64]:
    kinds = np.zeros(len(vocabulary), np.uint64)
    for term, bits in wordlists.actions().items():
        number = vocabulary.number(term)
        if number is not None:
            kinds[number] = bits
    return kinds[vocabulary.term_of_surface]


def _actions(documents: Segment, kinds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the kinds of action of each name: those of its first word, or else its last, or else all its words."""
    chosen = np.zeros(len(documents), np.uint64)
    starts, ends = documents.name_starts[:-1], documents.name_starts[1:]
    named = np.flatnonzero(ends > starts)
    of_names = kinds[documents.names]
    np.bitwise_or.at(chosen, np.repeat(np.arange(len(documents)), ends - starts), of_names)
    for place in (ends[named] - 1, starts[named]):
        chosen[named] = np.where(of_names[place] > 0, of_names[place], chosen[named])
    return chosen
