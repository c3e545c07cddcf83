"""Match category keywords in a conversation."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from codemode.search.analysis.text import without_accents
from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Scripts without spaces between words: any position may be a word boundary.
_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Myanmar
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # Kana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_SPACES = re.compile(r"\s+")

#: Hangul words may end in attached particles.
_HANGUL = ("\uac00", "\ud7af")


class Match(NamedTuple):
    """A matched category, its score, and its strongest keyword."""

    score: float
    keyword: str


class Keywords:
    """The keywords of all categories, compiled for substring or whole-word matching."""

    def __init__(self, keywords: Mapping[str, Mapping[str, float]], *, whole_words: bool = False) -> None:
        self._whole_words = whole_words
        self._keywords = [
            (category, [(fold(keyword), keyword, weight) for keyword, weight in weights.items()])
            for category, weights in keywords.items()
            if weights
        ]

    def find(self, texts: Sequence[str]) -> dict[str, Match]:
        """Return the categories with a keyword in any text, each with score 1, in category order."""
        text = "\n".join(map(fold, texts))
        found = {}
        for category, keywords in self._keywords:
            for folded, keyword, _ in keywords:
                if folded in text and (not self._whole_words or has_word(text, folded)):
                    found[category] = Match(1.0, keyword)
                    break
        return found

    def weigh(self, texts: Sequence[str], decay: float = 1.0) -> dict[str, Match]:
        """Return the categories by the summed weights of matching keywords, best first.

        The first text counts fully, each further one `decay` times the one before it.
        """
        folded_texts = [(fold(text), decay**age) for age, text in enumerate(texts)]
        found = {}
        for category, keywords in self._keywords:
            parts = {
                keyword: weight * max((fresh for text, fresh in folded_texts if self._is_in(folded, text)), default=0.0)
                for folded, keyword, weight in keywords
            }
            score = sum(parts.values())
            if score > 0:
                found[category] = Match(score, max(parts, key=lambda keyword: parts[keyword]))
        return dict(sorted(found.items(), key=lambda item: -item[1].score))

    def _is_in(self, keyword: str, text: str) -> bool:
        return keyword in text and (not self._whole_words or has_word(text, keyword))


def fold(text: str) -> str:
    """Fold case, Latin accents, character widths and kinds of space."""
    text = _SPACES.sub(" ", text)
    return text.lower() if text.isascii() else without_accents(normalized("NFKC", text)).casefold()


def has_word(text: str, keyword: str) -> bool:
    """Return whether a keyword occurs in a text between word boundaries."""
    at = text.find(keyword)
    while at >= 0:
        end = at + len(keyword)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not _joins(before, keyword[0]) and not (_joins(keyword[-1], after) and not _is_hangul(keyword[-1])):
            return True
        at = text.find(keyword, at + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    return _is_letter(left) and _is_letter(right) and not (_is_unspaced(left) or _is_unspaced(right))


def _is_letter(character: str) -> bool:
    return bool(character) and (character.isalnum() or character == "_" or bool(unicodedata.combining(character)))


def _is_unspaced(character: str) -> bool:
    return any(first <= character <= last for first, last in _UNSPACED)


def _is_hangul(character: str) -> bool:
    return _HANGUL[0] <= character <= _HANGUL[1]
