"""`copy` and `deepcopy` stop at what is not a program's: its copy would hand out what the original keeps to itself.

`deepcopy(getattr, memo)` copies the object behind the builtin, and leaves copies of all that it holds in `memo`.
"""

from __future__ import annotations

import copy
import copyreg
import io
import random
import string
import types
from collections import UserDict, UserList, deque
from decimal import Context
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import OF_VARIABLES, decide
from sandbox.guest.language.variables import is_dunder, is_reserved
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.identities import IDENTITIES
from sandbox.guest.runtime.own import is_marked, is_of_sandbox, of_class

if TYPE_CHECKING:
    from collections.abc import Callable

#: Data: containers, and objects of the library that hold nothing but what a program put into them.
_DATA = (
    tuple, list, dict, set, frozenset, bytearray, deque, BaseException, types.SimpleNamespace,
    io.StringIO, io.BytesIO, random.Random, string.Template, Context,
)  # fmt: skip
#: Modules of the library whose objects are data.
_DATA_MODULES = frozenset({
    "array", "calendar", "collections", "datetime", "decimal", "fractions", "functools", "ipaddress", "itertools",
    "operator", "re", "statistics", "string", "textwrap", "types", "urllib.parse", "uuid", "xml.etree.ElementTree",
    "zoneinfo",
})  # fmt: skip


#: Classes of ours that are nothing but data.
COPIED: set[type] = set()


def restrict_copies() -> None:
    """Make `copy` give back, as itself, what is neither data nor an object of a program. Again is no error."""
    library: Any = copy
    if library._reconstruct is not _reconstruct:
        _Library.reconstruct = library._reconstruct
        library._reconstruct = _reconstruct
        library.id = _identity
        library._deepcopy_dispatch[types.MethodType] = lambda method, memo: method
        for kind in _CONTAINERS:
            kind.__copy__ = _copy_container
        if hasattr(library, "replace"):  # from Python 3.13 on
            library.replace = _replace(library.replace)
        reducing: Any = copyreg
        _Library.slot_names = reducing._slotnames
        reducing._slotnames = _slot_names


def _identity(value: object) -> int:
    """Tell objects apart in a memo: by what `id` shows for them where the program has asked, and writes it there."""
    found = IDENTITIES.known.get(id(value))
    return -id(value) if found is None else IDENTITIES.shown(value)


#: What the library makes a copy with, given a class.
_MAKERS: tuple[Any, ...] = (copyreg.__newobj__, copyreg.__newobj_ex__, copyreg._reconstructor)  # type: ignore[attr-defined]


#: These copy themselves, by the `__new__` of their class.
_CONTAINERS: tuple[Any, ...] = (UserDict, UserList)


class _Library:
    """What stood in the place of ours."""

    reconstruct: Callable[..., Any]
    slot_names: Callable[..., Any]


#: The answers, for so many classes of the program.
SLOT_NAMES: dict[type, list[str]] = {}
_MOST_KINDS = 256


def _slot_names(kind: type) -> Any:
    """Return the slots that make up the state of an object: real ones, since `__slots__` may be a list that grew.

    The library keeps its answer in the class, where the program would find a list that is believed.
    """
    known = SLOT_NAMES.get(kind) if type(kind) is type else None  # other classes of classes may lie when asked
    if known is None:
        known = _find_slot_names(kind)
        if type(kind) is type:
            if len(SLOT_NAMES) >= _MOST_KINDS:
                SLOT_NAMES.clear()
            SLOT_NAMES[kind] = known
    return known


def _find_slot_names(kind: type) -> Any:
    spaces = [names_of(base) for base in order_of(kind)]
    if not _is_below_own(kind):
        return _Library.slot_names(kind)
    return [
        name
        for space in spaces
        if "__slots__" in space
        for name, item in space.items()
        if type(item) is types.MemberDescriptorType
        and type(name) is str
        and not is_dunder(name)
        and not is_reserved(name)
    ]


def _reconstruct(
    value: Any, memo: Any, make: Any, arguments: Any, state: Any = None, *items: Any, **options: Any
) -> Any:
    kind = type(value)
    if not _is_below_own(kind):
        may_copy = _may_copy(kind) and not _brings_methods(value)
        return _Library.reconstruct(value, memo, make, arguments, state, *items, **options) if may_copy else value
    if not _makes_same_kind(kind, make, arguments):
        return value
    made = _Library.reconstruct(value, memo, _of_kind(kind, make), arguments, **options)
    if state is not None:
        _set_state(made, state if memo is None else copy.deepcopy(state, memo))
    return _Library.reconstruct(value, memo, lambda: made, (), None, *items, **options)


def _set_state(made: Any, state: Any) -> None:
    """Set what an object consists of. Each name is looked at when it is set: the program may add some meanwhile."""
    take = getattr(made, "__setstate__", None)
    is_of_error = type(take) is types.BuiltinMethodType and issubclass(type(made), BaseException)
    if take is not None and not is_of_error:
        take(state)
        return
    parts = (
        tuple(tuple.__iter__(state)) if issubclass(type(state), tuple) else ()
    )  # a subclass may lie about its length
    variables, slots = parts if len(parts) == 2 else (None, state) if is_of_error else (state, None)
    if variables is not None:
        made.__dict__.update(variables)
    for name, item in slots.items() if slots is not None else ():
        if type(name) is not str or (decide(name) not in OF_VARIABLES and name != "__notes__"):
            message = f"the state of a copy cannot name {name!r}"
            raise TypeError(message)
        setattr(made, name, item)


def _of_kind(kind: type, make: Callable[..., Any]) -> Callable[..., Any]:
    """Make an object of a class, and no other: a `__new__` of the program may give any, on which state would be set."""

    def made(*arguments: Any) -> Any:
        return of_class(kind, make(*arguments))

    return made


def _copy_container(self: Any) -> Any:
    """Copy a UserDict or a UserList."""
    kind: Any = type(self)
    made = of_class(kind, kind.__new__(kind))
    made.__dict__.update(self.__dict__)
    made.__dict__["data"] = self.__dict__["data"][:] if isinstance(self, UserList) else self.__dict__["data"].copy()
    return made


def _replace(replace: Callable[..., Any]) -> Callable[..., Any]:
    def replaced(obj: Any, /, **changes: Any) -> Any:
        """Do what the library does; to a namespace of the program's it would do so whatever its `__new__` gives."""
        if type(obj) is types.SimpleNamespace or not issubclass(type(obj), types.SimpleNamespace):
            return replace(obj, **changes)
        made = copy.copy(obj)
        made.__dict__.update(changes)
        return made

    return replaced


def _may_copy(kind: type) -> bool:
    if is_of_sandbox(kind):
        return kind in COPIED
    return issubclass(kind, _DATA) or kind.__module__ in _DATA_MODULES


#: What an object may have among its variables, to say how it is copied.
_METHODS = frozenset({"__reduce_ex__", "__reduce__", "__setstate__"})


def _brings_methods(value: Any) -> bool:
    """Tell whether an object of the library holds methods of a program's by which `copy` would make any other.

    A namespace may, and a log record, whose `extra` takes any name.
    """
    names = getattr(value, "__dict__", None)
    return type(names) is dict and any(type(name) is not str or name in _METHODS for name in names)


def _is_below_own(kind: type) -> bool:
    return any(map(is_marked, order_of(kind)))


def _makes_same_kind(kind: type, make: Any, arguments: Any) -> bool:
    """Tell whether a copy is made by the class itself: state would be set on whatever another function gives."""
    if make is kind:
        return True
    return any(make is each for each in _MAKERS) and type(arguments) is tuple and arguments[:1] == (kind,)
