"""Methods, called by hand, take objects of their class alone: those of ours whose objects programs get, and some of the
library's.

Such a method hands what is kept from programs to the attributes of what it is called on, makes something of its class,
or writes to it.
"""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from sandbox.guest.language.variables import ENUM_NAMES, is_dunder
from sandbox.guest.runtime.own import hash_by_number, repr_by_number

if TYPE_CHECKING:
    from collections.abc import Callable

_Kind = TypeVar("_Kind", bound=type)

#: The library reads these, raw, on what may be a class. Others between underscores are looked at where they are read.
OF_DESCRIPTORS = frozenset({"__get__", "__set__", "__delete__", "__set_name__"})

#: What `issubclass` says of plain classes: an abstract class would ask those that are registered.
_is_below = type.__subclasscheck__


def handed_out(kind: _Kind) -> _Kind:
    """Restrict the methods and properties of a class, and let its objects hash and show by number, not by address."""
    bind_methods(kind)
    for name, by_number in (("__hash__", hash_by_number), ("__repr__", repr_by_number)):
        if getattr(kind, name) is getattr(object, name):
            setattr(kind, name, by_number)
    return kind


def bind_methods(kind: type, needs: Callable[[FunctionType], bool] = lambda _: True) -> None:
    """Restrict those methods, class methods and properties of a class that need it."""

    def bound(found: Any) -> Any:
        return on_objects_of(kind, found) if type(found) is FunctionType and needs(found) else found

    for name, found in list(vars(kind).items()):
        if is_dunder(name) and name not in OF_DESCRIPTORS:
            continue
        if type(found) is property:
            parts: list[Any] = [found.fget, found.fset, found.fdel]
            new = [bound(part) for part in parts]
            if new != parts:
                setattr(kind, name, property(new[0], new[1], new[2], found.__doc__))
        elif type(found) is classmethod and type(found.__func__) is FunctionType:
            if not name.startswith("_") or name in ENUM_NAMES:  # others are not in reach
                setattr(kind, name, classmethod(on_classes_below(kind, found.__func__)))
        elif bound(found) is not found:
            setattr(kind, name, bound(found))


def on_objects_of(kind: type, method: Any) -> Any:
    """Return a method that takes objects of this class alone."""

    @wraps(method)
    def take(self: Any, /, *args: Any, **options: Any) -> Any:
        if not _is_below(kind, type(self)):
            message = f"a method of {kind.__name__!r} was called on a {type(self).__name__!r} object"
            raise TypeError(message)
        return method(self, *args, **options)

    del take.__wrapped__
    return take


def on_classes_below(kind: type, method: Any) -> Any:
    """Return a class method of this class and those below it. Who is compared with it is handed its function."""

    @wraps(method)
    def take(cls: Any, /, *args: Any, **options: Any) -> Any:
        if not issubclass(type(cls), type) or not _is_below(kind, cls):
            message = f"a class method of {kind.__name__!r} was called on {cls!r}"
            raise TypeError(message)
        return method(cls, *args, **options)

    del take.__wrapped__
    return take


def checked(kind: type, value: Any) -> Any:
    """Return an object of the class; what else a program hands over is not written to."""
    if not _is_below(kind, type(value)):
        message = f"{kind.__name__} expected, not {type(value).__name__}"
        raise TypeError(message)
    return value
