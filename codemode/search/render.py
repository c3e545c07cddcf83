"""Rendering: hits as text for a model, with callable signatures, within a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog import stubs, tokens
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.search.query import Hit, Hits
    from codemode.search.request import Detail

    #: Returns the schema observed in the results of a tool whose document declares none.
    Observed = Callable[[Tool], Schema | None]

    #: Returns whether calls of a tool need an approval or are denied by the policy.
    Guarded = Callable[[Tool], bool]

BUDGET_TOKENS = 1_200

_CLOSING_TOKENS = 60  # reserved for the last lines
_LOOK_UP_TOKENS = 40  # budget of a look-up
_QUERY_SHOWN = 80  # characters; longer queries are shortened in headings
_WIDENED = 3  # further hits that may get their whole signature
_FULL_SHARE = 0.75  # of the budget, for the full text of a hit that was not found by exact name


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
) -> str:
    """Render the answer to a search in at most `budget_tokens`.

    The first hit of each query has its whole signature, its types and its look-ups. The other hits have one line each
    while there is room; the best of them get their whole signature if room is left. `detail="full"` describes every
    parameter of the first hits. If the first hit is destructive and `guarded`, tools that destroy more are left out,
    unless the query asks for them.
    """
    if not hits.hits:
        return _within(visible(_nothing(hits)), budget_tokens)
    page = _Page(hits, detail, budget_tokens - _CLOSING_TOKENS, observed)
    leads = hits.leads
    for place, lead in enumerate(leads):
        page.lead(lead, of=len(leads) - place)
    page.note(_repeated(hits))
    led = {hit.query: hit for hit in leads}
    for hit in hits.hits:
        if hit in leads:
            continue
        if hit.query in led and _destroys_more(hit, led[hit.query], hits, guarded):
            page.withhold(hit)
        else:
            page.follow(hit)
    page.note(_withheld(page.withheld))
    page.widen()
    return _within(visible("\n".join((*page.lines(), *_closing(hits, page.shown)))), budget_tokens)


class _Page:
    """The text of a page of hits. `left` are the remaining tokens, and `shown` the ids of the shown tools."""

    def __init__(self, hits: Hits, detail: Detail, budget_tokens: int, observed: Observed) -> None:
        self._hits = hits
        self._detail = detail
        self._observed = observed
        self._blocks: list[str] = []
        self._followers: list[tuple[int, Tool]] = []  # position in `_blocks`, and tool
        self.shown: set[str] = set()
        self.withheld = 0
        self.left = budget_tokens

    def lines(self) -> list[str]:
        """Return the text of the page so far."""
        return self._blocks

    def lead(self, hit: Hit, *, of: int) -> None:
        """Add the first hit of a query: in full, or else its signature, or else its name.

        It may use 1/`of` of the remaining tokens, as `of` first hits are still to be added.
        """
        share = self.left // of
        head = list(_heading(hit, self._hits))
        tool, observed = hit.tool, self._observed(hit.tool)
        room = share - _cost(head)
        choices: list[Callable[[], list[str]]] = [
            lambda: self._whole(hit, room, observed),
            lambda: [stubs.one_liner(tool, observed=observed)],
            lambda: [stubs.bare(tool)],
        ]
        for choice in choices:
            block = [*head, *choice()]
            if _cost(block) <= share:
                break
        else:
            block = [stubs.bare(tool)]
        self._add(block, tool)

    def note(self, lines: Iterable[str]) -> None:
        """Add comment lines that fit."""
        for line in lines:
            if _cost([line]) <= self.left:
                self._blocks.append(line)
                self.left -= _cost([line])

    def follow(self, hit: Hit) -> None:
        """Add a hit as one line, if it fits."""
        for line in (stubs.one_liner(hit.tool, observed=self._observed(hit.tool)), stubs.bare(hit.tool)):
            if _cost([line]) <= self.left:
                self._followers.append((len(self._blocks), hit.tool))
                self._add([line], hit.tool)
                return

    def withhold(self, hit: Hit) -> None:
        """Leave a hit out, on the next page too."""
        self.shown.add(hit.tool.id)
        self.withheld += 1

    def widen(self) -> None:
        """Replace the best one-line hits by their whole signatures, if they fit."""
        for place, tool in self._followers[:_WIDENED]:
            wider = stubs.signature(tool, observed=self._observed(tool))
            more = _cost([wider]) - _cost([self._blocks[place]])
            if more > self.left:
                return
            self._blocks[place] = wider
            self.left -= more

    def _whole(self, hit: Hit, room: int, observed: Schema | None) -> list[str]:
        tool = hit.tool
        if self._detail == "full":
            share = 1.0 if hit.exact else _FULL_SHARE
            return [stubs.full(tool, budget_tokens=min(stubs.FULL_TOKENS, int(room * share)), observed=observed)]
        related = []
        for look_up in self._hits.look_ups.get(tool.id, ()):
            what = f"{look_up.parameter} from" if look_up.parameter else "see also"
            is_known = any(f"{look_up.tool.id}(" in block for block in self._blocks)
            text = look_up.tool.id if is_known else stubs.one_liner(look_up.tool, budget_tokens=_LOOK_UP_TOKENS)
            related.append(f"#   {what}: {text}")
        room -= _cost(related)
        return [stubs.stub(tool, budget_tokens=min(stubs.STUB_TOKENS, room), observed=observed), *related]

    def _add(self, block: list[str], tool: Tool) -> None:
        self._blocks.append("\n".join(block))
        self.shown.add(tool.id)
        self.left = max(0, self.left - _cost(block))


def _cost(lines: Iterable[str]) -> int:
    text = "\n".join(lines)
    return tokens.count(text) + 1 if text else 0


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
    if hit.query in hits.unsure:
        yield "# not sure: nothing here may fit; nearest:"


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
        return f"# no more hits: {hits.total} in all, asked from {query.offset}"
    asked = ", ".join(_quoted(hits, place) for place in range(len(query.queries))) or "an empty search"
    where = "".join(
        f" in {kind} '{value}'" for kind in ("namespace", "source", "effect", "tag") if (value := getattr(query, kind))
    )
    nearest = f"; nearest: {', '.join(hits.nearest)}" if hits.nearest else f"; {hits.note or 'use other words'}"
    return f"# no tool matches {asked}{where}{nearest}"


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
