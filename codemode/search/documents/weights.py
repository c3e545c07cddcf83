"""All weights of search. docs/benchmarks/search-notebook.md explains the choice and the effect of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The weight of each ranking feature. The feature `sum` has the weight 1.
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
        "changes_unasked": -0.3,
        "reads_instead": -0.05,
        "text_length": -0.012,
        "source_named": 2.5,
        "whole_text": 0.2,
    }
)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of fields, words and features.

    `fields`, `length_b` and `saturation_k1` are the parameters of BM25F; the first two are in the order of
    `documents.Field`. `fill` is the exponent of the compensation for empty fields. `rarity_power` is the exponent of
    the inverse document frequency.
    """

    fields: tuple[float, ...] = (2.0, 1.5, 1.5, 0.7, 0.7, 0.6, 1.0)
    length_b: tuple[float, ...] = (0.3, 0.3, 0.6, 0.95, 0.95, 0.75, 0.6)
    fill: float = 1.5
    saturation_k1: float = 1.5
    rarity_power: float = 1.2

    #: Term weights, in this order: faint words, actions, words of a statement beside a request, quoted words,
    #: and the caller in a query of own things.
    faint: float = 0.6
    action: float = 0.7
    circumstance: float = 0.7
    quoted: float = 0.4
    own: float = 0.2

    #: Weights of alternatives relative to the word itself. `substitute` replaces `synonym` if no tool name has the
    #: word. `same_action` then applies to synonyms of the same action, raised to the rank of the synonym.
    #: `abbreviation` is for short and spelled-out forms, `compound` for joined and split words, `typo` for spelling
    #: corrections; `name_typo` lowers these for proper names. `corrections` limits their number.
    synonym: float = 0.2
    substitute: float = 0.5
    same_action: float = 0.9
    abbreviation: float = 0.5
    compound: float = 0.5
    typo: float = 0.7
    name_typo: float = 0.3
    corrections: int = 3

    #: Weight of a word each time that a query repeats it.
    again: float = 0.15

    #: Weight of the name of the source that a query names, and of the sums of tools elsewhere.
    source: float = 0.1
    elsewhere: float = 0.3

    #: Words of a query from which on synonyms and names count less, as `long` divided by the number of words. Beyond,
    #: the feature `whole_text` counts as well.
    long: int = 16

    #: Score for each standard deviation of embedding similarity.
    meaning: float = 0.22

    #: The most that calls after earlier queries add to the score of a tool.
    learned: float = 1.2

    #: The least number of re-ranked candidates. Large catalogs re-rank the square root of their size.
    ranked: int = 60
    ranking: Mapping[str, float] = field(default_factory=lambda: RANKING)
