"""Tokenization: split identifiers, fold case and accents, stem English. Words of all scripts are supported.

A *raw word* is a run of letters and digits as written (`listPullRequests`, `EC2`, `予約一覧`). It has one or more
*surface forms* (`list`, `pull`, `requests`), which spelling correction works on. Each surface form has one *term*
(`list`, `pull`, `request`), which the index holds.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

import Stemmer

from codemode.search.analysis.words import lines
from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Iterator

# Combining vowel signs and accents belong to the word, but `\w` does not match them.
# The ranges leave out ideographs, Hangul syllables, surrogates and private use, which have no marks.
_MARKED = (*range(0x300, 0x3400), *range(0xA000, 0xAC00), *range(0xFB00, 0xFFFF))
_MARKS = "".join(mark for mark in map(chr, _MARKED) if unicodedata.category(mark) in ("Mn", "Mc"))
RAW_WORD = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")  # equivalent for ASCII text, and faster

# Scripts without spaces, and Hangul, whose particles are suffixes, are indexed as character bigrams.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_PLURAL_ABBREVIATION = re.compile(r"[A-Z]{2,}s")
_CAMEL = re.compile(r"[A-Z]+\d*(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+[a-z]*|.")
_JOINED_LENGTH = 12  # `GitHub`, `OAuth`, `TimeZone` are also written as one word; longer ones are identifiers
_JOINED_PARTS = 2
_STEMMED = re.compile(r"[a-z]+")


def raw_words(text: str) -> list[str]:
    """Return the runs of letters and digits in `text`, as written."""
    return RAW_WORD.findall(text)


def words_within(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield a match for each raw word between two positions of `text`."""
    return (_ASCII_WORD if text.isascii() else RAW_WORD).finditer(text, start, end)


def surface_forms(raw: str) -> tuple[str, ...]:
    """Return the folded parts of a raw word: the words of an identifier, or the bigrams of a script without spaces."""
    if raw.isascii():
        return _latin_forms(raw)
    folded = without_accents(normalized("NFKC", raw))
    if folded.isascii():
        return _latin_forms(folded)
    forms: list[str] = []
    position = 0
    for run in _UNSPACED.finditer(folded):
        forms += _spaced_forms(folded[position : run.start()])
        forms += _pairs(run.group())
        position = run.end()
    return tuple(forms + _spaced_forms(folded[position:]))


@lru_cache(maxsize=65_536)
def term(surface: str) -> str:
    """Return the term of a surface form: its English stem if it has only the letters a to z, else the form itself."""
    form = _FORMS.get(surface, surface)
    if form in _WHOLE or not _STEMMED.fullmatch(form):
        return form
    stem: str = _STEMMER.stemWord(form)
    return stem


def terms(text: str) -> list[str]:
    """Return all terms of `text`, in order."""
    return [term(form) for raw in raw_words(text) for form in surface_forms(raw)]


def _latin_forms(raw: str) -> tuple[str, ...]:
    if raw.islower() or raw.isdigit():
        return (raw,)
    if _PLURAL_ABBREVIATION.fullmatch(raw):
        return (raw[:-1].lower(),)
    parts = [part.lower() for part in _CAMEL.findall(raw)]
    if len(parts) == _JOINED_PARTS and len(raw) <= _JOINED_LENGTH:
        parts.append(raw.lower())
    return tuple(parts)


def _spaced_forms(run: str) -> list[str]:
    if run.isascii():
        return list(_latin_forms(run)) if run else []
    return [run.casefold()]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


def without_accents(text: str) -> str:
    """Remove accents from Latin letters. Other scripts keep their combining marks, which belong to the word."""
    kept: list[str] = []
    for character in normalized("NFD", text):
        if unicodedata.combining(character) and kept and kept[-1].isascii():
            continue
        kept.append(character)
    return normalized("NFC", "".join(kept))


_LINES = [line.removeprefix("=").split() for line in lines("forms.txt")]
_FORMS = {form: words[0] for words in _LINES for form in words[1:]}
_WHOLE = frozenset(line.split()[1] for line in lines("forms.txt") if line.startswith("="))
_STEMMER = Stemmer.Stemmer("english")
_STEMMER.maxCacheSize = 0  # `term` and the vocabulary of the index cache the stems
