"""Rankers: this project's search and its peers, each as a class with `build` and `search`."""

from __future__ import annotations

import asyncio
import re
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from codemode.search.documents.postings import build_postings
from codemode.search.evaluation.evaluation import TOP
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.documents.weights import Weights


class Ranker(Protocol):
    """A search over tools."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""


class Ours:
    """This project's index."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""
        self.index = Index.build(tools)

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""
        return [hit.tool.id for hit in self.index.search(Query((query,), limit=TOP)).hits]


#: Weights that the postings depend on. The others affect only query analysis and ranking.
OF_POSTINGS = ("fields", "length_b", "fill", "saturation_k1", "rarity_power")


def reweighed(index: Index, weights: Weights) -> Index:
    """Return an index of the same documents with other weights."""
    if replace(weights, ranking=index.weights.ranking) == index.weights:
        other = copy(index)
        other.weights = weights
        return other
    same = all(getattr(weights, name) == getattr(index.weights, name) for name in OF_POSTINGS)
    postings = index.postings if same else build_postings(index.documents, weights, len(index.vocabulary))
    return Index(
        index.tools, index.documents, index.vocabulary, postings, weights=weights,
        profile=index.profile if same else None,
    )  # fmt: skip


class FastMcp:
    """FastMCP's search transform with its defaults, called without its server."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""
        from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
        from fastmcp.tools.base import Tool as FastMcpTool

        self._transform = BM25SearchTransform(max_results=TOP)
        self._tools = [
            FastMcpTool(name=tool.id, description=tool.description or tool.summary, parameters=_schema(tool))
            for tool in tools
        ]
        self._loop = asyncio.new_event_loop()
        self.search("warm")

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""
        hits = self._loop.run_until_complete(self._transform._search(self._tools, query))
        return [tool.name for tool in hits]


class Bm25s:
    """bm25s with English stemming and stop words, over identifiers split into words."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""
        import bm25s
        import Stemmer

        self._library = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._ids = [tool.id for tool in tools]
        self._index = bm25s.BM25()
        self._index.index(self._tokens([_text(tool) for tool in tools]), show_progress=False)

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""
        documents, scores = self._index.retrieve(self._tokens([query]), k=min(TOP, len(self._ids)), show_progress=False)
        return [self._ids[place] for place, score in zip(documents[0], scores[0], strict=True) if score > 0]

    def _tokens(self, texts: list[str]) -> Any:
        split = [_split(text) for text in texts]
        return self._library.tokenize(split, stopwords="en", stemmer=self._stemmer, show_progress=False)


class Tantivy:
    """tantivy with its English stemmer, over identifiers split into words."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""
        import tantivy

        schema = tantivy.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw")
        self._index = tantivy.Index(schema.add_text_field("text", tokenizer_name="en_stem").build())
        writer = self._index.writer(num_threads=1)
        for tool in tools:
            writer.add_document(tantivy.Document(id=[tool.id], text=[_split(_text(tool))]))
        writer.commit()
        self._index.reload()

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""
        words = " ".join(re.findall(r"\w+", _split(query)))
        searcher = self._index.searcher()
        asked, _ = self._index.parse_query_lenient(words.lower(), ["text"])
        return [searcher.doc(place)["id"][0] for _, place in searcher.search(asked, TOP).hits]


class RapidFuzz:
    """rapidfuzz's token_set_ratio over ids and descriptions."""

    def build(self, tools: Sequence[Tool]) -> None:
        """Index the tools."""
        self._texts = {tool.id: _split(f"{tool.id} {tool.description or tool.summary}").lower() for tool in tools}

    def search(self, query: str) -> list[str]:
        """Return the ids of the hits, best first."""
        from rapidfuzz import fuzz, process

        matches = process.extract(query.lower(), self._texts, scorer=fuzz.token_set_ratio, limit=TOP)
        return [id_ for _, _, id_ in matches]


PEERS: dict[str, type[Ranker]] = {
    "FastMCP BM25": FastMcp,
    "bm25s, stem": Bm25s,
    "tantivy, stem": Tantivy,
    "rapidfuzz": RapidFuzz,
}


def _text(tool: Tool) -> str:
    pieces = [tool.id, *tool.tags, tool.summary, tool.description]
    pieces += [f"{parameter.name} {parameter.description}" for parameter in tool.parameters]
    return "\n".join(pieces)


def _split(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")


def _schema(tool: Tool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {parameter.name: {"description": parameter.description} for parameter in tool.parameters},
    }
