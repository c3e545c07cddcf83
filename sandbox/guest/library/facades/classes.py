"""Facades for classes and functions: `abc`, `dataclasses`, `enum`, `functools`, `inspect`, `operator`.

The library's functions would read any attribute by a name that the program gives, or run text.
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import operator
import typing
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import exact, getattr_, read_method
from sandbox.guest.language.attributes import Decision, decide, is_read_as_it_stands
from sandbox.guest.language.kinds import ABC_META, ENUM_META, Code, Function, Type, stand_in
from sandbox.guest.language.own import is_own, is_own_class, own_class, show_addresses
from sandbox.guest.library.facades.descriptions import INSPECT
from sandbox.guest.library.facades.formats import Formatter
from sandbox.guest.library.facades.type_hints import get_type_hints, read_hint
from sandbox.guest.library.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable


def update_wrapper(wrapper: Any, wrapped: Any, assigned: Any = None, updated: Any = None) -> Any:
    """Copy attributes of a function. Raise AttributeError for names that the program may not read."""
    names = functools.WRAPPER_ASSIGNMENTS if assigned is None else tuple(map(str, assigned))
    if any(decide(name) is not Decision.PLAIN for name in names):
        raise AttributeError("update_wrapper() copies plain attributes here")
    tables = functools.WRAPPER_UPDATES if is_own(wrapped) else ()
    return functools.update_wrapper(wrapper, wrapped, names, tables)


def wraps(wrapped: Any, assigned: Any = None, updated: Any = None) -> Callable[[Any], Any]:
    """Return a decorator that calls `update_wrapper`."""
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned)


def singledispatch(function: Any) -> Any:
    """Return the library's dispatcher. Annotations that are text are compiled by the language policy."""
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
    """`singledispatch` for methods."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.dispatcher = singledispatch(func)


def attrgetter(*names: str) -> Any:
    """Return a function that reads attributes as `getattr` does."""
    if all(type(name) is str and all(map(is_read_as_it_stands, name.split("."))) for name in names):
        return operator.attrgetter(*names)
    texts = [str.__str__(name) for name in names]

    def read(value: Any) -> Any:
        found = [functools.reduce(getattr_, text.split("."), value) for text in texts]
        return found[0] if len(found) == 1 else tuple(found)

    return read


def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Return a function that calls a method."""
    return lambda value: read_method(value, exact(name))(*args, **kwargs)


def dataclass(target: Any = None, /, **options: Any) -> Any:
    """Make a dataclass. Fields must have plain names: the library writes them into source text."""
    if target is None:
        return lambda later: dataclass(later, **options)
    if not is_own_class(target):
        message = f"dataclass() takes classes of the program, not {getattr(target, '__name__', type(target).__name__)}"
        raise TypeError(message)
    with suppress(AttributeError, NameError):  # from Python 3.14 on annotations may name what is defined later
        for name in target.__annotations__:
            _check_field(name)
    show_addresses(target)
    return own_class(dataclasses.dataclass(target, **options))


def make_dataclass(cls_name: str, fields: Any, **options: Any) -> Any:
    """Make a dataclass from a list of fields. Methods such as `__add__` need a class statement."""
    fields = list(fields)
    for field in (*fields, *(options.get("namespace") or {})):
        _check_field(field if isinstance(field, str) else field[0])
    made = dataclasses.make_dataclass(cls_name, fields, **options)
    made.__module__ = "__main__"
    return own_class(made)


def _check_field(name: Any) -> None:
    is_plain = type(name) is str and name.isidentifier() and not keyword.iskeyword(name)
    if not is_plain or name.startswith("__") or decide(name) is Decision.REFUSED:
        message = f"field names must be plain identifiers, not {name!r}"
        raise TypeError(message)


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
    "inspect": INSPECT,
    "operator": {"attrgetter": attrgetter, "methodcaller": methodcaller},
    "string": {"Formatter": Formatter},
    "types": {
        "CodeType": Code,
        **dict.fromkeys(("FunctionType", "LambdaType"), Function),
        "ModuleType": stand_in(Table, "ModuleType", "types"),
    },
    "typing": {"Type": Type, "TYPE_CHECKING": False, "get_type_hints": get_type_hints},
}
