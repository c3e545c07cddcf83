"""Surrogate pairs: characters that a client has sent as two halves."""

from __future__ import annotations

import re

_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    """Return a text with each pair of surrogates as the character that it stands for. Lone surrogates stay."""
    return _HALVES.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
