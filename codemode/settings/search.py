"""The `search` section."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.embeddings import EmbeddingSettings
from codemode.settings.section import Section


class Enrichment(Section):
    """Additional text by which tools are found. The model never sees it."""

    synonyms: tuple[str, ...] = Field(
        default=(), description="Other words for what the tools do.", examples=[["sabbatical", "put on hold"]]
    )
    examples: tuple[str, ...] = Field(
        default=(), description="Queries that should find the tools.", examples=[["I am travelling for a month"]]
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Words that are searched and also work as a filter of search.", examples=[["fitness"]]
    )


class SearchSettings(Section):
    """How search finds and orders tools, and how long its answers are."""

    budget_tokens: int = Field(default=1_200, ge=100, description="Maximum length of one answer of search, in tokens.")
    record_usage: bool = Field(
        default=True,
        description="Store which tool was called after which search, and raise it in later searches of the same role. "
        "false: also forget what is stored.",
    )
    enrichment: dict[str, Enrichment] = Field(
        default={},
        description="Additional text by tool id, alias, part of an id, or source name. Keys that match nothing are "
        "rejected.",
        examples=[{"gym.plans": {"synonyms": ["tariff"], "tags": ["sales"]}}],
    )
    embeddings: EmbeddingSettings | None = Field(
        default=None,
        description="Semantic search with vectors of a service or of a local model. null: lexical search only.",
        examples=[{"kind": "local"}],
    )
