"""Hits as the text that a model reads: signatures that can be called as printed, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from codemode.catalog import stubs, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.search.query import Hit, Hits

    #: What has been seen of the results of a tool whose document says nothing of them.
    Observed = Callable[[Tool], Schema | None]

BUDGET_TOKENS = 1_200
Detail = Literal["auto", "full"]

_CLOSING_TOKENS = 60  # kept free for the last lines
_LOOK_UP_TOKENS = 40  # of a related tool
_QUERY_SHOWN = 80  # characters of a query that are repeated to the reader


def _nothing_observed(_: Tool) -> Schema | None:
    """No result has been seen of any tool."""
    return None


def render(
    hits: Hits, *, budget_tokens: int = BUDGET_TOKENS, detail: Detail = "auto", observed: Observed = _nothing_observed
) -> str:
    """The answer to a search, at most `budget_tokens` long.

    The first hit of each query has its whole signature, the others one line each, in turn over the queries.
    `detail="full"` on an exact name adds parameter docs, nested types and the return type.
    """
    if not hits.hits:
        return _nothing(hits)
    page = _Page(budget_tokens - _CLOSING_TOKENS)
    shown = 0
    for hit in _best_first(hits):
        lines = _lines(hit, hits, detail, page.left, observed)
        if not page.add(lines, needed=shown == 0):
            break
        shown += 1
    return _within("\n".join((*page.lines, *_closing(hits, shown))), budget_tokens)


class _Page:
    """Lines within a budget."""

    def __init__(self, budget_tokens: int) -> None:
        self.lines: list[str] = []
        self.left = budget_tokens

    def add(self, lines: Iterable[str], *, needed: bool) -> bool:
        """Add lines if they fit; what is needed is cut to fit."""
        text = "\n".join(lines)
        if needed:
            text = _within(text, self.left)
        cost = tokens.count(text) + 1
        if cost > self.left and not needed:
            return False
        self.lines.append(text)
        self.left -= cost
        return True


def _best_first(hits: Hits) -> Iterator[Hit]:
    """The first hit of each query, then the rest in their order."""
    first: dict[int, Hit] = {}
    for hit in hits.hits:
        first.setdefault(hit.query, hit)
    yield from (first[query] for query in sorted(first))
    chosen = {hit.tool.id for hit in first.values()}
    yield from (hit for hit in hits.hits if hit.tool.id not in chosen)


def _lines(hit: Hit, hits: Hits, detail: Detail, left: int, observed: Observed) -> Iterator[str]:
    leads = hit is next(other for other in hits.hits if other.query == hit.query)
    if not leads:
        yield stubs.one_liner(hit.tool, observed=observed(hit.tool))
        return
    searches = len(hits.query.queries)
    if searches > 1:
        yield f"# {_quoted(hits, hit.query)}"
    if hit.query in hits.unsure:
        yield "# not sure: nothing here may fit; nearest:"
    share = left // max(1, searches - hit.query)
    if detail == "full" and hit.exact:
        yield stubs.full(hit.tool, budget_tokens=share, observed=observed(hit.tool))
        return
    yield stubs.stub(hit.tool, budget_tokens=min(stubs.STUB_TOKENS, share), observed=observed(hit.tool))
    for look_up in hit.look_ups:
        what = f"{look_up.parameter} from" if look_up.parameter else "see also"
        yield f"#   {what}: {stubs.one_liner(look_up.tool, budget_tokens=_LOOK_UP_TOKENS)}"


def _closing(hits: Hits, shown: int) -> Iterator[str]:
    if hits.note:
        yield f"# {hits.note}"
    for query in hits.empty:
        yield f"# {_quoted(hits, query)}: no tool matches"
    after = hits.query.offset + shown
    if after < hits.total:
        yield f"# {shown} of {hits.total} hits; name a namespace or use other words to narrow"


def _nothing(hits: Hits) -> str:
    query = hits.query
    if hits.total:
        return f"# no more hits: {hits.total} in all, asked from {query.offset}"
    asked = ", ".join(_quoted(hits, place) for place in range(len(query.queries))) or "an empty search"
    where = "".join(
        f" in {kind} '{value}'" for kind in ("namespace", "source", "effect", "tag") if (value := getattr(query, kind))
    )
    nearest = f"; nearest: {', '.join(hits.nearest)}" if hits.nearest else "; use other words"
    return f"# no tool matches {asked}{where}{nearest}"


def _quoted(hits: Hits, place: int) -> str:
    text = " ".join(hits.query.queries[place].split())
    return repr(text if len(text) <= _QUERY_SHOWN else text[: _QUERY_SHOWN - 1] + "…")


def _within(text: str, budget_tokens: int) -> str:
    """`text`, cut at the end of a line, or of a word, where it is too long."""
    if tokens.count(text) <= budget_tokens:
        return text
    cut = "\n# … cut to fit"
    lines = text.split("\n")
    while len(lines) > 1 and tokens.count("\n".join(lines) + cut) > budget_tokens:
        lines.pop()
    kept = "\n".join(lines)
    while kept and tokens.count(kept + cut) > budget_tokens:
        kept = kept[: len(kept) * 3 // 4]
    return kept + cut
