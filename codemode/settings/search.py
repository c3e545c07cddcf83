"""The section on search."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.embeddings import EmbeddingSettings
from codemode.settings.section import Section


class Enrichment(Section):
    """More to find a tool by. `synonyms` and `examples` (queries) are only searched, `tags` are filters too."""

    synonyms: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class SearchSettings(Section):
    """What one answer of `search` may cost the model, and by what it finds and orders tools.

    `enrichment` is by the id of a tool, another exact name of it, or the name of a source.
    """

    budget_tokens: int = Field(default=1_200, ge=100)
    record_usage: bool = True
    ranking: dict[str, float] = Field(default_factory=dict)
    enrichment: dict[str, Enrichment] = Field(default_factory=dict)
    embeddings: EmbeddingSettings | None = None
