"""Facades for what makes or describes classes and functions: `abc`, `dataclasses`, `enum`, `functools`, `inspect` …

Each stands where the library would read any attribute by a name that the program gives, or run text.
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import operator
import string
import types
import typing
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import getattr_
from sandbox.guest.language.attributes import Decision, decide
from sandbox.guest.language.kinds import ABC_META, ENUM_META, Code, Function, Type, stand_in
from sandbox.guest.language.own import is_own, is_own_class, own_class, show_addresses
from sandbox.guest.library.builtin_names import seen_names
from sandbox.guest.library.facades.descriptions import signature
from sandbox.guest.library.facades.type_hints import get_type_hints, read_hint
from sandbox.guest.library.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# --- functools, operator ------------------------------------------------------------------------------------------


def update_wrapper(wrapper: Any, wrapped: Any, assigned: Any = None, updated: Any = None) -> Any:
    """Copy name, text and attributes, by names that the program may read."""
    names = functools.WRAPPER_ASSIGNMENTS if assigned is None else tuple(map(str, assigned))
    if any(decide(name) is not Decision.PLAIN for name in names):
        raise AttributeError("update_wrapper() copies plain attributes here")
    tables = functools.WRAPPER_UPDATES if is_own(wrapped) else ()
    return functools.update_wrapper(wrapper, wrapped, names, tables)


def wraps(wrapped: Any, assigned: Any = None, updated: Any = None) -> Callable[[Any], Any]:
    """Return a decorator that does it."""
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned)


def singledispatch(function: Any) -> Any:
    """Do what the library does; an annotation that is text is read as the program could write it."""
    dispatch: Any = functools.singledispatch(function)
    register = dispatch.register

    def register_own(cls: Any, func: Any = None) -> Any:
        if func is not None or isinstance(cls, type) or typing.get_origin(cls) is not None or not callable(cls):
            return register(cls, func)
        hints = [hint for name, hint in getattr(cls, "__annotations__", {}).items() if name != "return"]
        kind = read_hint(hints[0]) if hints and isinstance(hints[0], str) else hints[0] if hints else None
        return register(type(None) if kind is None and hints else kind, cls)

    dispatch.register = register_own
    return dispatch


class singledispatchmethod(functools.singledispatchmethod):  # type: ignore[type-arg]  # noqa: N801  # the library's name
    """The same for methods."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.dispatcher = singledispatch(func)


def attrgetter(*names: str) -> Any:
    """Read attributes as `getattr` does."""
    if all(type(name) is str and all(decide(part) is Decision.PLAIN for part in name.split(".")) for name in names):
        return operator.attrgetter(*names)
    texts = [str.__str__(name) for name in names]

    def read(value: Any) -> Any:
        found = [functools.reduce(getattr_, text.split("."), value) for text in texts]
        return found[0] if len(found) == 1 else tuple(found)

    return read


def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a method that `getattr` reads."""
    return lambda value: getattr_(value, name)(*args, **kwargs)


# --- classes ------------------------------------------------------------------------------------------------------


def dataclass(target: Any = None, /, **options: Any) -> Any:
    """Make a dataclass of a class of the program whose fields are plain names: the library writes them into source."""
    if target is None:
        return lambda later: dataclass(later, **options)
    if not is_own_class(target):
        message = f"dataclass() takes classes of the program, not {getattr(target, '__name__', type(target).__name__)}"
        raise TypeError(message)
    for name in getattr(target, "__annotations__", {}) if _has_annotations(target) else ():
        _check_field(name)
    show_addresses(target)
    return own_class(dataclasses.dataclass(target, **options))


def _has_annotations(kind: type) -> bool:
    """Tell whether a class has annotations that can be read now; from Python 3.14 on they may name what comes later."""
    try:
        return bool(kind.__annotations__)
    except (AttributeError, NameError):
        return False


def make_dataclass(cls_name: str, fields: Any, **options: Any) -> Any:
    """Make one from a list of fields."""
    for name in options.get("namespace") or {}:
        _check_field(name)  # methods between two underscores are written in a class statement
    made = dataclasses.make_dataclass(cls_name, [_field(each) for each in fields], **options)
    made.__module__ = "__main__"
    return own_class(made)


def _field(field: Any) -> Any:
    name = field if isinstance(field, str) else field[0]
    _check_field(name)
    return field


def _check_field(name: Any) -> None:
    is_plain = type(name) is str and name.isidentifier() and not keyword.iskeyword(name)
    if not is_plain or name.startswith("__") or decide(name) is Decision.REFUSED:
        message = f"field names must be plain identifiers, not {name!r}"
        raise TypeError(message)


class Formatter:
    """`string.Formatter` whose fields are read as `getattr` reads: a copy, since a base class would be in reach."""

    _library: Any = string.Formatter
    format, vformat, _vformat, get_value = _library.format, _library.vformat, _library._vformat, _library.get_value
    parse, convert_field = _library.parse, _library.convert_field
    format_field, check_unused_args = _library.format_field, _library.check_unused_args
    del _library

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a field, and the name or number it begins with."""
        import _string  # type: ignore[import-not-found]  # noqa: PLC0415  # the parser that str.format itself uses

        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = getattr_(value, key) if is_attribute else value[key]
        return value, first


Formatter.__module__, Formatter.__qualname__ = "string", "Formatter"


def format_of(text: str | None, name: str) -> Any:
    """Return `format` or `format_map` of a text, or of any text, whose fields are read as `getattr` reads."""

    def formatted(text: str, /, *args: Any, **kwargs: Any) -> Any:
        if name == "format_map":
            return Formatter().vformat(str.__str__(text), (), *args)
        return Formatter().vformat(str.__str__(text), args, kwargs)

    return formatted if text is None else functools.partial(formatted, text)


# --- inspect ------------------------------------------------------------------------------------------------------


def getmembers(value: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    """Return names and values of what the program may read."""
    found = []
    for name in seen_names(value):
        item = getattr_(value, name, _MISSING)
        is_ours = isinstance(item, (types.FunctionType, types.MethodType)) and not is_own(item)
        if item is not _MISSING and not is_ours and (predicate is None or predicate(item)):
            found.append((name, item))
    return found


_MISSING: Any = object()


def getsource(value: Any) -> str:
    """Refuse as where the file is gone."""
    raise OSError("could not get source code")


def get_annotations(value: Any, **_: Any) -> dict[str, Any]:
    """Return the annotations as they stand."""
    return dict(getattr_(value, "__annotations__", {}))


FACADES: dict[str, dict[str, Any]] = {
    "abc": {"ABCMeta": ABC_META},
    "dataclasses": {"dataclass": dataclass, "make_dataclass": make_dataclass},
    "enum": {"EnumMeta": ENUM_META, "EnumType": ENUM_META},
    "functools": {
        "singledispatch": singledispatch,
        "singledispatchmethod": singledispatchmethod,
        "update_wrapper": update_wrapper,
        "wraps": wraps,
    },
    "inspect": {
        "get_annotations": get_annotations,
        "getmembers": getmembers,
        "getsource": getsource,
        "ismodule": lambda value: isinstance(value, Table),
        "signature": signature,
    },
    "operator": {"attrgetter": attrgetter, "methodcaller": methodcaller},
    "string": {"Formatter": Formatter},
    "types": {
        "CodeType": Code,
        **dict.fromkeys(("FunctionType", "LambdaType"), Function),
        "ModuleType": stand_in(Table, "ModuleType", "types"),
    },
    "typing": {"Type": Type, "TYPE_CHECKING": False, "get_type_hints": get_type_hints},
}
