"""Attribute access that is decided at run time, because the decision needs the object.

Compiled code calls the guards; `getattr`, `setattr` and their like make the same decisions.
"""

from __future__ import annotations

from abc import ABCMeta
from asyncio import Task
from datetime import date
from enum import Enum
from types import BuiltinMethodType, FunctionType, MappingProxyType, MethodDescriptorType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.values import CALLED
from sandbox.guest.language.attributes import (
    ASSIGNABLE,
    DEFINABLE,
    ENUM,
    METHODS_OF_DICT,
    NAMED_TUPLE,
    Decision,
    decide,
    walks_plainly,
)
from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.kinds import SHOWN_AS
from sandbox.guest.language.own import OWN, is_own, is_own_class, is_own_function, ours
from sandbox.guest.language.variables import is_dunder

if TYPE_CHECKING:
    from collections.abc import Callable

_MISSING: Any = object()
#: Classes whose objects are the program's data, private attributes included.
DATA: set[type] = {SimpleNamespace}
#: Other objects that show all their attributes.
_SHOW_ALL = (BaseException, SimpleNamespace)
#: Replacements of methods: `now` of date classes, and `format` of text.
CLOCK: list[Callable[[Any, str], Any]] = []
FORMAT: list[Callable[[Any, str], Any]] = []


# --- guards in compiled code ----------------------------------------------------------------------------------------


def private(value: Any, name: str) -> Any:
    """Return the object if the program may read its `_name`. Raises AttributeError."""
    if is_own(value) or type(value) in DATA or _is_public_by_convention(value, name):
        return value
    if type(value) is super and is_own(_object_of(value)):
        return value
    raise _missing(value, name)


def receiver(value: Any) -> None:
    """Check the first argument of a method, which uses its attributes without guards. Raises TypeError."""
    if not (is_own(value) or type(value) in DATA):
        message = f"a method was called on a {type(value).__name__}, which is not an object of this program"
        raise TypeError(message)


def writable(value: Any, name: str) -> Any:
    """Return the object if the program may set its attribute. Raises AttributeError or TypeError."""
    if is_own(value) or type(value) in DATA:
        return value
    is_public = decide(name) in (Decision.PLAIN, Decision.LOOKED_AT)
    if is_public and not _is_of_others(value) and (not is_dunder(name) or isinstance(value, BaseException)):
        return value
    if isinstance(value, type):
        message = f"cannot set {name!r} attribute of immutable type {value.__name__!r}"
        raise TypeError(message)
    message = f"{type(value).__name__!r} object has no attribute {name!r} that can be set"
    raise AttributeError(message, name=name)


def field(value: Any, name: str) -> Any:
    """Read an attribute that is not called. Fields of an answer come before the methods of dict."""
    if type(value) in DATA and isinstance(value, dict) and name in value:
        return value[name]
    return getattr(value, name)


def looked_at(value: Any, name: str) -> Any:
    """Read one of the names in `attributes.LOOKED_AT`."""
    return _READERS.get(name, _read_method)(value, name)


# --- readers --------------------------------------------------------------------------------------------------------


def _read_method(value: Any, name: str) -> Any:
    """Read `now` and `format`, which date classes and text have in a version of ours."""
    found = getattr(value, name)
    kind = type(found)
    if kind is MethodDescriptorType and found.__objclass__ is str:
        return FORMAT[0](None, name)
    if kind is not BuiltinMethodType:
        return found
    owner = found.__self__
    if isinstance(owner, str):
        text = str.__str__(owner)
        return found if type(owner) is str and walks_plainly(text) else FORMAT[0](text, name)
    return CLOCK[0](owner, name) if isinstance(owner, type) and issubclass(owner, date) else found


def _read_python(value: Any, name: str) -> Any:
    """Read a method that is not written in C."""
    found = getattr(value, name)
    if type(found) is BuiltinMethodType:
        raise _missing(value, name)
    return found


def _read_class(value: Any, name: str) -> Any:
    found = value.__class__
    return SHOWN_AS.get(found, found)


def _read_dict(value: Any, name: str) -> Any:
    if is_own_class(value):
        return MappingProxyType({key: item for key, item in vars(value).items() if key not in ours(value)})
    if isinstance(value, type):  # `__subclasshook__` asks for the names
        shown = {key for key in vars(value) if decide(key) is Decision.PLAIN and not is_dunder(key)}
        return MappingProxyType({key: item if key in shown else None for key, item in vars(value).items()})
    if is_own(value) or isinstance(value, _SHOW_ALL):
        return value.__dict__
    raise _missing(value, name)


def _read_own(value: Any, name: str) -> Any:
    """Read what only the program's own objects and functions show."""
    is_state = name == "__getstate__" and is_own(value)
    if not (is_state or is_own_function(value) or type(value) in (staticmethod, classmethod)):
        raise _missing(value, name)
    return getattr(value, name)


def _read_subclasses(value: Any, name: str) -> Any:
    if not is_own_class(value):
        raise _missing(value, name)
    return lambda: [kind for kind in type.__subclasses__(value) if kind in OWN]


