"""Search answers: the hits of a search as text for a model and as JSON data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.search.introduction import introduction_lines
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.search.query import Hit

    #: Returns whether a hit is wanted.
    Accepts = Callable[[Hit], bool]


#: Number of unavailable namespaces listed with their reason. The others are counted.
_NAMED = 3


def unavailable_line(catalog: Catalog) -> str:
    """Return a line with the unavailable namespaces and their reasons, or "" if all are available."""
    if not catalog.unavailable:
        return ""
    named = [f"{name} ({why})" for name, why in list(catalog.unavailable.items())[:_NAMED]]
    more = len(catalog.unavailable) - len(named)
    rest = f" and {more} more" if more else ""
    return f"unavailable at present, tried again: {', '.join(named)}{rest}"


def wholly_unavailable(catalog: Catalog, place: str | None) -> bool:
    """Return whether a search is limited to a namespace or source that is unavailable."""
    return place is not None and place.partition(".")[0] in catalog.unavailable


@dataclass(frozen=True, slots=True, repr=False)
class SearchAnswer:
    """The answer to a search: `text` for a model, and `hits`, one page of all `total`, best first.

    `unsure` are the queries whose hits may all be wrong. `doubt` is what speaks against the hits of the first query, as
    that no tool has one of its words. `note` says what the answer lacks, such as embeddings.
    `introductions` are the conventions of the hits' namespaces, unless the text has them already.
    """

    text: str
    hits: tuple[Hit, ...]
    total: int
    unsure: tuple[str, ...] = ()
    note: str = ""
    introductions: Mapping[str, str] = field(default_factory=dict)
    doubt: str = ""

    def introduced(self, told: set[str]) -> str:
        """Return the text after the introductions that are not in `told`, and add their namespaces to it.

        Keep one set for each conversation.
        """
        new = {name: text for name, text in self.introductions.items() if name not in told}
        told.update(new)
        return "\n".join([*introduction_lines(new), self.text])

    def __repr__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON data."""
        hits = [
            {
                "id": hit.tool.id,
                "summary": visible(hit.tool.summary),
                "namespace": hit.namespace,
                "effect": hit.effect,
                "score": round(hit.score, 4),
                "matched": list(hit.matched),
                "query": hit.query,
            }
            for hit in self.hits
        ]
        return {"text": self.text, "hits": hits, "total": self.total, "unsure": list(self.unsure), "note": self.note}
