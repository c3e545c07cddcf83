"""Classify the verb in a name: `list`, `fetch` and `show` read, `add` and `new` create."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz, process

#: The verbs of each kind.
_KINDS = {
    "read": "get list fetch show find search read view query retrieve lookup look load describe count all details",
    "create": "create add new insert make register open book post",
    "change": "update edit set modify patch change put rename replace",
    "remove": "delete remove destroy drop purge erase wipe clear",
}
_KIND_OF = {verb: kind for kind, verbs in _KINDS.items() for verb in verbs.split()}
_VERBS = tuple(verb for verb in _KIND_OF if len(verb) > 4)  # shorter verbs resemble too many words
#: The lowest similarity (0 to 100) of a misspelt verb.
_TYPO = 85


@lru_cache(4096)
def kind_of(name: str) -> str:
    """Return `read`, `create`, `change` or `remove` for the last part of a name; empty if it has no known verb.

    A misspelt verb counts as the verb.
    """
    words = [word for word in re.split(r"[^a-z]+", name.rpartition(".")[2].lower()) if word]
    known = next((_KIND_OF[word] for word in words if word in _KIND_OF), "")
    if known or not words:
        return known
    typo = process.extractOne(words[0], _VERBS, scorer=fuzz.ratio, score_cutoff=_TYPO)
    return _KIND_OF[typo[0]] if typo else ""
