"""`str.format` walks attributes and items in C. Here each attribute name of a field is decided first."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # the parser that str.format itself uses
import string
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.fields import walks_plainly
from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Formatting:
    """`format` and `format_map` for texts of the program."""

    def __init__(self, get_attribute: Callable[[object, str], Any]) -> None:
        self._walker = _GuardedFormatter(get_attribute)

    def format(self, text: str, /, *args: Any, **kwargs: Any) -> str:
        """Do what `text.format(*args, **kwargs)` does."""
        text = _exact(text)
        if walks_plainly(text):
            return text.format(*args, **kwargs)
        made: str = self._walker.vformat(text, args, kwargs)
        return made

    def format_map(self, text: str, mapping: Mapping[str, Any], /) -> str:
        """Do what `text.format_map(mapping)` does."""
        text = _exact(text)
        if walks_plainly(text):
            return text.format_map(mapping)
        made: str = self._walker.vformat(text, (), mapping)
        return made

    def bound(self, text: str, name: str) -> Callable[..., str]:
        """Return the method of this text."""
        return _Bound(self.format if name == "format" else self.format_map, text, name)


class _Bound:
    """A method of one text."""

    __slots__ = ("_function", "_name", "_text")

    def __init__(self, function: Callable[..., str], text: str, name: str) -> None:
        self._function = function
        self._text = text
        self._name = name

    def __call__(self, /, *args: Any, **kwargs: Any) -> str:
        return self._function(self._text, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<built-in method {self._name} of str object at {hex(id(self._text))}>"


def formatter_class(get_attribute: Callable[[object, str], Any]) -> type:
    """Make a `string.Formatter` whose fields are guarded; it has the methods that programs override."""

    class Formatter(_GuardedFormatter):
        def __init__(self) -> None:
            super().__init__(get_attribute)

    Formatter.__module__, Formatter.__qualname__ = "string", "Formatter"
    return Formatter


@handed_out
class _GuardedFormatter:
    """`string.Formatter` without being one: a base class is in reach, and walks attributes."""

    _library: Any = string.Formatter
    format, vformat, _vformat = _library.format, _library.vformat, _library._vformat
    parse, convert_field = _library.parse, _library.convert_field
    format_field, check_unused_args = _library.format_field, _library.check_unused_args
    del _library

    def __init__(self, get_attribute: Callable[[object, str], Any]) -> None:
        self.__dict__["_sandbox_get"] = get_attribute

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if isinstance(key, int) and key >= len(args):
            message = f"Replacement index {key} out of range for positional args tuple"
            raise IndexError(message)
        return args[key] if isinstance(key, int) else kwargs[key]

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = self.__dict__["_sandbox_get"](value, key) if is_attribute else value[key]
        return value, first


def _exact(text: str) -> str:
    """Return the characters of a text, whatever a subclass says that they are."""
    return text if type(text) is str else str.__str__(text)
