"""Routers: categories that a message is about, where no keyword says so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from codemode.errors import ConfigurationError
from codemode.menus.asked_model import AskedModel, ModelFailure
from codemode.menus.menu import Reason
from codemode.menus.retrieval import hits_of, query_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from codemode.menus.categories import Categories, Category
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.settings.menu import RouterKind, RouterSettings

#: Categories that are routed to where the settings do not say: whole ones, and those of which the best tools are taken.
#: With eight of the second kind 15 tools hold what is needed as often as 15 of the whole catalog do, with three less.
_TOP_WHOLE = 3
_TOP_RETRIEVED = 8

#: From what cosine on a message is about a category, by model; what is near differs between models.
_THRESHOLDS = {
    "bge-m3": 0.40,
    "all-MiniLM-L6-v2": 0.30,
}
_THRESHOLD = 0.40

#: Hits by whose categories words route.
_ROUTING_HITS = 50

#: Tools whose summaries stand for a category without a description.
_SUMMARIES = 12

#: What a service that was late is waited for, until it has been in time once more.
_SHORT_WAIT_S = 0.25

#: Texts in one request.
_TOGETHER = 64


@dataclass(slots=True)
class Found:
    """Categories with why, best first, and what went wrong."""

    reasons: dict[str, Reason] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Router:
    """Finds categories by the kind of router that the settings ask for, and by a simpler one where that fails."""

    def __init__(
        self, categories: Categories, finder: Finder, settings: RouterSettings, *, retrieves: bool = False
    ) -> None:
        self._settings = settings
        self._top = settings.top or (_TOP_RETRIEVED if retrieves else _TOP_WHOLE)
        self._finder = finder
        self._categories = tuple(categories.by_name.values())
        self._category_of = {tool.id: category.name for category in self._categories for tool in category.tools}
        has_keywords = any(category.keywords for category in self._categories)
        self._kind = "none" if settings.kind == "auto" and has_keywords else settings.kind
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._is_prompt = True
        self._model: AskedModel | None = None
        if settings.kind == "model":
            if settings.model is None:
                message = "menu.router.model: say which model is asked, for example {model: gpt-5-mini}"
                raise ConfigurationError(message)
            self._model = AskedModel(settings.model)

    def is_needed(self, found: Container[str]) -> bool:
        """Whether there is anything left to find."""
        return self._kind != "none" and any(category.name not in found for category in self._categories)

    def is_automatic(self, reason: Reason) -> bool:
        """Whether a category was found by a router that nobody asked for."""
        return self._kind == "auto" and reason.kind in ("list", "lexical", "embed")

    async def find(self, conversation: Conversation, texts: Sequence[str], found: Container[str]) -> Found:
        """Categories that are not found yet. `texts` are the human messages to look at, the latest first."""
        open_ = [category for category in self._categories if category.name not in found]
        match self._resolved(len(self._categories)):
            case "list":
                return Found({category.name: Reason("list", category.name) for category in open_})
            case "model":
                return await self._by_model(conversation, texts, open_)
            case "embedding":
                return await self._by_embedding(conversation, texts, open_)
            case _:
                return await self._by_words(conversation, open_)

    def _resolved(self, count: int) -> RouterKind:
        """The kind of router for so many categories: a list is for few."""
        if self._kind in ("auto", "list"):
            if count < self._settings.list_below:
                return "list"
            return "embedding" if self._finder.uses_embeddings else "lexical"
        return self._kind

    async def _by_words(self, conversation: Conversation, open_: Sequence[Category], *notes: str) -> Found:
        names = {category.name for category in open_}
        hits = await hits_of(self._finder, query_of(conversation), _ROUTING_HITS)
        best: dict[str, float] = {}
        for hit in hits:
            name = self._category_of.get(hit.tool.id)
            if name in names:
                best.setdefault(name, hit.score)
        top = list(best)[: self._top]
        return Found({name: Reason("lexical", name, best[name]) for name in top}, notes)

    async def _by_embedding(
        self, conversation: Conversation, texts: Sequence[str], open_: Sequence[Category], *notes: str
    ) -> Found:
        cosines, problem = await self._cosines(texts, open_)
        if problem:
            told = (*notes, f"{problem}: by keywords alone")
            unkeyed = [category for category in open_ if not category.keywords]
            return await self._by_words(conversation, unkeyed, *told) if unkeyed else Found(notes=told)
        threshold = self._threshold()
        near = sorted((name for name in cosines if cosines[name] >= threshold), key=lambda name: -cosines[name])
        top = self._top if self._kind == "auto" else self._settings.top
        return Found({name: Reason("embed", name, cosines[name]) for name in near[:top]}, notes)

    async def _cosines(self, texts: Sequence[str], open_: Sequence[Category]) -> tuple[dict[str, float], str]:
        """How near each category is to the nearest of the texts; and why that is not known, or ""."""
        told = {category.name: text_of(category) for category in open_}
        wanted = [text for text in (*told.values(), *texts) if text and text not in self._vectors]
        if wanted:
            known, problem = await asyncio.to_thread(self._embedded, wanted)
            if problem:
                return {}, problem
            self._vectors.update((text, known[text]) for text in told.values() if text in known)
        else:
            known = {}
        messages = [vector for text in texts if (vector := known.get(text, self._vectors.get(text))) is not None]
        if not messages:
            return {}, ""
        matrix = np.stack(messages)
        return {name: float(matrix.dot(self._vectors[text]).max()) for name, text in told.items()}, ""

    def _embedded(self, texts: Sequence[str]) -> tuple[dict[str, NDArray[np.float32]], str]:
        found: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(texts), _TOGETHER):
            some = texts[start : start + _TOGETHER]
            wait_s = self._settings.wait_s if self._is_prompt else min(_SHORT_WAIT_S, self._settings.wait_s)
            vectors, problem = self._finder.vectors_of(some, wait_s)
            self._is_prompt = not problem
            if problem:
                return {}, problem
            for text, vector in zip(some, vectors, strict=True):
                if vector is not None:
                    found[text] = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return found, ""

    def _threshold(self) -> float:
        if self._settings.threshold is not None:
            return self._settings.threshold
        name = self._finder.embeddings_model.rpartition("/")[2].partition(":")[0]
        own = self._settings.thresholds
        return own.get(self._finder.embeddings_model, own.get(name, _THRESHOLDS.get(name, _THRESHOLD)))

    async def _by_model(self, conversation: Conversation, texts: Sequence[str], open_: Sequence[Category]) -> Found:
        assert self._model is not None  # noqa: S101 -- made with the settings that ask for it
        told = {category.name: category.description or _summaries(category) for category in open_}
        try:
            names = await self._model.choose("\n".join(reversed(texts)), told, self._settings.wait_s)
        except ModelFailure as failure:
            if self._finder.uses_embeddings:
                return await self._by_embedding(conversation, texts, open_, f"{failure}: by meaning instead")
            return await self._by_words(conversation, open_, f"{failure}: by words instead")
        return Found({name: Reason("model", name) for name in names[: self._settings.top]})


def text_of(category: Category) -> str:
    """What of a category is embedded: its name, and what it is for, or what its tools do where nobody says."""
    name = category.name.replace("_", " ").replace(".", " ").replace(":", " ")
    return f"{name}: {category.description or _summaries(category)}"


def _summaries(category: Category) -> str:
    return "; ".join(tool.summary or tool.id for tool in category.tools[:_SUMMARIES])
