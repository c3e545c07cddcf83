"""WordPiece: text as the numbers that a BERT model reads, by the model's own `vocab.txt`.

As in the original (github.com/google-research/bert, tokenization.py): lower case, accents and control characters gone,
punctuation and characters of scripts without spaces stand alone, words split into the longest known pieces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LONGEST_WORD = 100  # characters; a longer one is unknown as a whole
_LEFT_OUT = ("Mn", "Cf", "Cc")  # categories of Unicode: accents, formats, controls
_REMEMBERED = 100_000  # words whose pieces are kept
#: A Chinese or Japanese character, a sign of punctuation (`_` and all of ASCII's symbols too), or a run of others.
_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]|[^\w\s]|_|"
                   r"[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+")  # fmt: skip


class WordPiece:
    """Splits text into numbered pieces. `pieces` are the vocabulary, each at the place of its number."""

    def __init__(self, pieces: Sequence[str]) -> None:
        numbers = {piece: number for number, piece in enumerate(pieces)}
        self._around = numbers["[CLS]"], numbers["[SEP]"]
        self._pieces = lru_cache(maxsize=_REMEMBERED)(partial(_split, numbers, numbers["[UNK]"]))

    def read(self, text: str, most: int) -> list[int]:
        """At most `most` numbers, the marks of beginning and end included."""
        first, last = self._around
        numbers = [first]
        for word in _words(text):
            numbers += self._pieces(word)
            if len(numbers) >= most:
                break
        return [*numbers[: most - 1], last]


def _split(numbers: Mapping[str, int], unknown: int, word: str) -> tuple[int, ...]:
    found: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in numbers), start)
        if end == start:
            return (unknown,)
        found.append(numbers[mark + word[start:end]])
        start = end
    return tuple(found) or (unknown,)


def _words(text: str) -> Iterator[str]:
    if not text.isascii():
        letters = normalized("NFD", text.lower())
        text = "".join(each for each in letters if each.isspace() or unicodedata.category(each) not in _LEFT_OUT)
    yield from _WORD.findall(text.lower())
