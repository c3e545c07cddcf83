"""What a search found, as text for a model and as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.catalog.visible import visible

if TYPE_CHECKING:
    from codemode.search.query import Hit


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a search found: `text` is what a model reads, `hits` are one page of all `total`, best first.

    `unsure` are the queries whose hits may all be wrong; `note` says what the answer lacks, such as embeddings.
    """

    text: str
    hits: tuple[Hit, ...]
    total: int
    unsure: tuple[str, ...] = ()
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON data."""
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
