"""Unicode normal forms in linear time, and surrogate pairs: characters that a client has sent as two halves."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

#: The longest run of combining marks that any language needs (UAX #15, Stream-Safe Text Format).
_MARKS = 30

#: COMBINING GRAPHEME JOINER separates runs of marks. No normal form moves or removes it.
_JOINER = "\u034f"

#: Shorter texts are fast with any content.
_SHORT = 1_000


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return the text in a normal form. Runs of more than thirty combining marks are divided by a joiner.

    Python sorts combining marks in quadratic time: 4 MB of them would take hours.
    """
    if len(text) > _SHORT and not text.isascii():
        marks = "".join(filter(_is_mark, set(text)))
        if marks:
            text = re.sub(f"([{re.escape(marks)}]{{{_MARKS}}})", rf"\1{_JOINER}", text)
    return unicodedata.normalize(form, text)


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))


_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    """Return a text with each pair of surrogates as the character that it stands for. Lone surrogates stay."""
    return _HALVES.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
