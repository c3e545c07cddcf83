"""Classes of ours whose objects programs get: their methods, called by hand, take objects of the class alone.

Such a method hands what the sandbox keeps to itself to the attributes of what it is called on.
"""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from sandbox.guest.language.variables import is_dunder
from sandbox.guest.runtime.own import hash_by_number, repr_by_number

_Kind = TypeVar("_Kind", bound=type)


def handed_out(kind: _Kind) -> _Kind:
    """Restrict the methods and properties of a class, and let its objects hash and show by number, not by address."""
    for name, found in list(vars(kind).items()):
        if is_dunder(name):
            continue  # these are looked at where they are read
        if type(found) is FunctionType:
            setattr(kind, name, _restricted(kind, found))
        elif type(found) is property and found.fget is not None:
            write = None if found.fset is None else _restricted(kind, found.fset)
            setattr(kind, name, property(_restricted(kind, found.fget), write, doc=found.__doc__))
    for name, by_number in (("__hash__", hash_by_number), ("__repr__", repr_by_number)):
        if getattr(kind, name) is getattr(object, name):
            setattr(kind, name, by_number)
    return kind


def checked(kind: type, value: Any) -> Any:
    """Return an object of the class; what else a program hands over is not written to."""
    if not issubclass(type(value), kind):
        message = f"{kind.__name__} expected, not {type(value).__name__}"
        raise TypeError(message)
    return value


def _restricted(kind: type, method: Any) -> Any:
    @wraps(method)
    def take(self: Any, /, *args: Any, **options: Any) -> Any:
        return method(checked(kind, self), *args, **options)

    del take.__wrapped__
    return take
