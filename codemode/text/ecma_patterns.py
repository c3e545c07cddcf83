"""ECMA 262 patterns from documents, matched in linear time.

The engine is the Rust crate `regex`, through pydantic. It never backtracks, so no pattern or value can block the
host. It lacks look-around and back-references: a pattern that does not compile is not checked.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic_core import SchemaError, SchemaValidator, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable

#: Longer patterns are not written by people.
_LONGEST = 10_000

#: An escaped character, or a character class with its content and end. An open class reaches to the end of the text.
_CLASS = re.compile(r"\\.|\[(\^?\]?(?:\\.|[^\]\\])*+)(\]|\\?\Z)", re.DOTALL)
#: Syntax with another meaning inside a Rust class: nested classes and set operations.
_OF_CLASSES = re.compile(r"\\.|\[|&&|--|~~", re.DOTALL)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Callable[[str], bool] | None:
    """Return a function that matches a value, or None if the pattern does not compile."""
    if len(pattern) > _LONGEST:
        return None
    try:
        pattern.encode()  # a lone surrogate would be replaced
        schema = core_schema.str_schema(pattern=_CLASS.sub(_plain_class, pattern), strict=True)
        return SchemaValidator(schema).isinstance_python
    except (SchemaError, UnicodeEncodeError):
        return None


def matches(pattern: str, value: str) -> bool:
    """Return whether the value matches; True if the pattern does not compile."""
    compiled = compile_pattern(pattern)
    return compiled is None or compiled(value)


def _plain_class(found: re.Match[str]) -> str:
    if found[2] != "]":
        return found[0]
    return f"[{_OF_CLASSES.sub(_literal, found[1])}]"


def _literal(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("\\") else f"{text[:-1]}\\{text[-1]}"
