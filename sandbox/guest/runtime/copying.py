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

from sandbox.guest.language.variables import is_dunder
from sandbox.guest.runtime.own import MARK, MARK_NAME, is_of_sandbox, of_class

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
        library._deepcopy_dispatch[types.MethodType] = lambda method, memo: method
        for kind in _CONTAINERS:
            kind.__copy__ = _copy_container
        if hasattr(library, "replace"):  # from Python 3.13 on
            library.replace = _replace(library.replace)
        reducing: Any = copyreg
        _Library.slot_names = reducing._slotnames
        reducing._slotnames = _slot_names


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
    bases = type.__getattribute__(kind, "__mro__")
    spaces = [type.__getattribute__(base, "__dict__") for base in bases]
    if not _is_below_own(kind):
        return _Library.slot_names(kind)
    return [
        name
        for space in spaces
        if "__slots__" in space
        for name, item in space.items()
        if type(item) is types.MemberDescriptorType and type(name) is str and not is_dunder(name)
    ]


def _reconstruct(value: Any, memo: Any, *reduced: Any, **options: Any) -> Any:
    if not _may_copy(value, reduced):
        return value
    make, *rest = reduced
    make = _of_kind(type(value), make) if _is_below_own(type(value)) else make
    return _Library.reconstruct(value, memo, make, *rest, **options)


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


def _may_copy(value: object, reduced: tuple[Any, ...]) -> bool:
    kind = type(value)
    if _is_below_own(kind) or kind is types.SimpleNamespace:
        # these may have a `__reduce_ex__` of the program's among their attributes
        return _makes_same_kind(kind, reduced) and not _changes_class(value, reduced)
    if is_of_sandbox(kind):
        return kind in COPIED
    return isinstance(value, _DATA) or kind.__module__ in _DATA_MODULES


def _is_below_own(kind: type) -> bool:
    for base in type.__getattribute__(kind, "__mro__"):
        if type.__getattribute__(base, "__dict__").get(MARK_NAME) is MARK:
            return True
    return False


def _makes_same_kind(kind: type, reduced: tuple[Any, ...]) -> bool:
    """Tell whether a copy is made by the class itself: state would be set on whatever another function gives."""
    make: Any = reduced[0]
    if make is kind:
        return True
    arguments = reduced[1]
    return any(make is each for each in _MAKERS) and type(arguments) is tuple and arguments[:1] == (kind,)


def _changes_class(value: object, reduced: tuple[Any, ...]) -> bool:
    """Tell whether the state that is set on a copy names what the interpreter keeps: `__class__`, `__dict__`."""
    state = reduced[2] if len(reduced) > 2 else None
    slots = state[1] if isinstance(state, tuple) and len(state) == 2 else None
    if isinstance(value, BaseException):  # sets all of its state as attributes
        slots = state
    return slots is not None and (
        type(slots) is not dict or any(type(name) is not str or name.startswith("__") for name in slots)
    )
