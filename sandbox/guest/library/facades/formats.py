"""Text formats whose fields are read as `getattr` reads: `string.Formatter`, `str.format` and `str.format_map`."""

from __future__ import annotations

import functools
import string
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import getattr_

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Formatter:
    """`string.Formatter`. It copies the library's methods, since programs could reach a base class."""

    _library: Any = string.Formatter
    format, vformat, _vformat, get_value = _library.format, _library.vformat, _library._vformat, _library.get_value
    parse, convert_field = _library.parse, _library.convert_field
    format_field, check_unused_args = _library.format_field, _library.check_unused_args
    del _library

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a field, and the name or number that it begins with."""
        import _string  # type: ignore[import-not-found]  # noqa: PLC0415  # the parser that str.format itself uses

        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = getattr_(value, key) if is_attribute else value[key]
        return value, first


Formatter.__module__, Formatter.__qualname__ = "string", "Formatter"


def format_of(text: str | None, name: str) -> Any:
    """Return `format` or `format_map`, of one text or as a function of any text."""

    def formatted(text: str, /, *args: Any, **kwargs: Any) -> Any:
        if name == "format_map":
            return Formatter().vformat(str.__str__(text), (), *args)
        return Formatter().vformat(str.__str__(text), args, kwargs)

    return formatted if text is None else functools.partial(formatted, text)
