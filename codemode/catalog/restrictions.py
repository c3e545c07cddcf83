"""Show the restrictions of an argument in the place of its type: `"YYYY-MM-DD"`, `"+4930…"`, `int <= 200`.

The results are valid Python annotations. A string is shown by its format, else by an example that matches its pattern,
else by the pattern.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.catalog.validation import fits

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

#: How strings of a format are written (JSON Schema Validation, section 7.3; OpenAPI Format Registry).
FORMATS = {
    "date": '"YYYY-MM-DD"',
    "date-time": '"YYYY-MM-DDThh:mm:ssZ"',
    "time": '"hh:mm:ssZ"',
    "duration": '"P1D"',
    "byte": '"base64"',
}

_LONGEST_EXAMPLE = 24  # characters
_LONGEST_PATTERN = 32  # characters
_UNQUOTABLE = frozenset('"')
_LEAST_MACHINE_BOUND = 2**31 - 1


def restricted(text: str, schema: Schema) -> str:
    """Return the type `text` (`str`, `int`, `float`, …) with the restrictions of its schema."""
    if text == "str":
        return FORMATS.get(str(schema.first("format"))) or _pattern(schema) or text
    if text in ("int", "float"):
        return _bounded(text, schema)
    return text


def example_of(schema: Schema) -> Any:
    """Return an example that the schema declares and accepts, or None."""
    several = schema.first("examples")
    example = several[0] if isinstance(several, list) and several else schema.first("example")
    return example if example is not None and fits(schema, example) else None


def _pattern(schema: Schema) -> str:
    pattern = schema.first("pattern")
    if not isinstance(pattern, str):
        return ""
    example = example_of(schema)
    if isinstance(example, str) and 0 < len(example) <= _LONGEST_EXAMPLE:
        return json.dumps(example, ensure_ascii=not example.isprintable())
    is_shown = len(pattern) <= _LONGEST_PATTERN and pattern.isprintable() and not _UNQUOTABLE & set(pattern)
    return f'r"{pattern}"' if is_shown and not pattern.endswith("\\") else ""


def _bounded(text: str, schema: Schema) -> str:
    """Add the bounds. Integers from 0 or 1 on are ids, counts and positions, whose bound needs no mention."""
    least, most = schema.first("minimum"), schema.first("maximum")
    above = schema.first("exclusiveMinimum")
    if _is_bound(above):
        text = f"{text} > {above}"
    elif _is_bound(least) and not (text == "int" and least in (0, 1)):
        text = f"{text} >= {least}" if not _is_bound(most) else f"{least} <= {text}"
    return f"{text} <= {most}" if _is_bound(most) else text


def _is_bound(value: Any) -> bool:
    """Whether a value is a bound that restricts more than the size of a machine integer."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LEAST_MACHINE_BOUND
