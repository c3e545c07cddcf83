"""Values in a query, told by their shape: who writes `notes.txt` speaks of a file, not of notes."""

from __future__ import annotations

import re
from typing import NamedTuple

_EXTENSIONS = (
    "txt|md|log|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|parquet|sql|py|ipynb|js|ts|sh|png|jpe?g|gif|svg|mp3"
    "|wav|mp4|mov|zip|tar|gz"
)
_DOMAINS = "com|org|net|io|edu|gov|info|co|de|uk|fr"
#: Each named by the word that tools call such a value by.
_SHAPE = re.compile(
    rf"""(?:(?P<url> https?://\S+ | www\.\S+ | (?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})\b(?:/\S*)? )
    | (?P<email> [\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,8}} )
    | (?P<file> (?:[\w.~-]{{0,255}}/){{0,16}}[\w-]{{1,255}}(?:\.[\w-]{{1,63}}){{0,8}}?\.(?:{_EXTENSIONS})\b )
    | (?P<ip> \d{{1,3}}(?:\.\d{{1,3}}){{3}} )
    )(?=\W*\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKS = re.compile(r"\.\w|@|://")  # one of them is in every value, and in few queries
_RUN = re.compile(r"\S+")
_OPENING = "\"'`([{<\u201c\u2018"


class Value(NamedTuple):
    """A value: what kind of thing it is, and the characters of the query from which to which it stands."""

    kind: str
    start: int
    end: int


def values(query: str) -> list[Value]:
    """The values that are written out in a query."""
    found = []
    for run in _RUN.finditer(query) if _MARKS.search(query) else ():
        text = run.group()
        if _MARKS.search(text):
            start = run.end() - len(text.lstrip(_OPENING))
            shape = _SHAPE.match(query, start, run.end())
            if shape and shape.lastgroup:
                found.append(Value(shape.lastgroup, start, shape.end()))
    return found
