"""Literal values in a query, recognized by shape: `notes.txt` names a file, not notes."""

from __future__ import annotations

import re
from typing import NamedTuple

_EXTENSIONS = (
    "txt|md|log|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|parquet|sql|py|ipynb|js|ts|sh|png|jpe?g|gif|svg|mp3"
    "|wav|mp4|mov|zip|tar|gz"
)
_DOMAINS = "com|org|net|io|edu|gov|info|co|de|uk|fr"
#: Each group is named by the word that tools use for such a value.
_SHAPE = re.compile(
    rf"""(?:(?P<url> https?://\S+ | www\.\S+ | (?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})\b(?:/\S*)? )
    | (?P<email> [\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,8}} )
    | (?P<file> (?:[\w.~-]{{0,255}}/){{0,16}}[\w-]{{1,255}}(?:\.[\w-]{{1,63}}){{0,8}}?\.(?:{_EXTENSIONS})\b )
    | (?P<ip> \d{{1,3}}(?:\.\d{{1,3}}){{3}} )
    )(?=\W*\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKS = re.compile(r"\.\w|@|://")  # every value contains one, few queries do
_RUN = re.compile(r"\S+")
_OPENING = "\"'`([{<\u201c\u2018"


class Value(NamedTuple):
    """A literal value: its kind, and its first character and end in the query."""

    kind: str
    start: int
    end: int


def values(query: str) -> list[Value]:
    """Return the literal values in a query."""
    matches = []
    for run in _RUN.finditer(query) if _MARKS.search(query) else ():
        text = run.group()
        if _MARKS.search(text):
            start = run.end() - len(text.lstrip(_OPENING))
            shape = _SHAPE.match(query, start, run.end())
            if shape and shape.lastgroup:
                matches.append(Value(shape.lastgroup, start, shape.end()))
    return matches
