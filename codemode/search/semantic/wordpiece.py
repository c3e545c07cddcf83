"""WordPiece: tokenize text for a BERT model, with the `vocab.txt` of the model.

As in the reference implementation (github.com/google-research/bert, tokenization.py), text is lowercased, and accents
and control characters are removed. Punctuation and CJK characters are single tokens. Other words are split into the
longest pieces of the vocabulary.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LONGEST_WORD = 100  # characters; longer words become the unknown token
_LEFT_OUT = ("Mn", "Cf", "Cc")  # Unicode categories: combining marks, format and control characters
_CACHED = 100_000  # words
#: A CJK character, a punctuation mark (including `_` and all ASCII symbols), or a run of other characters.
_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]|[^\w\s]|_|"
                   r"[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+")  # fmt: skip


class WordPiece:
    """Splits text into token numbers. The number of a token is its position in `pieces`."""

    def __init__(self, pieces: Sequence[str]) -> None:
        numbers = {piece: number for number, piece in enumerate(pieces)}
        self._around = numbers["[CLS]"], numbers["[SEP]"]
        self._pieces = lru_cache(maxsize=_CACHED)(partial(_split, numbers, numbers["[UNK]"]))

    def read(self, text: str, most: int) -> list[int]:
        """Return at most `most` token numbers, including the start and end tokens."""
        first, last = self._around
        numbers = [first]
        for word in _words(text):
            numbers += self._pieces(word)
            if len(numbers) >= most:
                break
        return [*numbers[: most - 1], last]


def _split(numbers: Mapping[str, int], unknown: int, word: str) -> tuple[int, ...]:
    pieces: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in numbers), start)
        if end == start:
            return (unknown,)
        pieces.append(numbers[mark + word[start:end]])
        start = end
    return tuple(pieces) or (unknown,)


def _words(text: str) -> Iterator[str]:
    if not text.isascii():
        letters = normalized("NFD", text.lower())
        text = "".join(each for each in letters if each.isspace() or unicodedata.category(each) not in _LEFT_OUT)
    yield from _WORD.findall(text.lower())
