"""Explanations: why a search answers with these tools, and where a named tool is.

A score is the sum of the shares of its features. Tools that the caller or the filters leave out are those that would
be among the hits otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.search.index.facets import passes
from codemode.search.query import Query
from codemode.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.search.index.index import Index
    from codemode.search.query import Hit
    from codemode.search.ranking.ranking import Column

#: Shares of a score below this are left out.
LEAST_SHARE = 0.005

_DEEPEST = 200  # hits among which a named tool is looked for


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    """One hit of a search: its position from 1, the matched words of each field, and the shares of its score.

    The shares are those of ranking features, the largest first. `is_named` is whether the search has its exact name.
    """

    id: str
    position: int
    score: float
    words: Mapping[str, list[str]]
    shares: Mapping[str, float]
    is_named: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one search.

    `read_as` is the query in English if it was in another language, else "". `left_out` maps the tools that would be
    among the hits to the reason why they are not. `wanted` says where the named tool is, "" without one.
    """

    query: str
    read_as: str
    confidence: float
    hits: tuple[ExplainedHit, ...]
    left_out: Mapping[str, str]
    wanted: str = ""


def explain(query: Query, index: Index, whole: Index, *, role: str, tool: str = "") -> list[Explanation]:
    """Explain each search of a query. `index` is what the caller finds, `whole` has all tools.

    Raises SearchInvalid for a filter with an unknown value.
    """
    return [_explained(text, query, index, whole, role, tool) for text in query.queries]


def _explained(text: str, query: Query, index: Index, whole: Index, role: str, tool: str) -> Explanation:
    one = replace(query, queries=(text,))
    found = index.search(one)
    shares = shares_of(index, one)
    hits = tuple(explained_hit(hit, shares) for hit in found.hits)
    unfiltered = Query((text,), limit=query.offset + query.limit)
    shown = {hit.id for hit in hits}
    visible = {each.id for each in index.tools}
    left_out = {
        hit.tool.id: _reason(hit.tool.id, visible, role)
        for hit in (*index.search(unfiltered).hits, *whole.search(unfiltered).hits)
        if hit.tool.id not in shown and not (hit.tool.id in visible and passes(hit.tool, query))
    }
    wanted = _where(tool, one, index, whole, role) if tool else ""
    english = index.in_english(text)
    confidence = found.confidence[0] if found.confidence else 0.0
    return Explanation(text, english if english != text else "", confidence, hits, left_out, wanted)


def _where(tool: str, query: Query, index: Index, whole: Index, role: str) -> str:
    """Say where a tool is among the hits of one search, or why it is not there."""
    known = {each.id for each in whole.tools}
    if tool not in known:
        near = nearest(tool, known)
        return f"there is no tool {tool}" + (f"; the nearest is {near}" if near else "")
    visible = {each.id for each in index.tools}
    if tool not in visible:
        return _reason(tool, visible, role)
    filtered = index.search(replace(query, limit=_DEEPEST, offset=0)).hits
    shares = shares_of(index, query)
    for hit in filtered:
        if hit.tool.id == tool:
            return hit_line(explained_hit(hit, shares))
    anywhere = index.search(Query(query.queries, limit=_DEEPEST)).hits
    if any(hit.tool.id == tool for hit in anywhere):
        return _reason(tool, visible, role)
    return f"not among the first {_DEEPEST}: too few of the words are in its texts"


def hit_line(hit: ExplainedHit) -> str:
    """Return position, score, matched words and shares of a hit in one line."""
    words = ", ".join(f"{field}: {' '.join(each) or 'similar'}" for field, each in hit.words.items())
    shares = ", ".join(f"{name.replace('_', ' ')} {share:+.2f}" for name, share in hit.shares.items())
    named = "its exact name is in the query; " if hit.is_named else ""
    return (
        f"position {hit.position}, score {hit.score:.2f}; {named}{words or 'no word'}; {shares or 'beyond the ranked'}"
    )


def explained_hit(hit: Hit, shares: Mapping[str, Mapping[str, float]]) -> ExplainedHit:
    """Return a hit with the words and the shares that brought it there."""
    return ExplainedHit(
        hit.tool.id, hit.rank + 1, hit.score, by_field(hit.matched), shares.get(hit.tool.id, {}), hit.exact
    )


def by_field(matched: Iterable[str]) -> dict[str, list[str]]:
    """Return the matched words of each field, from `freeze (name, summary)`. A similar meaning has no words."""
    fields: dict[str, list[str]] = {}
    for each in matched:
        word, _, names = each.removesuffix(")").rpartition(" (")
        if not word:
            fields.setdefault(names, [])
        for name in names.split(", ") if word else ():
            fields.setdefault(name, []).append(word)
    return fields


def shares_of(index: Index, query: Query) -> dict[str, dict[str, float]]:
    """Return what each feature adds to the score of each candidate of one search, the largest first."""
    import numpy as np

    from codemode.search.ranking.confidence import confidence
    from codemode.search.semantic.similarity import meant

    (text,) = query.queries
    ids, features, raised = index.candidate_features(query)
    weights = {**index.weights.ranking, "sum": 1.0}
    columns: dict[str, Column] = {name: np.asarray(values) * weights[name] for name, values in features.items()}
    columns["learned"] = index.weights.learned * raised
    (similarities,) = index.embeddings.of_queries([text])[0] if index.embeddings else (None,)
    if similarities is not None:
        places = {tool.id: place for place, tool in enumerate(index.tools)}
        similar = meant(similarities[[places[id_] for id_ in ids]], len(index), confidence(index.evidence(text)))
        columns["meaning"] = index.weights.meaning * similar
    shares = {}
    for place, id_ in enumerate(ids):
        own = {name: round(float(values[place]), 3) for name, values in columns.items()}
        large = {name: share for name, share in own.items() if abs(share) >= LEAST_SHARE}
        shares[id_] = dict(sorted(large.items(), key=lambda each: -abs(each[1])))
    return shares


def _reason(tool: str, visible: set[str], role: str) -> str:
    return "removed by a filter of this search" if tool in visible else f"the role {role} has no access to it"
