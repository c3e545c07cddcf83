"""Ablation study of search: the same queries with one feature removed at a time.

`ablate` measures each set alone, with typos, and optionally mixed with other catalogs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.search_rankers import reweighed
from codemode.search.analysis import text, vocabulary, wordlists
from codemode.search.documents import documents, profile, segment
from codemode.search.documents.documents import Field
from codemode.search.documents.weights import RANKING, Weights
from codemode.search.evaluation.evaluation import TOP, LabelledQuery, Metrics, evaluate, mean, with_typos
from codemode.search.index import index
from codemode.search.index.index import Index
from codemode.search.interpretation import expansion, term_weights
from codemode.search.query import Query
from codemode.search.ranking import clauses, ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from codemode.catalog.tool import Tool

    #: The kind ("as given" or "mixed"), the name, and a function that returns the tools and the queries.
    Corpus = tuple[str, str, Callable[[], tuple[list[Tool], list[LabelledQuery]]]]

PLAIN = Weights()
WHOLE = "everything"
AS_GIVEN = "as given"

WEIGHTS: dict[str, Weights] = {
    "spelling correction": replace(PLAIN, corrections=0, typo=0.0),
    "synonyms and short forms": replace(PLAIN, synonym=0.0, substitute=0.0, same_action=0.0, abbreviation=0.0),
    "short forms alone": replace(PLAIN, abbreviation=0.0),
    "higher synonym weight without a matching name": replace(
        PLAIN, substitute=PLAIN.synonym, same_action=PLAIN.synonym
    ),
    "even higher weight for synonyms of one action": replace(PLAIN, same_action=PLAIN.substitute),
    "lower weight of faint words": replace(PLAIN, faint=1.0),
    "lower weight of actions": replace(PLAIN, action=1.0),
    "lower weight of statements beside a request": replace(PLAIN, circumstance=1.0),
    "lower weight of quoted values": replace(PLAIN, quoted=1.0),
    "compounds": replace(PLAIN, compound=0.0),
    "the caller's own things": replace(PLAIN, own=0.0),
    "repeated words": replace(PLAIN, again=0.0),
    "sources that a query names": replace(
        PLAIN, source=1.0, elsewhere=1.0, ranking=dict(RANKING) | {"source_named": 0.0}
    ),
    "lower weight of chance matches in long queries": replace(PLAIN, long=1_000_000),
    "field weights (all 1)": replace(PLAIN, fields=(1.0,) * len(Field)),
    "compensation for empty fields": replace(PLAIN, fill=0.0),
    "exponent of rarity": replace(PLAIN, rarity_power=1.0),
    "re-ranking as a whole": replace(PLAIN, ranking={}),
    **{f"feature: {name}": replace(PLAIN, ranking=dict(RANKING) | {name: 0.0}) for name in RANKING},
}


def ideas() -> Mapping[str, tuple[Weights, Callable[[], AbstractContextManager[None]]]]:
    """Map each ablated feature to the weights and the patch that remove it."""
    results = {WHOLE: (PLAIN, as_is)} | {name: (weights, as_is) for name, weights in WEIGHTS.items()}
    return results | {
        "splitting of identifiers outside names": (PLAIN, partial(changed, text, "surface_forms", _unsplit)),
        "stemming": (PLAIN, partial(changed, text, "term", lambda surface: surface)),
        "stop words": (PLAIN, partial(changed, wordlists, "stop_words", frozenset)),
        "spelled-out short forms": (
            PLAIN,
            partial(changed, expansion.Interpreter, "_spelled_out", lambda _, word: (word.term,)),
        ),
        "synonyms of WordNet": (
            PLAIN,
            partial(changed, wordlists, "synonyms", partial(wordlists._related, "synonyms.txt")),
        ),
        "phrasal verbs": (PLAIN, partial(changed, wordlists, "phrases", dict)),
        "titles spelled as words and as one word": (
            PLAIN,
            partial(changed, documents, "_distinct", _by_letters),
        ),
        "stop words shared by name and query": (
            PLAIN,
            partial(changed, index, "read", _nothing_left_out),
        ),
        "updates of a state as changes of a state": (
            PLAIN,
            partial(changed, profile, "_sets_a_state", lambda documents, *_: np.zeros(len(documents), bool)),
        ),
        "words that undo an action": (PLAIN, partial(changed, wordlists, "undone", lambda _: "")),
        "alternatives that a query says itself": (PLAIN, partial(changed, expansion, "_without_said", list)),
        "lower weight of rare actions": (
            PLAIN,
            partial(changed, expansion.Interpreter, "_without_rare_actions", lambda _, groups: groups),
        ),
        "more candidates for larger catalogs": (PLAIN, partial(changed, index, "_CANDIDATES", PLAIN.ranked)),
        "names in parts only": (PLAIN, partial(changed, documents, "_HUMP", re.compile("(?!)"))),
        "unstemmed words": (PLAIN, partial(changed, text, "_WHOLE", frozenset())),
        "saturation of sums": (PLAIN, partial(changed, ranking, "saturated", lambda sums: sums)),
        "clauses": (PLAIN, partial(changed, index, "clauses", lambda _: [])),
        **{f"field: {field.name.lower()}": (_without(field), as_is) for field in Field},
    }


def ablate(corpora: Iterable[Corpus]) -> None:
    """Print the change without each idea, as the mean over the corpora of each kind, and the corpora it changes most.

    Each corpus has a process of its own, as many at a time as there are processors.
    """
    changes: dict[str, dict[str, dict[str, Metrics]]] = defaultdict(lambda: defaultdict(dict))
    with ProcessPoolExecutor() as pool:
        for work in as_completed([pool.submit(_measured, corpus) for corpus in corpora]):
            for (idea, kind, name), metrics in work.result().items():
                changes[idea][kind][name] = metrics
    kinds = list(changes[WHOLE])
    titles = [f"{kind}: {metric}" for kind in kinds for metric in ("nDCG@10", "recall@10")]
    print(f"| without | {' | '.join(titles)} | loses most | gains most |")
    print("|---|" + "---|" * (len(titles) + 2))
    for idea, of_kinds in changes.items():
        cells = []
        for kind in kinds:
            now, all_ = (mean([*changes[each][kind].values()]) for each in (idea, WHOLE))
            for value, before in ((now.ndcg_10, all_.ndcg_10), (now.recall_10, all_.recall_10)):
                cells.append(f"{value:.4f}" if idea == WHOLE else f"{value - before:+.4f}")
        alone = changes[WHOLE][AS_GIVEN]
        gains = {name: metrics.ndcg_10 - alone[name].ndcg_10 for name, metrics in of_kinds[AS_GIVEN].items()}
        ends = (min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__))
        cells += ["", ""] if idea == WHOLE else [f"{name} {gains[name]:+.3f}" for name in ends]
        print(f"| {idea} | {' | '.join(cells)} |")


def _measured(corpus: Corpus) -> dict[tuple[str, str, str], Metrics]:
    """Return the metrics of one corpus without each idea, by idea, kind and name."""
    kind, name, read = corpus
    tools, queries = read()
    asked = {kind: queries}
    if kind == AS_GIVEN:
        asked["typos"] = [LabelledQuery(with_typos(each.query), each.gold) for each in queries]
    whole = Index.build(tools)
    measured = {}
    for idea, (weights, surroundings) in ideas().items():
        with surroundings():
            without = reweighed(whole, weights) if surroundings is as_is else Index.build(tools, weights=weights)
            for variant, queries_of in asked.items():
                measured[idea, variant, name] = evaluate(partial(_ids, without), queries_of)
    return measured


def _ids(index: Index, text: str) -> list[str]:
    return [hit.tool.id for hit in index.search(Query((text,), limit=TOP)).hits]


def _without(field: Field) -> Weights:
    return replace(PLAIN, fields=tuple(0.0 if place == field else weight for place, weight in enumerate(PLAIN.fields)))


def _by_letters(names: tuple[str, ...]) -> str:
    """Join names, without those whose letters are part of an earlier one."""
    kept = [names[0]]
    for name in names[1:]:
        if name and documents.squashed(name) not in documents.squashed(" ".join(kept)):
            kept.append(name)
    return " ".join(kept)


def _nothing_left_out(query: str, weights: Weights) -> term_weights.Reading:
    return term_weights.read(query, weights)._replace(left_out=frozenset())


def _unsplit(raw: str) -> tuple[str, ...]:
    return (raw.lower(),)


@contextmanager
def as_is() -> Iterator[None]:
    """Patch nothing, so that an existing index can be reweighted."""
    yield


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """Patch one function of the pipeline, and clear all caches of words."""
    before = getattr(module, name)
    setattr(module, name, value)
    _forget()
    try:
        yield
    finally:
        setattr(module, name, before)
        _forget()


def _forget() -> None:
    for module in (clauses, documents, expansion, segment, term_weights, text, vocabulary, wordlists):
        for member in vars(module).values():
            clear = getattr(member, "cache_clear", None)
            if clear:
                clear()
