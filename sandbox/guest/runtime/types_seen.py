# ruff: noqa: N805 - in a metaclass, `self` is a class
"""`type`: what a program sees of classes of classes, which is this one stand-in and nothing else.

`type(x)` answers with the class of x. The class of a class is always `type` here, so that no metaclass is in reach.
"""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.metaclasses import is_program_type, make_class
from sandbox.guest.runtime.shown_as import SHOWN_AS

if TYPE_CHECKING:
    from collections.abc import Callable, Container

_type = type
#: Shown as they are: these, and other classes of C's for which that was found out.
_PLAIN = {int, float, str, bool, bytes, list, tuple, dict, set, type(None)}
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made while a program runs, or by Python code


class _ClassOfClasses(_type):
    """Makes the stand-in answer `isinstance(x, type)`, `type[int]` and `type(x)` as the real one does."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or is_program_type(kind)

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 1 and not keywords:
            return kind_of(arguments[0])
        if len(arguments) != 3:
            raise TypeError("type() takes 1 or 3 arguments")
        return make_class(*arguments, keywords)

    def __getitem__(cls, item: Any) -> Any:
        return GenericAlias(cls, item)  # of this one: `get_origin` shows what it is made of

    def __repr__(cls) -> str:
        return "<class 'type'>"


class SeenType(metaclass=_ClassOfClasses):
    """Stands for `type`."""


SeenType.__name__ = SeenType.__qualname__ = "type"
SeenType.__module__ = "builtins"


def kind_of(value: object) -> Any:
    """Return the class of a value, as programs see it."""
    kind = _type(value)
    if kind in _PLAIN:
        return kind
    if issubclass(kind, _type):
        return kind if is_program_type(kind) else SeenType
    shown = SHOWN_AS.get(kind, kind)
    if shown is kind and not kind.__flags__ & _HEAP_TYPE:
        _PLAIN.add(kind)
    return shown


def kind_reader(own: Container[type]) -> Callable[[object], Any]:
    """Return `kind_of`, sooner for objects of these classes, which are the program's and shown as they are."""

    def kind(value: object) -> Any:
        found = _type(value)
        return found if found in own or found in _PLAIN else kind_of(value)

    return kind
