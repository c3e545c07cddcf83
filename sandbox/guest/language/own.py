"""The program's own classes, functions and objects: it may write to them, and read their `_private` attributes.

A class statement puts a mark into the namespace of the class, under a name that no program can spell. The mark is told
when the class is made, before any hook of a base class runs. One program lives in a process, so what is known of it
stands here.
"""

from __future__ import annotations

import typing
from types import FunctionType, MethodType
from typing import Any

from sandbox.guest.base.identities import IDENTITIES

#: The name of the mark. `typing` ignores names with this prefix in a Protocol.
MARK_NAME = "_abc_.own"

#: The classes that the program has defined. Compiled code reads this set.
OWN: set[type] = set()
#: The dict of the program's variables.
_VARIABLES: list[dict[str, Any]] = [{}]


def begin(variables: dict[str, Any]) -> None:
    """Take the variables of the program, which are the globals of its functions."""
    OWN.clear()
    _VARIABLES[:] = [variables]


def variables() -> dict[str, Any]:
    """Return the variables of the program."""
    return _VARIABLES[0]


class Mark:
    """The mark in the namespace of the program's own classes: a descriptor, so that Enum makes no member of it."""

    __slots__ = ()

    def __set_name__(self, owner: type, name: str) -> None:
        own_class(owner)

    def __get__(self, instance: object, owner: type | None = None) -> Mark:
        return self


MARK = Mark()


def own_class(kind: Any) -> Any:
    """Note a class as the program's own, and return it."""
    OWN.add(kind)
    show_numbers(kind)
    return kind


def is_own_class(value: object) -> bool:
    """Return whether a value is a class of the program."""
    return isinstance(value, type) and value in OWN


def is_own_function(value: object) -> bool:
    """Return whether a value is a function or a method of the program."""
    function = value.__func__ if type(value) is MethodType else value
    return type(function) is FunctionType and function.__globals__ is _VARIABLES[0]


def is_own(value: object) -> bool:
    """Return whether a value is an object of a class of the program, or such a class or function."""
    return type(value) in OWN or is_own_class(value) or is_own_function(value)


# --- numbers in the place of addresses, which differ from run to run ------------------------------------------------

_NUMBERS = IDENTITIES.known


def hash_by_number(self: object) -> int:
    """Return a hash like `object.__hash__`, from a number instead of the address."""
    found = _NUMBERS.get(id(self))
    return (IDENTITIES.number(self) if found is None else found[0]) * 16


#: The classes of the program that got a hash of ours.
_HASHED: set[type] = set()


def show_numbers(kind: Any) -> None:
    """Let objects hash by number if they would hash by address: sets then have the same order in each run.

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
    """Return the names that the sandbox has added to a class."""
    return {MARK_NAME, "__hash__"} if kind in _HASHED else {MARK_NAME}


def show_addresses(kind: Any) -> None:
    """Remove the hash, for a decorator that reads what the class defines itself."""
    if kind in _HASHED:
        _HASHED.discard(kind)
        del kind.__hash__
