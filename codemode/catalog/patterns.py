"""Patterns of documents (ECMA 262) as Python's, where that is safe."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

#: Longer values are not matched: a pattern of a document must never cost the host more than a moment.
LONGEST_VALUE = 4096

#: A repeated group that repeats something inside may take exponential time on a hostile value.
_NESTED_REPEAT = re.compile(r"[+*}]\??[^()]*\)[+*{]|\)[+*?]?\)[+*{]|\|[^()]*\)[+*{]")

_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    """The compiled pattern, or None where Python cannot compile it or matching could take very long."""
    if _NESTED_REPEAT.search(pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(_NAMED_GROUP.sub("(?P<", pattern))
    except (re.error, OverflowError, RecursionError):
        return None


def matches(pattern: str, value: str) -> bool:
    """Whether the value matches, or it cannot be told."""
    compiled = compile_pattern(pattern)
    return compiled is None or len(value) > LONGEST_VALUE or compiled.search(value) is not None
