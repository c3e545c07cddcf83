"""A page of hits within a token budget: the first hits with their types, the others by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog import stubs, tokens
from codemode.catalog.shapes import Shapes
from codemode.search.analysis.text import terms
from codemode.search.query import DEFAULT_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.search.query import Hit, Hits
    from codemode.search.request import Detail

    #: Returns the schema observed in the results of a tool whose document declares none.
    Observed = Callable[[Tool], Schema | None]

_LOOK_UP_TOKENS = 40  # budget of a look-up
_LEAD_TOKENS = 420  # budget of the first hits of all queries together, but at least the following for each
_LEAST_LEAD_TOKENS = 240
_NEXT_TOKENS = 130  # budget of a hit after the first, with its types
_HEAD_TOKENS = 45  # budget of its signature
_WIDE_HEAD_TOKENS = 110  # the same with optional arguments
_ENOUGH = 0.79  # of the budget: more hits get no types beyond it
_MODERATE = 0.72  # of the budget: up to it, more optional arguments are shown
_CHEAP = 0.4  # of the budget: up to it, any hit gets its types
_CLOSE = 0.5  # least score of a hit that may use more than `_CHEAP`, as a share of the best score of its query
_NEXT = 3  # hits after the first ones that get their signatures and types, unless the search asks for more
#: Below this confidence, an answer says that nothing fits and shows names only.
_NOTHING_FITS = 0.07
_FULL_SHARE = 0.75  # of the budget, for the full text of a hit that may be wrong


def may_fit(hits: Hits, query: int) -> bool:
    """Return whether any hit of a query may fit."""
    return query >= len(hits.confidence) or hits.confidence[query] >= _NOTHING_FITS


class Page:
    """The text of a page of hits. `left` are the remaining tokens, and `shown` the ids of the shown tools.

    Types are defined once. A look-up that is also a hit is only named. If nothing fits a query, so are its hits.
    """

    def __init__(
        self, hits: Hits, detail: Detail, budget_tokens: int, observed: Observed, signatures: int | None = None
    ) -> None:
        """`signatures` is the number of hits with signatures: None for the first of each query, and three more."""
        self._hits = hits
        self._detail = detail
        self._observed = observed
        self._budget = budget_tokens
        self._for_leads = max(_LEAD_TOKENS, _LEAST_LEAD_TOKENS * len(hits.leads))
        self._next = _NEXT if signatures is None else max(0, signatures - len(hits.leads))
        self._words = frozenset(term for query in hits.query.queries for term in terms(query))
        self._shapes = Shapes(compact=True, wanted=self._is_named)
        self._blocks: list[str] = []
        self._named: list[tuple[int, Hit]] = []  # position in `_blocks` of each hit that is shown by name
        self.shown: set[str] = set()
        self.withheld = 0
        self.left = budget_tokens

    def lines(self) -> list[str]:
        """Return the text of the page so far."""
        return self._blocks

    @property
    def has_names(self) -> bool:
        """Whether the page shows hits by name only."""
        return bool(self._named)

    def lead(self, hit: Hit, heading: Sequence[str], *, of: int) -> None:
        """Add the first hit of a query: with its types or in full, or else its signature, or else its name.

        It may use 1/`of` of the remaining tokens, as `of` first hits are still to be added.
        """
        share = self.left // of
        self._for_lead = self._for_leads // of
        tool, observed = hit.tool, self._observed(hit.tool)
        room = share - cost(heading)
        choices: list[Callable[[], list[str]]] = [
            lambda: self._whole(hit, room, observed),
            lambda: [stubs.one_liner(tool, observed=observed, needed=self._is_named)],
            lambda: [stubs.bare(tool)],
        ]
        for choice in choices if may_fit(self._hits, hit.query) else choices[-1:]:
            shapes = self._shapes.copy()
            block = [*heading, *choice()]
            if cost(block) <= share:
                break
            self._shapes = shapes
        else:
            block = [stubs.bare(tool)]
        self._for_leads -= cost(block)
        self._add(block, tool)

    def note(self, lines: Iterable[str]) -> None:
        """Add comment lines that fit."""
        for line in lines:
            if cost([line]) <= self.left:
                self._blocks.append(line)
                self.left -= cost([line])

    def name(self, hit: Hit) -> None:
        """Add a hit by name and summary, if it fits."""
        line = stubs.bare(hit.tool)
        if cost([line]) <= self.left:
            self._named.append((len(self._blocks), hit))
            self._add([line], hit.tool)

    def withhold(self, hit: Hit) -> None:
        """Leave a hit out, on the next page too."""
        self.shown.add(hit.tool.id)
        self.withheld += 1

    def widen(self) -> None:
        """Replace the names of the next hits by signatures and types, while there is room.

        The hits whose scores are closest to the best of their query come first: most often, they are the right ones.
        """
        close = [(self._closeness(hit), place, hit) for place, hit in self._named if may_fit(self._hits, hit.query)]
        widened: list[tuple[int, Hit]] = []
        for closeness, place, hit in sorted(close, key=lambda each: -each[0]):
            share = _ENOUGH if closeness >= _CLOSE else _CHEAP
            if len(widened) < self._next and self._widened(place, hit.tool, self._room(share)):
                self._named.remove((place, hit))
                widened.append((place, hit))
        for place, hit in widened:
            self._show_optional(place, hit.tool, self._room(_MODERATE))

    def _is_named(self, name: str) -> bool:
        """Return whether a query names a parameter or field with all its words."""
        named = set(terms(name))
        return bool(named) and named <= self._words

    def _room(self, share: float) -> int:
        """Return the tokens until a share of the budget is used."""
        return int(self.left - self._budget * (1 - share))

    def _closeness(self, hit: Hit) -> float:
        """Return the score of a hit as a share of the best score of its query. A look-up counts as 1."""
        best = max(other.score for other in self._hits.hits if other.query == hit.query)
        is_look_up = any(look_up.tool.id == hit.tool.id for found in self._hits.look_ups.values() for look_up in found)
        return 1.0 if is_look_up or best <= 0 else hit.score / best

    def _widened(self, place: int, tool: Tool, room: int) -> bool:
        shapes = self._shapes.copy()
        before = cost([self._blocks[place]])
        budget = min(_NEXT_TOKENS, room + before)
        wider = stubs.stub(
            tool,
            budget_tokens=budget,
            observed=self._observed(tool),
            shapes=shapes,
            head_tokens=_HEAD_TOKENS,
            needed=self._is_named,
        )
        more = cost([wider]) - before
        if more > room:
            return False
        self._shapes = shapes
        self._blocks[place] = wider
        self.left -= more
        return True

    def _show_optional(self, place: int, tool: Tool, room: int) -> None:
        """Replace a brief signature by one with more optional parameters, if it fits."""
        shapes = self._shapes.copy()
        head, *types = self._blocks[place].split("\n")
        wider, *more_types = stubs.stub(
            tool,
            budget_tokens=_NEXT_TOKENS,
            observed=self._observed(tool),
            shapes=shapes,
            head_tokens=_WIDE_HEAD_TOKENS,
            needed=self._is_named,
        ).split("\n")
        more = cost([wider, *more_types]) - cost([head])
        if wider != head and more <= room:
            self._shapes = shapes
            self._blocks[place] = "\n".join([wider, *types, *more_types])
            self.left -= more

    def _whole(self, hit: Hit, room: int, observed: Schema | None) -> list[str]:
        tool = hit.tool
        related = self._look_ups(tool)
        room -= cost(related)
        if self._detail == "full":
            share = _FULL_SHARE if hit.query in self._hits.unsure and not hit.exact else 1.0
            budget = min(stubs.FULL_TOKENS, int(room * share))
            return [stubs.full(tool, budget_tokens=budget, observed=observed, needed=self._is_named), *related]
        budget = min(self._for_lead, room)
        stub = stubs.stub(tool, budget_tokens=budget, observed=observed, shapes=self._shapes, needed=self._is_named)
        return [stub, *related]

    def _look_ups(self, tool: Tool) -> list[str]:
        related = []
        hits = {hit.tool.id for hit in self._hits.hits[:DEFAULT_LIMIT]}
        for look_up in self._hits.look_ups.get(tool.id, ()):
            what = f"{look_up.parameter} from" if look_up.parameter else "see also"
            is_known = look_up.tool.id in hits or any(f"{look_up.tool.id}(" in block for block in self._blocks)
            text = look_up.tool.id if is_known else stubs.one_liner(look_up.tool, budget_tokens=_LOOK_UP_TOKENS)
            related.append(f"#   {what}: {text}")
        return related

    def _add(self, block: Iterable[str], tool: Tool) -> None:
        lines = list(block)
        self._blocks.append("\n".join(lines))
        self.shown.add(tool.id)
        self.left = max(0, self.left - cost(lines))


def cost(lines: Iterable[str]) -> int:
    """Return the tokens of lines, with the line break after them."""
    text = "\n".join(lines)
    return tokens.count(text) + 1 if text else 0
