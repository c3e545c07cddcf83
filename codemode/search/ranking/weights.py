"""The numbers that search turns on. How each was found, and what it is worth: docs/benchmarks/search-notebook.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a feature of `ranking` adds to the score of a candidate; `sum` itself counts once.
RANKING = MappingProxyType(
    {
        "name_covered": 0.17,
        "home_covered": 0.06,
        "summary_covered": 0.15,
        "query_covered": 0.6,
        "head_covered": 0.1,
        "words_found": 0.15,
        "namespace_covered": 0.12,
        "name_in_order": 0.2,
        "name_opens": 0.05,
        "name_length": -0.05,
        "name_verbatim": 0.15,
        "action_differs": -0.15,
        "no_action_agrees": -0.07,
        "text_length": -0.012,
    }
)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much fields, words and features count.

    `fields` and `length_b` (how much a field's length counts) are in the order of `documents.Field`; `fill` is how far
    tools without some fields are made up for it. `rarity_power` is the power that the rarity of a term is raised to.
    """

    fields: tuple[float, ...] = (2.0, 1.5, 1.5, 0.7, 0.7, 0.6, 1.0)
    length_b: tuple[float, ...] = (0.3, 0.3, 0.6, 0.95, 0.95, 0.75, 0.6)
    fill: float = 1.5
    saturation_k1: float = 1.5
    rarity_power: float = 1.2

    #: Of words that say little, of actions, of sentences that only tell the circumstances, of quoted values,
    #: of the action that goes without saying, of the kind of thing that a value is.
    faint: float = 0.6
    action: float = 0.7
    circumstance: float = 0.7
    quoted: float = 0.4
    implied: float = 0.4
    value: float = 0.5

    #: Of what stands for a word: its synonyms (`substitute`: when no tool has the word in its name; `same_action`: and
    #: both are words for one action, each less than the one before), its short or long form, the one word that it makes
    #: with the next or the two that it is made of (`compound`), what it was a typo of (less for a proper name).
    synonym: float = 0.2
    substitute: float = 0.5
    same_action: float = 0.9
    abbreviation: float = 0.5
    compound: float = 0.5
    typo: float = 0.7
    name_typo: float = 0.3
    corrections: int = 3

    #: What a standard deviation of nearness in meaning adds to a score, where there are embeddings.
    meaning: float = 0.15

    #: How many candidates are looked at closely at least; among many tools, the square root of their number.
    ranked: int = 60
    ranking: Mapping[str, float] = field(default_factory=lambda: RANKING)
