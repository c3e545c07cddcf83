"""The program's own classes: how they are told from all others, and what stands between them and `object`.

A class statement leaves a mark in the class (under a name that no program can spell), so a class is known as the
program's own as soon as it was looked at, before any hook of a base class runs.
"""

from __future__ import annotations

import sys
from _abc import _abc_init  # type: ignore[import-not-found]  # what ABCMeta does with a class that is made
from abc import ABCMeta
from enum import EnumMeta
from types import FunctionType, MemberDescriptorType, MethodType, SimpleNamespace
from typing import Any

from sandbox.guest.language.attributes import DEFINABLE
from sandbox.guest.language.variables import is_dunder
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.identities import IDENTITIES
from sandbox.guest.runtime.moments import is_below_datetime, let_make_its_own

MARK_NAME = "_abc_.own"


_KNOWN_METACLASSES = (type, ABCMeta, EnumMeta)


class Mark:
    """Stands in the namespace of the program's own classes. A descriptor, so that Enum takes it for no member.

    It is told when such a class is made, and notes it among those that are known. A metaclass of the program is handed
    the mark with the rest of a namespace: it leads nowhere, and notes marked classes alone.
    """

    __slots__ = ()

    def __set_name__(self, owner: type, name: str) -> None:
        names = names_of(owner)
        if names.get(MARK_NAME) is not self:
            return
        if "__slots__" in names:
            _check_slots(names)
        if is_below_datetime(owner):
            let_make_its_own(owner)
        if issubclass(type(owner), ABCMeta):
            _remember_by_itself(owner)
        type.__setattr__(owner, MARK_NAME, MARK)
        if type(owner) in _KNOWN_METACLASSES:  # others may lie when the set asks for a class
            _CLASSES[-1].add(owner)

    def __get__(self, instance: object, owner: type | None = None) -> Mark:
        return self


def _remember_by_itself(owner: type) -> None:
    """Give an abstract class a memory at once: what is caught before it has one uses that of the library's above it."""
    made: Any = SimpleNamespace(__bases__=())
    _abc_init(made)
    type.__setattr__(owner, "_abc_impl", made._abc_impl)


#: Between underscores, these may be slots: what a class may define, and what decorators leave on an object.
_SLOTS = DEFINABLE | {"__wrapped__", "__name__", "__orig_class__"}


def _check_slots(names: Any) -> None:
    """Refuse what a class could not define: an object may say in a slot of what class it is, and be believed."""
    for name, item in names.items():
        if type(item) is MemberDescriptorType and is_dunder(name) and name not in _SLOTS:
            message = f"a class cannot have a slot {name} here"
            raise TypeError(message)


MARK = Mark()
#: In the namespace of a class that is not made yet: code that the collector runs is not to take it for a program's.
UNMADE = Mark()


def is_marked(value: object) -> bool:
    """Tell whether a value is a class that the program defined."""
    return isinstance(value, type) and names_of(value).get(MARK_NAME) is MARK


def mark_namespace() -> None:
    """Put the mark into the namespace of the class whose body ends with this: first, so that it is told first."""
    names: Any = sys._getframe(1).f_locals
    rest = dict(names)
    dict.clear(names)
    dict.update(names, {MARK_NAME: UNMADE, **rest})


#: The classes that the program of this process defined: one runs at a time.
_CLASSES: list[set[type]] = [set()]
_NUMBERS = IDENTITIES.known


def hash_by_number(self: object) -> int:
    """Do what `object.__hash__` does, with a number in the place of the address."""
    found = _NUMBERS.get(id(self))
    return (IDENTITIES.number(self) if found is None else found[0]) * 16


def repr_by_number(self: object) -> str:
    """Do what `object.__repr__` does."""
    kind = type(self)
    return f"<{kind.__module__}.{kind.__qualname__} object at 0x{IDENTITIES.shown(self):x}>"


class Object:
    """Stands between the program's own classes and `object`: what would show an address shows a number.

    Where a class of the library comes after a class of the program, it stands before that and asks it first.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        kind = type(self)
        if kind.__mro__[-2] is not Object and (hashes := _after(kind, "__hash__")) is not object.__hash__:
            if hashes is None:
                message = f"unhashable type: {kind.__name__!r}"
                raise TypeError(message)
            return hashes(self)  # type: ignore[no-any-return]
        return hash_by_number(self)

    def __repr__(self) -> str:
        kind = type(self)
        if kind.__mro__[-2] is not Object and (shows := _after(kind, "__repr__")) is not object.__repr__:
            return shows(self)  # type: ignore[no-any-return]
        return repr_by_number(self)


def _after(kind: type, name: str) -> Any:
    """Return what a class would inherit under a name without `Object`."""
    order = iter(order_of(kind))
    while next(order) is not Object:
        pass
    return next(vars(base)[name] for base in order if name in vars(base))


def forget_classes() -> None:
    """Let go of the classes of an execution that has ended."""
    _CLASSES[:] = [set()]


def disown(kind: type) -> None:
    """Let a class be no program's: the library keeps some for good, and the next program is not to find them."""
    if is_marked(kind):
        type.__setattr__(kind, MARK_NAME, None)


def of_class(kind: type, made: Any) -> Any:
    """Return what was made if it is of this very class: a `__new__` may give anything. Raises TypeError."""
    if type(made) is not kind:
        message = f"__new__() of {kind.__name__} made a {type(made).__name__}"
        raise TypeError(message)
    return made


def is_of_sandbox(kind: type) -> bool:
    """Tell whether a class is one of ours, though it may stand under the name of a module that programs know.

    A program may write our module's name on its functions: its classes are none of ours.
    """
    return not is_marked(kind) and any(
        isinstance(item, FunctionType) and str(item.__module__).startswith("sandbox.")
        for item in names_of(kind).values()
    )


class OwnClasses:
    """Knows the classes that one program defined. `known` is what compiled code looks into."""

    def __init__(self, program_globals: dict[str, Any]) -> None:
        self.known: set[type] = set()
        _CLASSES[:] = [self.known]
        self._globals = program_globals

    is_class = staticmethod(is_marked)

    def is_instance(self, value: object) -> bool:
        """Tell whether the value, which is no class, is of a class that the program defined."""
        kind = type(value)
        return self.is_class(kind) and not issubclass(kind, type)

    def is_function(self, value: object) -> bool:
        """Tell whether the value is a function, or a method of one, that the program defined."""
        function = value.__func__ if type(value) is MethodType else value
        return type(function) is FunctionType and function.__globals__ is self._globals

    def __contains__(self, value: object) -> bool:
        return self.is_instance(value) or self.is_class(value) or self.is_function(value)
