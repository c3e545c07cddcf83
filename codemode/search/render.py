"""Rendering: hits as text for a model, with callable signatures, within a token budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.catalog import tokens
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect
from codemode.search.page import Page, may_fit
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.search.page import Observed
    from codemode.search.query import Hit, Hits
    from codemode.search.request import Detail

    #: Returns whether calls of a tool need an approval or are denied by the policy.
    Guarded = Callable[[Tool], bool]

BUDGET_TOKENS = 1_200

_CLOSING_TOKENS = 60  # reserved for the last lines
_UNKNOWN_SHOWN = 4  # words that no tool has
_FEW_WORDS = 8  # of a longer query, a word that no tool has may well be an argument
_QUERY_SHOWN = 80  # characters; longer queries are shortened in headings

#: A name of several words.
_NAME = re.compile(r"(?=[\w.\-]*[a-z0-9][A-Z_.\-])[\w.\-]{3,100}")

#: Follows hits that are shown as `name(...)`.
_NAMED = "# (...): describe(name) gives the arguments"

#: Words in a name or query that refer to many things at once.
_MANY = frozenset(
    ("all", "batch", "bulk", "clear", "drop", "entire", "erase", "every", "everything", "flush", "many", "mass",
     "multi", "multiple", "purge", "reset", "several", "truncate", "whole", "wipe")
)  # fmt: skip


def _unguarded(_: Tool) -> bool:
    """Treat every tool as allowed."""
    return False


def _nothing_observed(_: Tool) -> Schema | None:
    """Return None, as no schema was observed."""
    return None


def render(
    hits: Hits,
    *,
    budget_tokens: int = BUDGET_TOKENS,
    detail: Detail = "auto",
    observed: Observed = _nothing_observed,
    guarded: Guarded = _unguarded,
    signatures: int | None = None,
) -> str:
    """Render the answer to a search in at most `budget_tokens`.

    The first hit of each query has its whole signature, its types and its look-ups. The two closest of the next hits
    have signature and types if there is room, and the others name and summary. `signatures` is another number of hits
    with signatures. `detail="full"` describes every parameter of the first hits. If the first hit is destructive and
    `guarded`, tools that destroy more are left out, unless the query asks for them.
    """
    if not hits.hits:
        return _within(visible(f"# {_nothing(hits)}"), budget_tokens)
    page = Page(hits, detail, budget_tokens - _CLOSING_TOKENS, observed, signatures)
    leads = hits.leads
    for place, lead in enumerate(leads):
        page.lead(lead, list(_heading(lead, hits)), of=len(leads) - place)
    page.note(_repeated(hits))
    led = {hit.query: hit for hit in leads}
    for hit in hits.hits:
        if hit in leads:
            continue
        if hit.query in led and _destroys_more(hit, led[hit.query], hits, guarded):
            page.withhold(hit)
        else:
            page.name(hit)
    page.note(_withheld(page.withheld))
    page.widen()
    named = [_NAMED] if page.has_names else []
    return _within(visible("\n".join((*page.lines(), *named, *_closing(hits, page.shown)))), budget_tokens)


def doubt(hits: Hits, query: int = 0) -> str:
    """Return what speaks against the hits of a query, or "". Without hits, it names the nearest tools."""
    if not hits.hits:
        return _nothing(hits)
    words = hits.unknown[query][:_UNKNOWN_SHOWN] if hits.unknown else ()
    unknown = f"no tool has {', '.join(map(repr, words))}" if words else ""
    if not may_fit(hits, query):
        return f"nothing here fits{f': {unknown}' if unknown else ''}"
    if query in hits.unsure:
        return f"not sure: {unknown or 'nothing here may fit'}"
    text = hits.query.queries[query].strip()
    if _NAME.fullmatch(text) and not any(_is_named(hit, text) for hit in hits.hits if hit.query == query):
        return f"no tool is named {_quoted(hits, query)}"
    return unknown if len(text.split()) <= _FEW_WORDS else ""


def _is_named(hit: Hit, name: str) -> bool:
    """Return whether a name is that of a hit, or ends its id in any spelling: `freezeMember`, `members-freeze`."""
    return hit.exact or _letters(hit.tool.id).endswith(_letters(name))


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def with_doubt(text: str, doubted: str) -> str:
    """Return a sentence about the hits of a query, after what speaks against them. Without hits, it is empty."""
    sentence = f"{doubted}; nearest: {text[:1].lower()}{text[1:]}" if doubted and text else doubted or text
    return visible(sentence[:1].upper() + sentence[1:])


def _repeated(hits: Hits) -> Iterator[str]:
    """Yield a line for each query whose best hit is shown under another query."""
    led = {hit.query for hit in hits.leads}
    for query, best in enumerate(hits.best):
        if best and query not in led and not hits.query.offset:
            yield f"# {_quoted(hits, query)}: {best}, above"


def _destroys_more(hit: Hit, lead: Hit, hits: Hits, guarded: Guarded) -> bool:
    """Return whether a hit would bypass a guarded tool, as it does to many things what the tool does to one."""
    if not (hit.tool.effect is lead.tool.effect is Effect.DESTRUCTIVE and hit.tool.source == lead.tool.source):
        return False
    more = _MANY & _name_words(hit.tool) - _name_words(lead.tool)
    asked = set(snake(hits.query.queries[hit.query]).split("_")) if hits.query.queries else set()
    return bool(more) and _MANY.isdisjoint(asked) and guarded(lead.tool)


def _name_words(tool: Tool) -> set[str]:
    return set(tool.path.rpartition(".")[2].split("_"))


def _withheld(count: int) -> Iterator[str]:
    if count:
        tools = "tool that destroys" if count == 1 else "tools that destroy"
        yield f"# not listed: {count} {tools} more than what was searched for; search for exactly that if it is meant"


def _heading(hit: Hit, hits: Hits) -> Iterator[str]:
    if len(hits.query.queries) > 1:
        yield f"# {_quoted(hits, hit.query)}"
    if text := doubt(hits, hit.query):
        yield f"# {text}; nearest:"


def _closing(hits: Hits, shown: set[str]) -> Iterator[str]:
    if hits.note:
        yield f"# {hits.note}"
    for query in hits.empty:
        yield f"# {_quoted(hits, query)}: no tool matches"
    count = next((place for place, hit in enumerate(hits.hits) if hit.tool.id not in shown), len(hits.hits))
    after = hits.query.offset + count
    if after < hits.total:
        yield f"# {count} of {hits.total} hits; next: offset={after}; or narrow by namespace, effect, tag, other words"


def _nothing(hits: Hits) -> str:
    query = hits.query
    if hits.total:
        return f"no more hits: {hits.total} in all, asked from {query.offset}"
    asked = ", ".join(_quoted(hits, place) for place in range(len(query.queries))) or "an empty search"
    where = "".join(
        f" in {kind} '{value}'" for kind in ("namespace", "source", "effect", "tag") if (value := getattr(query, kind))
    )
    nearest = f"; nearest: {', '.join(hits.nearest)}" if hits.nearest else f"; {hits.note or 'use other words'}"
    return f"no tool matches {asked}{where}{nearest}"


def _quoted(hits: Hits, place: int) -> str:
    text = " ".join(hits.query.queries[place].split())
    return repr(text if len(text) <= _QUERY_SHOWN else text[: _QUERY_SHOWN - 1] + "…")


def _within(text: str, budget_tokens: int) -> str:
    """Return `text`, cut to the budget at the end of a line if possible."""
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
