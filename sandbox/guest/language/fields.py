"""Replacement fields of texts: which attributes `str.format` would walk to."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # the parser that str.format itself uses
import ast
from functools import lru_cache

from sandbox.guest.language.attributes import Decision, decide


@lru_cache(maxsize=256)
def walks_plainly(text: str) -> bool:
    """Tell whether all attributes that the fields of a text name are plain, so that C may walk them."""
    try:
        for _, field, spec, _ in _string.formatter_parser(text):
            if field and ("." in field or "[" in field) and not _is_plain_field(field):
                return False
            if spec and "{" in spec and not walks_plainly(spec):
                return False
    except ValueError:
        return True  # str.format raises the same
    return True


def _is_plain_field(field: str) -> bool:
    _, rest = _string.formatter_field_name_split(field)
    return all(not is_attribute or decide(key) is Decision.PLAIN for is_attribute, key in rest)


def is_harmless_format(node: ast.Attribute) -> bool:
    """Tell whether this is the `format` of a text that stands here, and that walks to plain names alone."""
    text = node.value
    if node.attr not in ("format", "format_map") or not isinstance(text, ast.Constant):
        return False
    return isinstance(text.value, str) and walks_plainly(text.value)
