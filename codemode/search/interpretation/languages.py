"""Other languages: replace the words of a query by those of documents in English.

The table `words/translations.txt` has the commonest actions and things in ten languages, and says where it comes from.
A query is read as another language if more of its words are in a column of the table than are English. Words that a
tool name contains stay as they are, and so do names and words that are not in the table.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol

import Stemmer

from codemode.search.analysis import text, wordlists
from codemode.search.analysis.words import lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SPACED = ("German", "Spanish", "French", "Italian", "Dutch", "Portuguese", "Russian")
#: The languages of the table, in the order of its columns.
LANGUAGES = (*_SPACED, "Japanese", "Korean", "Chinese")
_COMPOUNDING = frozenset(("German", "Dutch"))
_LINKS = ("", "s", "n", "en", "es", "e")  # letters between the parts of a compound
_SHORTEST_PART = 3  # letters of a part of a compound
_LONGEST_COMPOUND = 40  # letters
_WORD = text.RAW_WORD
_TOKEN = re.compile(rf"{_WORD.pattern}|[.,;:!?\"()]")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_HANGUL = re.compile("[\uac00-\ud7af]")
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")

_PARTICLE = re.compile("[을를이가은는의에로도만와과별간들]|에서|으로|마다")  # follows a Korean word

_SPELLED = str.maketrans({"\u0451": "\u0435", "\u00df": "ss"})  # letters that many leave out: io of Russian, sharp s

#: The English words for a word, any of which documents may use. No word at all for a function word.
English = tuple[str, ...]


class Words(Protocol):
    """The words of a catalog."""

    def is_named(self, surface: str) -> bool:
        """Return whether a tool name contains a word."""

    def is_known(self, surface: str) -> bool:
        """Return whether any text of a tool contains a word."""


def in_english(query: str, words: Words) -> str:
    """Return a query with the words of another language replaced. A query in English is returned as it is."""
    if not query.isascii():
        query = _EAST_ASIAN.sub(lambda run: _read_unspaced(run[0], words), query)
    language = _language(_WORD.findall(query), words)
    if not language:
        return query
    return " ".join(
        " ".join(_actions_first(_translated(clause, language, words)) if is_word else clause)
        for is_word, clause in groupby(_TOKEN.findall(query), lambda token: token[0].isalnum())
    )


def _language(tokens: Sequence[str], words: Words) -> str:
    """Return the language of the words that are not English, or "" if more of them are English."""
    if not any(map(_is_foreign, tokens)):
        return ""
    evidence = [_evidence(token) for token in tokens]
    foreign: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    english = 0
    for token, (is_english, meanings) in zip(tokens, evidence, strict=True):
        is_ours = is_english or words.is_named(token.lower())
        english += is_ours
        (alike if is_ours else foreign).update(list(meanings))
    if not foreign:
        return ""
    best = max(foreign, key=lambda language: (foreign[language], alike[language]))
    return best if foreign[best] > english - alike[best] else ""


def _translated(tokens: Iterable[str], language: str, words: Words) -> list[str]:
    translated: list[str] = []
    for token in tokens:
        english = _meanings(token).get(language)
        if english is None or words.is_named(token.lower()):
            translated.append(token)
            continue
        if english and words.is_known(token.lower()):
            translated.append(token)
        translated += [_likeliest(each.split("/"), words) for each in english]
    return translated


def _likeliest(english: Sequence[str], words: Words) -> str:
    """Return the first word that a tool name contains, or else that any text contains, or else the first."""
    for is_used in (words.is_named, words.is_known):
        for word in english:
            if is_used(word):
                return word
    return english[0]


def _actions_first(words: list[str]) -> list[str]:
    """Move the first action to the front, where English has it."""
    for place, word in enumerate(words):
        if text.term(word) in wordlists.actions():
            return [word, *words[:place], *words[place + 1 :]]
    return words


def _read_unspaced(run: str, words: Words) -> str:
    """Return the words for the longest entries within a run of letters, or the run if documents use its letters."""
    if all(words.is_known(form) for form in text.surface_forms(run)):
        return run
    table, longest = _unspaced()
    english: list[str] = []
    place = 0
    while place < len(run):
        ends = range(min(len(run), place + longest), place, -1)
        end = next((end for end in ends if run[place:end] in table and _is_whole(run, place, end)), 0)
        english += [_likeliest(each.split("/"), words) for each in table[run[place:end]]] if end else ()
        place = end or place + 1
    return f" {' '.join(_actions_first(english))} " if english or run in table else run


def _is_whole(run: str, start: int, end: int) -> bool:
    """Return whether an entry may be a word of its own. Single characters are parts of many other words."""
    if end - start > 1:
        return True
    if _HANGUL.match(run[start]):
        return not start and (end == len(run) or bool(_PARTICLE.fullmatch(run[end:])))
    return not any(_IDEOGRAPH.match(beside) for beside in (run[start - 1 : start], run[end : end + 1]))


class _Evidence(NamedTuple):
    """Whether a word is English, and the languages that have it."""

    is_english: bool
    meanings: Mapping[str, English]


@lru_cache(maxsize=65_536)
def _evidence(token: str) -> _Evidence:
    return _Evidence(token.lower() in _english_words(), _meanings(token))


@lru_cache(maxsize=65_536)
def _is_foreign(token: str) -> bool:
    is_english, meanings = _evidence(token)
    return bool(meanings) and not is_english


@lru_cache(maxsize=65_536)
def _meanings(token: str) -> Mapping[str, English]:
    """Map each language that has a word to its English words, separated by `/` where one of several is meant."""
    word = token.lower()
    meanings = {}
    for language in _SPACED:
        english = _entry(word, language)
        if english is None and language in _COMPOUNDING and len(word) <= _LONGEST_COMPOUND:
            english = _compound(word, language)
        if english is not None:
            meanings[language] = english
    return meanings


def _entry(word: str, language: str) -> English | None:
    table = _table()[language]
    folded = _folded(word)
    return table[folded] if folded in table else table.get(_stem(word, language))


def _compound(word: str, language: str) -> English | None:
    """Return the words for the parts of a compound, such as `Kundenliste`."""
    for end in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        for link in _LINKS:
            if word[:end].endswith(link):
                first = _entry(word[: end - len(link)], language) if end - len(link) >= _SHORTEST_PART else None
                rest = first and (_entry(word[end:], language) or _compound(word[end:], language))
                if first and rest:
                    return (*first, *rest)
    return None


@cache
def _table() -> Mapping[str, Mapping[str, English]]:
    """Map each language to its words and their stems, with the English words of each."""
    tables: defaultdict[str, dict[str, English]] = defaultdict(dict)
    for line in lines("function_words.txt"):
        language, _, words = line.partition(":")
        tables[language].update((_folded(word), ()) for word in words.split())
    for english, cells in _rows():
        for language, cell in zip(_SPACED, cells, strict=False):
            for word in cell.split():
                tables[language].setdefault(_folded(word), english)
    for english, cells in _rows():
        for language, cell in zip(_SPACED, cells, strict=False):
            for word in cell.split():
                tables[language].setdefault(_stem(word, language), english)
    return tables


@cache
def _unspaced() -> tuple[Mapping[str, English], int]:
    """Map the words of languages that need no spaces to English, and return the length of the longest word."""
    table: dict[str, English] = {}
    for english, cells in _rows():
        for cell in cells[len(_SPACED) :]:
            for word in cell.split():
                table.setdefault(word, english)
    for line in lines("function_words.txt"):
        language, _, words = line.partition(":")
        if language not in _SPACED:
            table.update((word, ()) for word in words.split())
    return table, max(map(len, table))


@cache
def _rows() -> list[tuple[English, list[str]]]:
    rows: list[tuple[English, list[str]]] = []
    for line in lines("translations.txt"):
        english, _, cells = line.partition(":")
        rows.append((("/".join(english.split()),), cells.split("|")))
    return rows


@cache
def _english_words() -> frozenset[str]:
    """Return English words that are no evidence of another language."""
    own = {word for english, _ in _rows() for word in english[0].split("/")}
    return wordlists.words() | wordlists.stop_words() | own


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    stemmer = Stemmer.Stemmer(language.lower())
    stemmer.maxCacheSize = 0  # `_meanings` caches the stems
    return stemmer


def _stem(word: str, language: str) -> str:
    return _folded(_stemmer(language).stemWord(word))


def _folded(word: str) -> str:
    return text.without_accents(word).translate(_SPELLED)
