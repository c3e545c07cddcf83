"""Routers find categories that no keyword matched."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.menus.menu import Reason
from codemode.menus.retrieval import NOT_SURE, query_of, ranked
from codemode.transports.model_function import ModelFailed, ModelFunction

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from codemode.menus.categories import Categories, Category
    from codemode.menus.conversation import Conversation
    from codemode.search.finder import Finder
    from codemode.settings.menu import RouterKind, RouterSettings

#: Default numbers of routed categories: offered whole, and reduced to their best tools.
#: With eight reduced categories, 15 tools contain the needed one as often as 15 of the whole catalog; with three, less.
_TOP_WHOLE = 3
_TOP_RETRIEVED = 8

#: The least cosine for a match, by embedding model.
_THRESHOLDS = {
    "bge-m3": 0.40,
    "all-MiniLM-L6-v2": 0.30,
}
_THRESHOLD = 0.40

#: Hits whose categories count in lexical routing.
_ROUTING_HITS = 50

#: Tool summaries that describe a category without a description.
_SUMMARIES = 12

#: Wait in seconds for a service that was late, until it answers in time again.
_SHORT_WAIT_S = 0.25

_TASK = (
    "Choose the categories of tools that are needed to answer the user's last message, and none that are not. "
    "The categories:\n"
)

#: Texts per request.
_TOGETHER = 64


@dataclass(slots=True)
class Routing:
    """Routed categories with reasons, best first, and notes on problems."""

    reasons: dict[str, Reason] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Router:
    """Routes by the configured router, and by a simpler one if that fails."""

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
        self._model: ModelFunction | None = None
        if settings.kind == "model":
            if settings.model is None:
                message = "menu.router.model: name the model, for example {model: gpt-5-mini}"
                raise ConfigurationError(message)
            self._model = ModelFunction(settings.model, "choose_categories", title="the router's model")

    @property
    def is_configured(self) -> bool:
        """Whether categories are found by anything but keywords."""
        return self._kind != "none"

    def is_needed(self, found: Container[str]) -> bool:
        """Return whether a category is left to a router."""
        return self.is_configured and any(category.name not in found for category in self._categories)

    def is_automatic(self, reason: Reason) -> bool:
        """Return whether the router was chosen by `auto`."""
        return self._kind == "auto" and reason.kind in ("list", "lexical", "embed")

    async def find(self, conversation: Conversation, texts: Sequence[str], found: Container[str]) -> Routing:
        """Return further categories. `texts` are human messages, newest first."""
        open_ = [category for category in self._categories if category.name not in found]
        match self._resolved(len(self._categories)):
            case "list":
                return Routing({category.name: Reason("list", category.name) for category in open_})
            case "model":
                return await self._by_model(conversation, texts, open_)
            case "embedding":
                return await self._by_embedding(conversation, texts, open_)
            case _:
                return await self._by_words(conversation, texts, open_)

    def _resolved(self, count: int) -> RouterKind:
        """Return the router for this number of categories; `list` suits few."""
        if self._kind in ("auto", "list"):
            if count < self._settings.list_below:
                return "list"
            return "embedding" if self._finder.uses_embeddings else "lexical"
        return self._kind

    async def _by_words(
        self, conversation: Conversation, texts: Sequence[str], open_: Sequence[Category], *notes: str
    ) -> Routing:
        names = {category.name for category in open_}
        found = await ranked(self._finder, query_of(conversation), texts[1:], _ROUTING_HITS)
        best: dict[str, float] = {}
        for place, hit in enumerate(found.hits):
            name = self._category_of.get(hit.tool.id)
            if name in names:
                best.setdefault(name, found.score(place))
        top = list(best)[: self._top]
        told = (*notes, NOT_SURE) if found.is_unsure else notes
        return Routing({name: Reason("lexical", name, best[name]) for name in top}, told)

    async def _by_embedding(
        self, conversation: Conversation, texts: Sequence[str], open_: Sequence[Category], *notes: str
    ) -> Routing:
        cosines, problem = await self._cosines(texts, open_)
        if problem:
            told = (*notes, f"{problem}: by keywords alone")
            unkeyed = [category for category in open_ if not category.keywords]
            return await self._by_words(conversation, texts, unkeyed, *told) if unkeyed else Routing(notes=told)
        threshold = self._threshold()
        near = sorted((name for name in cosines if cosines[name] >= threshold), key=lambda name: -cosines[name])
        top = self._top if self._kind == "auto" else self._settings.top
        return Routing({name: Reason("embed", name, cosines[name]) for name in near[:top]}, notes)

    async def _cosines(self, texts: Sequence[str], open_: Sequence[Category]) -> tuple[dict[str, float], str]:
        """Return each category's best cosine to the texts, and the problem or ""."""
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
        return {name: max(float(one.dot(self._vectors[text])) for one in messages) for name, text in told.items()}, ""

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
                    found[text] = vector / max(float(vector.dot(vector)) ** 0.5, 1e-9)
        return found, ""

    def _threshold(self) -> float:
        if self._settings.threshold is not None:
            return self._settings.threshold
        name = self._finder.embeddings_model.rpartition("/")[2].partition(":")[0]
        own = self._settings.thresholds
        return own.get(self._finder.embeddings_model, own.get(name, _THRESHOLDS.get(name, _THRESHOLD)))

    async def _by_model(self, conversation: Conversation, texts: Sequence[str], open_: Sequence[Category]) -> Routing:
        assert self._model is not None  # noqa: S101 -- made with the settings that ask for it
        told = {category.name: category.description or _summaries(category) for category in open_}
        try:
            names = await _chosen(self._model, "\n".join(reversed(texts)), told, self._settings.wait_s)
        except ModelFailed as failure:
            if self._finder.uses_embeddings:
                return await self._by_embedding(conversation, texts, open_, f"{failure}: by meaning instead")
            return await self._by_words(conversation, texts, open_, f"{failure}: by words instead")
        return Routing({name: Reason("model", name) for name in names[: self._settings.top]})


async def _chosen(model: ModelFunction, text: str, categories: Mapping[str, str], timeout_s: float) -> list[str]:
    """Return the categories that the text is about, as a model chooses them. Raises ModelFailed, also after a timeout.

    The request allows only the names of categories.
    """
    listed = "\n".join(f"- {name}: {about}" for name, about in categories.items())
    messages = [{"role": "system", "content": f"{_TASK}{listed}"}, {"role": "user", "content": text}]
    names = {"type": "array", "items": {"type": "string", "enum": list(categories)}}
    try:
        async with asyncio.timeout(timeout_s):
            chosen = (await model.ask(messages, {"categories": names}))["categories"]
    except TimeoutError:
        message = f"the router's model gave no answer within {timeout_s:g} s"
        raise ModelFailed(message) from None
    unknown = [name for name in chosen if name not in categories] if isinstance(chosen, list) else [chosen]
    if unknown:
        message = f"the router's model named an unknown category ({str(unknown[0])[:50]!r})"
        raise ModelFailed(message)
    return list(dict.fromkeys(chosen))


def text_of(category: Category) -> str:
    """Return the embedded text of a category: its name, and its description or tool summaries."""
    name = category.name.replace("_", " ").replace(".", " ").replace(":", " ")
    return f"{name}: {category.description or _summaries(category)}"


def _summaries(category: Category) -> str:
    return "; ".join(tool.summary or tool.id for tool in category.tools[:_SUMMARIES])
