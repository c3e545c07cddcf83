"""Sources: find the services that a query names, such as Netlify in `invite a colleague to our netlify team`."""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.documents.documents import Field, squashed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.segment import Segment
    from codemode.search.interpretation.term_weights import Word

_MOST_WORDS = 3  # words of a query that are one name: `digital ocean`
_SHORTEST = 3  # letters of a name
_USED = 0.1  # a word in more tools elsewhere than this share of the source's own tools is a common word
#: Words of titles beside the service's own: `GitHub v3 REST API`.
_OF_TITLES = frozenset((
    "api", "apis", "rest", "restful", "http", "web", "openapi", "swagger", "graphql", "the", "public", "preview",
    "beta", "service", "server", "specification", "reference", "documentation",
))  # fmt: skip
_SECOND_LEVEL = frozenset(("co", "com", "org", "net", "gov", "ac"))  # `example.co.uk`
_NO_NAMES = frozenset(("localhost", "local", "internal", "example", "test", "invalid"))
_WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
#: What a name of a source ends with beside the service's own.
_GENERIC = re.compile(r"(?:(?:^|_)(?:api|apis|mcp|server|service|rest|http|v?\d{1,4})){1,4}$")
_VERSION = re.compile(r"v?\d+")
_HOST = re.compile(r"://(?:[^/@]*@)?([^/:?#\[\]]+)")
#: `create an issue in linear for the crash`: a preposition before the name, and the end of the phrase behind it.
_BEFORE = re.compile(r"\b(?:on|in|from|to|via|with|using|at|into|through|by)\s+$", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:$|[.,;:?!]|(?:about|and|as|by|for|from|in|of|on|or|that|to|which|with)\b)", re.IGNORECASE)


class Sources:
    """The names of the sources of a catalog. `source_of` is the number of the source of each tool.

    A name that is a common word names its source only in a phrase such as `in linear`, and several common words only in
    capitals. The documents of the other sources say which names are common.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        documents: Segment,
        vocabulary: Vocabulary,
        titles: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        numbers: dict[str, int] = {}
        namespaces = (tool.namespace.partition(".")[0] for tool in tools)
        self.source_of = np.array([numbers.setdefault(each, len(numbers)) for each in namespaces], np.int32)
        self._named: defaultdict[str, set[int]] = defaultdict(set)
        self._parts: defaultdict[str, set[str]] = defaultdict(set)
        named: dict[tuple[str, int], list[str]] = {}
        for namespace, number in numbers.items():
            own = _GENERIC.sub("", namespace.lower())
            if len(squashed(own)) >= _SHORTEST:
                named |= {(name, number): own.split("_") for name in (squashed(own), squashed(namespace))}
        of_names = {name for name, _ in named}
        sources = {tool.source: numbers[tool.namespace.partition(".")[0]] for tool in tools} if titles else {}
        for source, number in sources.items():
            for parts in filter(None, (_title_words(title) for title in titles.get(source, ()))):
                named.setdefault(("".join(parts), number), parts)
        for (name, number), parts in named.items():
            if name not in wordlists.stop_words():
                self._named[name].add(number)
                self._parts[name].update(parts)
        self._openings = {name[:end] for name in self._named for end in range(1, len(name) + 1)}
        self._of_titles = self._named.keys() - of_names
        in_name = documents.fields <= Field.HOME
        self._terms = documents.terms[in_name]
        self._users = self.source_of.repeat(np.diff(documents.starts))[in_name]
        self._sizes = np.bincount(self.source_of)
        self._vocabulary = vocabulary
        self._common: dict[str, bool] = {}
        self._contents: dict[str, bool] = {}

    def named(self, query: str, words: Sequence[Word]) -> tuple[frozenset[int], frozenset[int]]:
        """Return the numbers of the sources that a query names, and the first characters of the words that do."""
        sources: set[int] = set()
        places: set[int] = set()
        for start in range(len(words)):
            name = ""
            for end in range(start, min(start + _MOST_WORDS, len(words))):
                name += words[end][0].surface
                if name not in self._openings:
                    break
                numbers, run = self._named.get(name), words[start : end + 1]
                if not numbers or self._is_content(name):
                    continue
                if not self._is_common(name) or _is_meant(query, run):
                    sources |= numbers
                    places.update(place for _, _, place, _ in run)
        return frozenset(sources), frozenset(places)

    def _is_common(self, name: str) -> bool:
        """Return whether each part of a name is a word, or one that many tools of other sources have in their names."""
        if name not in self._common:
            self._common[name] = all(
                _is_word(part) or self._is_used(part, name, elsewhere=True) for part in self._parts[name]
            )
        return self._common[name]

    def _is_content(self, name: str) -> bool:
        """Return whether a title is what many of its own tools are about: `Pets`."""
        if name not in self._of_titles:
            return False
        if name not in self._contents:
            self._contents[name] = all(self._is_used(part, name, elsewhere=False) for part in self._parts[name])
        return self._contents[name]

    def _is_used(self, part: str, name: str, *, elsewhere: bool) -> bool:
        own = list(self._named[name])
        users = self._users[self._terms == self._vocabulary.number(text.term(part))]
        count = np.count_nonzero(np.isin(users, own, invert=elsewhere))
        return bool(count > _USED * self._sizes[own].sum())


def _title_words(title: str) -> list[str]:
    """Return the words that name a service in the title of a document, or in the address of its server."""
    host = _HOST.search(title)
    if host is not None:
        *labels, top = host[1].lower().split(".")
        own = [label for label in labels if label not in _SECOND_LEVEL and "{" not in label][-1:]
        words = [] if top.isdigit() else [word for label in own for word in text.raw_words(label)]
    else:
        lowered = (word.lower() for word in text.raw_words(title))
        words = [word for word in dict.fromkeys(lowered) if word not in _OF_TITLES and not _VERSION.fullmatch(word)]
    is_name = 0 < len(words) <= _MOST_WORDS and len("".join(words)) >= _SHORTEST and _NO_NAMES.isdisjoint(words)
    return words if is_name else []


def _is_word(part: str) -> bool:
    """Return whether a part of a name has a meaning of its own."""
    return part in wordlists.faint_words() or part in _WEEKDAYS or text.term(part) in wordlists.meanings()


def _is_meant(query: str, words: Sequence[Word]) -> bool:
    """Return whether common words name a source where they stand."""
    form, _, start, is_capitalized = words[0]
    if len(words) > 1:
        return all(is_name for *_, is_name in words)
    behind = start + len(form.surface)
    return (is_capitalized or not _is_word(form.surface)) and bool(
        _BEFORE.search(query, 0, start) and _BEHIND.match(query, behind)
    )