def _read_writer(value: Any, name: str) -> Any:
    """Read `object.__setattr__`, which takes the object first, or `super().__setattr__`, which is bound to it."""
    found = getattr(value, name)
    if is_own_function(found) and found.__code__.co_filename == FILENAME:  # and not written by `dataclass`
        return found
    owner = _object_of(value) if type(value) is super else value

    def write(*arguments: Any) -> None:
        target, attribute = (arguments[0], arguments[1]) if isinstance(owner, type) else (owner, arguments[0])
        check_written(target, exact(attribute))
        found(*arguments)

    return write


def _read_register(value: Any, name: str) -> Any:
    """Read `ABC.register`, which only abstract classes of the program have."""
    found = getattr(value, name)
    is_of_abstract_class = getattr(found, "__func__", found) is ABCMeta.register
    if is_of_abstract_class and not is_own_class(getattr(found, "__self__", None)):
        raise _missing(value, name)
    return found


def _read_of_own(value: Any, name: str) -> Any:
    """Read a name that forward references and tasks do not show."""
    if type(value).__name__ == "ForwardRef" or isinstance(value, Task):
        raise _missing(value, name)
    return getattr(value, name)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "from_file": _read_python,
    "__class__": _read_class,
    "__dict__": _read_dict,
    **dict.fromkeys(("__getstate__", "__self__", "__func__", "__code__"), _read_own),
    "__subclasses__": _read_subclasses,
    **dict.fromkeys(("__setattr__", "__delattr__"), _read_writer),
    **dict.fromkeys(("evaluate", "get_stack", "print_stack"), _read_of_own),
    "register": _read_register,
}


# --- builtins -------------------------------------------------------------------------------------------------------


def getattr_(value: Any, name: str, default: Any = _MISSING, /) -> Any:
    """Do what `getattr` does, by the same decisions as compiled code."""
    name = exact(name)
    try:
        return field(value, name) if name in METHODS_OF_DICT else read_method(value, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def read_method(value: Any, name: str) -> Any:
    """Read an attribute by its decision. Methods of dict come before the fields of an answer."""
    decision = decide(name)
    if decision is Decision.LOOKED_AT:
        return looked_at(value, name)
    if decision is Decision.REFUSED:
        raise _missing(value, name)
    return getattr(private(value, name) if decision is Decision.PRIVATE else value, name)


def hasattr_(value: Any, name: str, /) -> bool:
    """Do what `hasattr` does."""
    try:
        getattr_(value, name)
    except AttributeError:
        return False
    return True


def setattr_(value: Any, name: str, new: Any, /) -> None:
    """Do what `setattr` does, on objects that may be written."""
    name = exact(name)
    check_written(value, name)
    setattr(value, name, new)


def delattr_(value: Any, name: str, /) -> None:
    """Do what `delattr` does, on objects that may be written."""
    name = exact(name)
    check_written(value, name)
    delattr(value, name)


def check_written(value: Any, name: str) -> None:
    """Check that an attribute may be written. Raises AttributeError or TypeError."""
    if decide(name) is Decision.REFUSED or (is_dunder(name) and name not in ASSIGNABLE | DEFINABLE):
        message = f"{name} cannot be set here"
        raise AttributeError(message, name=name)
    writable(value, name)


def vars_of(value: Any) -> Any:
    """Do what `vars(value)` does."""
    try:
        return looked_at(value, "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


# --- parts ----------------------------------------------------------------------------------------------------------


def exact(name: Any) -> str:
    """Return an attribute name as plain `str`, also of a subclass that lies. Raises TypeError."""
    if isinstance(name, str):
        return name if type(name) is str else str.__str__(name)
    message = f"attribute name must be string, not {type(name).__name__!r}"
    raise TypeError(message)


def _object_of(above: Any) -> Any:
    """Return the object of a `super()`."""
    return above.__self__


def _is_public_by_convention(value: Any, name: str) -> bool:
    kind = value if isinstance(value, type) else type(value)
    if issubclass(kind, tuple):
        return name in NAMED_TUPLE and hasattr(kind, "_fields")
    return issubclass(kind, Enum) and name in ENUM


def _is_of_others(value: Any) -> bool:
    """Return whether a value is a class, a function or a module of the library, or an object of the guest."""
    if isinstance(value, (type, FunctionType, ModuleType)):
        return True
    return str(type(value).__module__).startswith("sandbox.")


def _missing(value: object, name: str) -> AttributeError:
    if isinstance(value, type):
        return AttributeError(f"type object {value.__name__!r} has no attribute {name!r}", name=name)
    if type(value) in CALLED and not name.startswith("__"):
        root = repr(value).removeprefix("<tool ").removesuffix(">")
        message = f"{root} has no operation {name!r}: names have no leading underscore; write {root}.{name.strip('_')}"
        return AttributeError(message, name=name)
    return AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}", name=name)


for _function in (getattr_, hasattr_, setattr_, delattr_):
    _function.__name__ = _function.__qualname__ = _function.__name__.rstrip("_")
