"""Values in a query, told by their shape: who writes `notes.txt` speaks of a file, not of notes."""

from __future__ import annotations

import re
from typing import NamedTuple

_EXTENSIONS = (
    "txt|md|log|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|parquet|sql|py|ipynb|js|ts|sh|png|jpe?g|gif|svg|mp3"
    "|wav|mp4|mov|zip|tar|gz"
)
_DOMAINS = "com|org|net|io|edu|gov|info|co|de|uk|fr"
#: What a value of this shape is, by the word that tools call it by.
_SHAPES = {
    "url": re.compile(
        rf"https?://\S+|\bwww\.\S+|(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})\b(?:/\S*)?", re.IGNORECASE
    ),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    "file": re.compile(
        rf"(?<![\w./~-])(?:[\w.~-]{{0,255}}/){{0,16}}[\w-]{{1,255}}(?:\.[\w-]{{1,63}}){{0,8}}?\.(?:{_EXTENSIONS})\b",
        re.IGNORECASE,
    ),
    "ip": re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"),
}
_MARKS = re.compile(r"\w\.\w|@|://")  # what is in all of them, and in few queries


class Value(NamedTuple):
    """A value: what kind of thing it is, and the characters of the query from which to which it stands."""

    kind: str
    start: int
    end: int


def values(query: str) -> list[Value]:
    """The values that are written out in a query; none is a part of another."""
    found: list[Value] = []
    if _MARKS.search(query):
        for kind, shape in _SHAPES.items():
            spans = [match.span() for match in shape.finditer(query)]
            found += [
                Value(kind, start, end)
                for start, end in spans
                if not any(start < other.end and other.start < end for other in found)
            ]
    return found
