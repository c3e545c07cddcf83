"""Normal forms of Unicode, in time that grows with the length of the text alone."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

#: Marks in a row that a text of any language may need (UAX #15, Stream-Safe Text Format).
_MARKS = 30

#: What keeps marks apart: COMBINING GRAPHEME JOINER, a mark itself that no form moves or takes away.
_JOINER = "\u034f"

#: Shorter texts take no time whatever stands in them.
_SHORT = 1_000


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The text in that form; a row of more than thirty marks is divided, as streams are.

    To put marks in order takes Python time that grows with the square of how many there are: 4 MB of them take hours.
    """
    if len(text) > _SHORT and not text.isascii():
        marks = "".join(filter(_is_mark, set(text)))
        if marks:
            text = re.sub(f"([{re.escape(marks)}]{{{_MARKS}}})", rf"\1{_JOINER}", text)
    return unicodedata.normalize(form, text)


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))
