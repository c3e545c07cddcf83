"""Text to terms: words of any script, identifiers split, case and accents folded, English stemmed.

A *raw word* is a run of letters and digits as written (`listPullRequests`, `EC2`, `予約一覧`). It has *surface forms*
(`list`, `pull`, `requests`), which are what a person may mistype, and each surface form has a *term*, which is what the
index holds (`list`, `pull`, `request`).
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

# Vowel signs and accents that stand apart belong to the word, which `\w` does not know.
# The ranges leave out ideographs, Hangul syllables, surrogates and private use, which have no marks.
_MARKED = (*range(0x300, 0x3400), *range(0xA000, 0xAC00), *range(0xFB00, 0xFFFF))
_MARKS = "".join(mark for mark in map(chr, _MARKED) if unicodedata.category(mark) in ("Mn", "Mc"))
RAW_WORD = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")  # the same where there is nothing else, and found sooner

# Scripts written without spaces, and Hangul, whose particles stick to the word: indexed by pairs of characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_PLURAL_ABBREVIATION = re.compile(r"[A-Z]{2,}s")
_CAMEL = re.compile(r"[A-Z]+\d*(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+[a-z]*|.")
_JOINED_LENGTH = 12  # `GitHub`, `OAuth`, `TimeZone`: people also write these in one piece; longer ones are identifiers
_JOINED_PARTS = 2
_STEMMED = re.compile(r"[a-z]+")


def raw_words(text: str) -> list[str]:
    """The runs of letters and digits in `text`, as written."""
    return RAW_WORD.findall(text)


def words_within(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The raw words between two places of `text`."""
    return (_ASCII_WORD if text.isascii() else RAW_WORD).finditer(text, start, end)


def surface_forms(raw: str) -> tuple[str, ...]:
    """What a raw word is made of, folded: parts of an identifier, pairs of characters where a script has no spaces."""
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


def is_acronym(raw: str) -> bool:
    """Whether a raw word is written in capitals, an `s` for the plural apart."""
    return raw.isupper() or bool(_PLURAL_ABBREVIATION.fullmatch(raw))


@lru_cache(maxsize=65_536)
def term(surface: str) -> str:
    """The term of a surface form: its English stem when it is plain Latin letters, else itself."""
    form = _FORMS.get(surface, surface)
    if form in _WHOLE or not _STEMMED.fullmatch(form):
        return form
    stem: str = _STEMMER.stemWord(form)
    return stem


def terms(text: str) -> list[str]:
    """All terms of `text`, in order."""
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
    """Latin letters without their accents; other scripts keep their marks, which are part of the word there."""
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
_STEMMER.maxCacheSize = 0  # `term` and the index's own vocabulary remember
