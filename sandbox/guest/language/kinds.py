"""Stand-ins for `type` and for classes that would make code.

A stand-in works in `isinstance`, annotations and `type(x) is …` like the class, and makes no objects.
"""

from __future__ import annotations

import types
import typing
from abc import ABCMeta
from enum import EnumMeta
from types import GenericAlias
from typing import Any

_NO_METACLASSES = "metaclasses are not available here: use a class decorator, __init_subclass__, or abc.ABC"


class _StandIn(type):
    """The class of stand-ins."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL[cls])

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _REAL[cls])

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if cls is Type and len(arguments) == 1 and not keywords:
            return kind_of(arguments[0])
        if cls is Type:
            raise TypeError("type() makes no classes here: write a class statement, or use dataclasses.make_dataclass")
        message = f"{cls.__name__} makes no objects here"
        raise TypeError(message)

    def __getitem__(cls, item: Any) -> Any:
        return GenericAlias(cls, item)

    def __repr__(cls) -> str:
        return f"<class '{cls.__name__}'>"


def _refuse(cls: Any, /, **_: Any) -> None:
    raise TypeError(_NO_METACLASSES if Type in cls.__mro__ else f"{cls.__mro__[1].__name__} has no subclasses here")


#: The real class of each stand-in.
_REAL: dict[type, Any] = {}


def stand_in(real: type, name: str = "", module: str = "builtins") -> Any:
    """Return a class that stands for another."""
    body = {"__module__": module, "__slots__": (), "__init_subclass__": classmethod(_refuse)}
    made = _StandIn(name or real.__name__, (), body)
    _REAL[made] = real
    return made


Type: Any = stand_in(type)
Function: Any = stand_in(types.FunctionType)
Code: Any = stand_in(types.CodeType)


class Metaclass:
    """Stands for a metaclass of the library, only for `class A(metaclass=ABCMeta)`."""

    def __init__(self, name: str, real: type) -> None:
        self._name, self._real = name, real

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError(_NO_METACLASSES)

    def __repr__(self) -> str:
        return f"<class '{self._name}'>"


ABC_META = Metaclass("abc.ABCMeta", ABCMeta)
ENUM_META = Metaclass("enum.EnumType", EnumMeta)


def metaclass(value: Any) -> Any:
    """Return the metaclass of a class statement. Raises TypeError for one that is not available."""
    if value is Type:
        return type
    if type(value) is not Metaclass:
        raise TypeError(_NO_METACLASSES)
    return value._real


_TYPED_DICT: Any = typing.TypedDict("_TYPED_DICT", {})
_METACLASSES = (type, ABCMeta, EnumMeta, _StandIn, type(typing.Protocol), type(_TYPED_DICT))
#: Classes that programs see as others. `tools` adds the class of answers.
SHOWN_AS: dict[type, Any] = {
    **dict.fromkeys(_METACLASSES, Type),
    types.FunctionType: Function,
    types.CodeType: Code,
}


def subclass_hook(hook: Any) -> Any:
    """Wrap a `__subclasshook__` so that it is not called with metaclasses, which would be the real `type`."""
    return lambda cls, kind: NotImplemented if issubclass(kind, type) else hook(cls, kind)


def kind_of(value: object) -> Any:
    """Return the class of a value, as programs see it."""
    kind = type(value)
    return SHOWN_AS.get(kind, kind)
