"""Patterns of documents (ECMA 262), matched in time that grows with the length of the value alone.

The engine is pydantic's, the crate `regex`, which never goes back: neither a document nor a value can hold the host up.
Look-around and references to groups it has not; what it cannot compile is not asserted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic_core import SchemaError, SchemaValidator, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable

#: Longer patterns are none that somebody wrote.
_LONGEST = 10_000

#: An escaped character, or a class of characters and what stands in it.
_CLASS = re.compile(r"\\.|\[(\^?\]?(?:\\.|[^\]\\])*)\]", re.DOTALL)
#: What means something else in a class there: classes within classes, and what is done with two of them.
_OF_CLASSES = re.compile(r"\\.|\[|&&|--|~~", re.DOTALL)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Callable[[str], bool] | None:
    """Whether a value matches, as a function; None where the pattern cannot be compiled."""
    if len(pattern) > _LONGEST:
        return None
    try:
        pattern.encode()  # half of a surrogate pair would become another character
        schema = core_schema.str_schema(pattern=_CLASS.sub(_plain_class, pattern), strict=True)
        return SchemaValidator(schema).isinstance_python
    except (SchemaError, UnicodeEncodeError):
        return None


def matches(pattern: str, value: str) -> bool:
    """Whether the value matches, or it cannot be told."""
    compiled = compile_pattern(pattern)
    return compiled is None or compiled(value)


def _plain_class(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return f"[{_OF_CLASSES.sub(_literal, found[1])}]"


def _literal(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("\\") else f"{text[:-1]}\\{text[-1]}"
