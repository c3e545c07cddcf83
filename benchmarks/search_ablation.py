"""What each idea of search is worth: the same queries with one idea taken away at a time.

`ablate` measures as given, with typos and, where asked to, among the tools of other catalogs, one set after the other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.search_rankers import reweighed
from codemode.search.analysis import acronyms, clauses, text, vocabulary, wordlists
from codemode.search.analysis import expansion as groups
from codemode.search.analysis import term_weights as salience
from codemode.search.index import documents, index, profile, segment
from codemode.search.index.documents import Field
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.ranking import ranking
from codemode.search.ranking.evaluation import TOP, LabelledQuery, Metrics, evaluate, mean, with_typos
from codemode.search.ranking.weights import RANKING, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from codemode.catalog.tool import Tool

    #: As given or mixed, the tools, and what is asked of them.
    Corpus = tuple[str, list[Tool], list[LabelledQuery]]

PLAIN = Weights()
WHOLE = "everything"

WEIGHTS: dict[str, Weights] = {
    "correction of typos": replace(PLAIN, corrections=0, typo=0.0),
    "synonyms and short forms": replace(PLAIN, synonym=0.0, substitute=0.0, same_action=0.0, abbreviation=0.0),
    "short forms alone": replace(PLAIN, abbreviation=0.0),
    "more for a synonym where no name has the word": replace(
        PLAIN, substitute=PLAIN.synonym, same_action=PLAIN.synonym
    ),
    "still more where both are words for one action": replace(PLAIN, same_action=PLAIN.substitute),
    "less for words that say little": replace(PLAIN, faint=1.0),
    "less for actions": replace(PLAIN, action=1.0),
    "less for sentences of circumstance": replace(PLAIN, circumstance=1.0),
    "less for quoted values": replace(PLAIN, quoted=1.0),
    "a list, where several things are named without an action": replace(PLAIN, implied=0.0),
    "values by their shape": replace(PLAIN, value=0.0),
    "words in one piece or in two": replace(PLAIN, compound=0.0),
    "field weights (all 1)": replace(PLAIN, fields=(1.0,) * len(Field)),
    "making up for missing fields": replace(PLAIN, fill=0.0),
    "power of rarity": replace(PLAIN, rarity_power=1.0),
    "the close look as a whole": replace(PLAIN, ranking={}),
    **{f"feature: {name}": replace(PLAIN, ranking=dict(RANKING) | {name: 0.0}) for name in RANKING},
}


def ideas() -> Mapping[str, tuple[Weights, Callable[[], AbstractContextManager[None]]]]:
    """Every idea by name: the weights, and the surroundings in which an index without it is built and asked."""
    found = {WHOLE: (PLAIN, as_is)} | {name: (weights, as_is) for name, weights in WEIGHTS.items()}
    return found | {
        "splitting of identifiers outside names": (PLAIN, partial(changed, text, "surface_forms", _unsplit)),
        "stemming": (PLAIN, partial(changed, text, "term", lambda surface: surface)),
        "stop words": (PLAIN, partial(changed, wordlists, "stop_words", frozenset)),
        "short forms read as the words they are short for": (
            PLAIN,
            partial(changed, groups.Interpreter, "_spelled_out", lambda _, word: (word.term,)),
        ),
        "verbs with particles": (PLAIN, partial(changed, wordlists, "phrases", dict)),
        "acronyms": (PLAIN, partial(changed, acronyms.Acronyms, "spelled_out", lambda *_: ())),
        "titles in words beside the same in one piece": (
            PLAIN,
            partial(changed, documents, "_distinct", _by_letters),
        ),
        "function words that a name shares with a query": (
            PLAIN,
            partial(changed, index, "read", _nothing_left_out),
        ),
        "getters of many things as lists": (PLAIN, partial(changed, profile, "_of_many", lambda *given: given[-1])),
        "more candidates among more tools": (PLAIN, partial(changed, index, "_CANDIDATES", PLAIN.ranked)),
        "names in pieces alone": (PLAIN, partial(changed, documents, "_HUMP", re.compile("(?!)"))),
        "words that keep their endings": (PLAIN, partial(changed, text, "_WHOLE", frozenset())),
        "sums that saturate": (PLAIN, partial(changed, ranking, "saturated", lambda sums: sums)),
        "clauses": (PLAIN, partial(changed, index, "clause_heads", lambda *_: [])),
        **{f"field: {field.name.lower()}": (_without(field), as_is) for field in Field},
    }


def ablate(corpora: Iterable[Corpus]) -> None:
    """Print what is lost without each idea, in the mean of the corpora of each kind."""
    found: dict[str, dict[str, list[Metrics]]] = {name: defaultdict(list) for name in ideas()}
    for kind, tools, queries in corpora:
        asked = {kind: queries}
        if kind == "as given":
            asked["typos"] = [LabelledQuery(with_typos(each.query), each.gold) for each in queries]
        whole = Index.build(tools)
        for name, (weights, surroundings) in ideas().items():
            with surroundings():
                without = reweighed(whole, weights) if surroundings is as_is else Index.build(tools, weights=weights)
                for variant, queries_of in asked.items():
                    found[name][variant].append(evaluate(partial(_ids, without), queries_of))
    kinds = list(found[WHOLE])
    print(f"| without | {' | '.join(f'{kind}: nDCG@10 | change | recall@10 | change' for kind in kinds)} |")
    print("|---|" + "---|" * 4 * len(kinds))
    for name, of_kinds in found.items():
        cells = []
        for kind in kinds:
            now, all_ = mean(of_kinds[kind]), mean(found[WHOLE][kind])
            for value, before in ((now.ndcg_10, all_.ndcg_10), (now.recall_10, all_.recall_10)):
                cells += [f"{value:.4f}", "" if name == WHOLE else f"{value - before:+.4f}"]
        print(f"| {name} | {' | '.join(cells)} |")


def _ids(index: Index, text: str) -> list[str]:
    return [hit.tool.id for hit in index.search(Query((text,), limit=TOP)).hits]


def _without(field: Field) -> Weights:
    return replace(PLAIN, fields=tuple(0.0 if place == field else weight for place, weight in enumerate(PLAIN.fields)))


def _by_letters(names: tuple[str, ...]) -> str:
    """Names in a row, without those whose letters are among the ones before."""
    kept = [names[0]]
    for name in names[1:]:
        if name and documents.squashed(name) not in documents.squashed(" ".join(kept)):
            kept.append(name)
    return " ".join(kept)


def _nothing_left_out(query: str, weights: Weights) -> salience.Reading:
    return salience.read(query, weights)._replace(left_out=frozenset())


def _unsplit(raw: str) -> tuple[str, ...]:
    return (raw.lower(),)


@contextmanager
def as_is() -> Iterator[None]:
    """Nothing is changed: an index that is there can be weighed anew."""
    yield


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """One function of the pipeline replaced, and everything that is remembered about words forgotten."""
    before = getattr(module, name)
    setattr(module, name, value)
    _forget()
    try:
        yield
    finally:
        setattr(module, name, before)
        _forget()


def _forget() -> None:
    for module in (clauses, documents, groups, salience, segment, text, vocabulary, wordlists):
        for thing in vars(module).values():
            clear = getattr(thing, "cache_clear", None)
            if clear:
                clear()
