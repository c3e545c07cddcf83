"""The program's own classes, functions and objects: what it may write to, and whose `_private` attributes it reads.

A class statement puts a mark into the namespace of the class, under a name that no program can spell. The mark is told
when the class is made, before any hook of a base class runs. One program lives in a process, so what is known of it
stands here.
"""

from __future__ import annotations

import typing
from types import FunctionType, MethodType
from typing import Any

from sandbox.guest.process.identities import IDENTITIES

#: `typing` leaves names that begin with `_abc_` out of the attributes of a Protocol.
MARK_NAME = "_abc_.own"

#: The classes that the program has defined: compiled code looks into this set.
OWN: set[type] = set()
#: The dict of the program's variables.
_VARIABLES: list[dict[str, Any]] = [{}]


def begin(variables: dict[str, Any]) -> None:
    """Take the variables of the program: its functions have them as their globals."""
    OWN.clear()
    _VARIABLES[:] = [variables]


def variables() -> dict[str, Any]:
    """Return the variables of the program."""
    return _VARIABLES[0]


class Mark:
    """Stands in the namespace of the program's own classes. A descriptor, so that Enum takes it for no member."""

    __slots__ = ()

    def __set_name__(self, owner: type, name: str) -> None:
        own_class(owner)

    def __get__(self, instance: object, owner: type | None = None) -> Mark:
        return self


MARK = Mark()


def own_class(kind: Any) -> Any:
    """Note a class as the program's own; returns it."""
    OWN.add(kind)
    show_numbers(kind)
    return kind


def is_own_class(value: object) -> bool:
    """Tell whether a value is a class that the program has defined."""
    return isinstance(value, type) and value in OWN


def is_own_function(value: object) -> bool:
    """Tell whether a value is a function that the program has defined, or a method of one."""
    function = value.__func__ if type(value) is MethodType else value
    return type(function) is FunctionType and function.__globals__ is _VARIABLES[0]


def is_own(value: object) -> bool:
    """Tell whether a value is the program's: an object of one of its classes, a class or a function."""
    return type(value) in OWN or is_own_class(value) or is_own_function(value)


# --- numbers in the place of addresses, which differ from run to run ------------------------------------------------

_NUMBERS = IDENTITIES.known


def hash_by_number(self: object) -> int:
    """Do what `object.__hash__` does, with a number in the place of the address."""
    found = _NUMBERS.get(id(self))
    return (IDENTITIES.number(self) if found is None else found[0]) * 16


#: The classes of the program into which a hash was put.
_HASHED: set[type] = set()


def show_numbers(kind: Any) -> None:
    """Let objects of a class hash by number, where they would by address: sets of them then have one order in all runs.

    Not of a protocol, which is compared with other classes name by name. A class that inherits this, and behind it a
    hash of the library (`class D(Mixin, dict)`), gets that of the library.
    """
    if typing.Protocol in kind.__bases__ or kind.__hash__ not in (hash_by_number, object.__hash__):
        return
    found = (vars(base)["__hash__"] for base in kind.__mro__ if "__hash__" in vars(base))
    real = next(method for method in found if method is not hash_by_number)
    made = hash_by_number if real is vars(object)["__hash__"] else real
    if made is not kind.__hash__:
        _HASHED.add(kind)
        type.__setattr__(kind, "__hash__", made)


def ours(kind: type) -> set[str]:
    """Return the names of what the sandbox has put into a class."""
    return {MARK_NAME, "__hash__"} if kind in _HASHED else {MARK_NAME}


def show_addresses(kind: Any) -> None:
    """Take the hash back, for a decorator that looks at what the class defines itself."""
    if kind in _HASHED:
        _HASHED.discard(kind)
        del kind.__hash__
