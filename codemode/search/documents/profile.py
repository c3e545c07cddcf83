"""Profiles: values of each document that ranking needs, computed when the index is built."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from codemode.catalog.tool import Effect
from codemode.search.analysis import wordlists
from codemode.search.analysis.text import RAW_WORD, raw_words, surface_forms, term
from codemode.search.documents.documents import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.segment import Segment

_UNKNOWN = 0.1  # how sure it is that a write without an action changes something
_LEAST_RARITY = 1e-6  # of each field, empty ones included: avoids division by zero

#: Names of a field whose change is an action of its own: to close is to update a state.
_STATES = ("state", "status", "archived", "enabled", "disabled", "active", "paused", "closed", "locked", "trash")

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
    actions = np.fromiter(map(_actions, tools), np.uint64, len(tools))
    actions[_sets_a_state(documents, vocabulary, actions)] |= np.uint64(wordlists.changes_of_state())
    return Profile(rarity, actions, np.array(namespaces, np.int32))


def changes_of(tools: Sequence[Tool], actions: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return how sure it is that each tool changes something: 0 for reads, 1 for changes, less if nothing says.

    A write whose name only has kinds of action that read is a read: `POST /flows/filter`, called `read_flows`. A write
    whose name has no action may be a read as well. This depends on the operator's settings, so no file keeps it.
    """
    writes = np.fromiter((tool.effect is not Effect.READ for tool in tools), bool, len(tools))
    destroys = np.fromiter((tool.effect is Effect.DESTRUCTIVE for tool in tools), bool, len(tools))
    reading = np.uint64(wordlists.reading())
    changes = np.where(actions == 0, np.float32(_UNKNOWN), ((actions & ~reading) > 0).astype(np.float32))
    return np.where(destroys, np.float32(1), np.where(writes, changes, np.float32(0)))


def _sets_a_state(documents: Segment, vocabulary: Vocabulary, actions: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which documents are updates of a state, by their name or a parameter."""
    numbers = [vocabulary.number(term(word)) for word in _STATES]
    named = np.isin(documents.terms, [number for number in numbers if number is not None])
    named &= np.isin(documents.fields, (Field.NAME, Field.PARAMETERS))
    holders = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
    has_state = np.bincount(holders[named], minlength=len(documents)) > 0
    return has_state & ((actions & np.uint64(wordlists.kind("update"))) > 0)


def _actions(tool: Tool) -> int:
    """Return the kinds of action of a tool: those of its name, or else of the first word of its summary.

    A name has those of its first word, or else its last, or else all. `list` is added to one that reads or searches
    things in the plural.
    """
    kinds_of = wordlists.kinds_of
    forms = [form for raw in raw_words(tool.path.rpartition(".")[2]) for form in surface_forms(raw)]
    kinds = [kinds_of(form) for form in forms] or [0]
    action = kinds[0] or kinds[-1] or reduce(or_, kinds)
    if action & _reads() and any(form.endswith("s") and not term(form).endswith("s") for form in forms):
        action |= wordlists.kind("list")
    if action:
        return action
    first = RAW_WORD.search(tool.summary or tool.description)
    return kinds_of(first[0].lower()) if first else 0


@cache
def _reads() -> int:
    return wordlists.kind("read") | wordlists.kind("search")
