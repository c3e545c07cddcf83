"""Metaclasses of the program, and `type(name, bases, namespace)`: what a class statement may not, these may not either.

A class statement is read by the policy. What comes as data is looked at here: bases, names between underscores, and
`mro`, which could call any class a base.
"""

from __future__ import annotations

import typing
from abc import ABC, ABCMeta
from enum import EnumMeta
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import DEFINABLE, HOOKS, Decision, decide
from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.variables import is_dunder, is_reserved
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.loose import loose
from sandbox.guest.runtime.moments import is_below_datetime
from sandbox.guest.runtime.own import MARK_NAME, UNMADE, is_marked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: What the compiler puts into the namespace of a class.
_COMPILED = frozenset({
    "__module__", "__qualname__", "__doc__", "__classcell__", "__annotations__", "__orig_bases__", "__slots__",
    "__firstlineno__", "__static_attributes__", "__type_params__", "__match_args__", "__classdictcell__",
    "__annotate_func__", "__conditional_annotations__", "__hash__", "__name__",
})  # fmt: skip


class ProgramType(type):
    """Stands in the place of `type` among the bases of the program's own metaclasses."""

    if TYPE_CHECKING:  # an annotation would show on the program's classes
        _sandbox_bases: Callable[..., tuple[Any, ...]]

    def __new__(mcls, name: Any, bases: Any = (), namespace: Any = (), /, **options: Any) -> Any:
        """Make a class. Raises TypeError for what a class statement could not make."""
        bases = ProgramType._sandbox_bases(*bases)
        if any(isinstance(base, type) and issubclass(base, type) for base in bases):
            raise TypeError("a metaclass cannot have a metaclass of its own here")
        if any(map(is_below_datetime, bases)):
            raise TypeError("a class below datetime cannot have a metaclass of this program")
        check_patterns(bases)
        names = checked_namespace(namespace)
        _check_metaclass(mcls)  # last: what was read before may have changed it
        return super().__new__(mcls, str.__str__(name), bases, names, **options)

    def __init__(cls, name: Any, bases: Any = (), namespace: Any = (), /, **options: Any) -> None:
        """Take what the program hands on; `__init_subclass__` had the options."""
        type.__init__(cls, name, bases, dict(namespace))

    def __call__(cls, /, *arguments: Any, **options: Any) -> Any:
        """Make an object of the class."""
        if not is_program_type(type(cls)):
            raise TypeError("type.__call__() takes a class whose metaclass this program defined")
        return super().__call__(*arguments, **options)


class ProgramABCMeta(ProgramType, ABCMeta):
    """Stands in the place of `ABCMeta` among such bases."""


def is_program_type(value: Any) -> bool:
    """Tell whether a value is a metaclass that the program defined."""
    return is_marked(value) and issubclass(value, ProgramType)


def _check_metaclass(kind: type) -> None:
    for base in order_of(kind):
        names = names_of(base)
        if base is type or (issubclass(base, ProgramType) and not is_marked(base)):
            continue
        if "mro" in names:
            raise TypeError("a metaclass cannot define mro() here: name the bases in their order")
        if "__getattribute__" in names and is_marked(base):
            raise TypeError("a metaclass cannot define __getattribute__ here: use __getattr__")
        if not COMPARISONS.isdisjoint(names) and is_marked(base) and not _are_generated(names):
            raise TypeError("a metaclass cannot define __eq__ here: compare names, or objects of the class")


#: What is asked wherever classes are compared, of the class of classes, too.
COMPARISONS = frozenset({"__eq__", "__ne__"})
#: What a metaclass cannot get later either.
NOT_OF_METACLASSES = COMPARISONS | {"mro"}


def _are_generated(names: Any) -> bool:
    """Tell whether a class has comparisons that `dataclass` wrote: these look at nothing but their own class."""
    found = [names[name] for name in COMPARISONS if name in names]
    return all(type(each) is FunctionType and each.__code__.co_filename == "<string>" for each in found)


def is_in_metaclass(kind: type) -> bool:
    """Tell whether a class of the program is a metaclass, or one of those that a metaclass inherits from."""
    below: list[type] = type.__subclasses__(kind)
    return is_program_type(kind) or any(is_in_metaclass(each) for each in below)


def check_patterns(bases: tuple[Any, ...]) -> None:
    """Refuse fields that patterns would read in a class which may call anything its instance."""
    for base in bases:
        for name in getattr(base, "__match_args__", ()) if isinstance(base, type) else ():
            if decide(name) is not Decision.PLAIN:
                message = (
                    f"{base.__name__} has a field {name!r} and cannot be mixed with an abstract class or a metaclass: "
                    "rename it"
                )
                raise TypeError(message)


def check_fields(kinds: Iterable[Any], fields: Iterable[str] = ()) -> None:
    """Refuse fields, these and inherited ones, that classes of the library have as what is looked at: `str.format`.

    The methods of a dataclass, and `asdict`, read fields without a guard.
    """
    spaces = [(base, names_of(base)) for kind in kinds if isinstance(kind, type) for base in order_of(kind)]
    names = {*fields, *(name for _, space in spaces for name in space.get("__dataclass_fields__", ()))}
    for name in names:
        if decide(name) in (Decision.PLAIN, Decision.PRIVATE):
            continue
        for base, space in spaces:
            is_metaclass = base is type  # whose objects are classes, with all that these have
            if is_metaclass or (name in space and not is_marked(base)):
                message = f"a dataclass below {base.__name__} cannot have a field {name!r}: rename it"
                raise TypeError(message)


def make_class(name: Any, bases: Any, namespace: Any, options: dict[str, Any]) -> Any:
    """Do what `type(name, bases, namespace)` does. Raises TypeError for what a class statement could not make."""
    if not isinstance(name, str) or not isinstance(bases, tuple):
        raise TypeError("type() takes one argument, or a name, a tuple of bases and a dict")
    found = ProgramType._sandbox_bases(*bases)
    winner: type = type
    for base in found:
        if issubclass(type(base), winner):
            winner = type(base)
    if issubclass(winner, EnumMeta):
        raise TypeError("an Enum is made with a class statement, or with Enum(name, members)")
    namespace = {"__module__": "__main__", **checked_namespace(namespace)}
    bases = bases if is_program_type(winner) else found
    return type.__call__(winner, str.__str__(name), bases, namespace, **options)


def checked_namespace(namespace: Any) -> dict[str, Any]:
    """Return a plain copy of a class's namespace with our mark, which is told of the class first. Raises TypeError."""
    names = {MARK_NAME: UNMADE, **dict(namespace)}
    for name, value in names.items():
        _check_name(name, value)
    annotations = names.get("__annotations__")
    if annotations is not None:
        names["__annotations__"] = dict(annotations)  # the program holds the old one
    slots = names.get("__slots__")
    if slots is not None and not isinstance(slots, str):
        names["__slots__"] = tuple(slots)  # code of the program: not to be run in the middle of making the class
    names[MARK_NAME] = UNMADE
    names.pop("__classdictcell__", None)  # CPython would put the dict of the class in there, which the program holds
    return names


def _check_name(name: Any, value: Any) -> None:
    if type(name) is not str:
        message = f"names of a class must be text, not {type(name).__name__}"
        raise TypeError(message)
    if name == MARK_NAME:
        return
    if is_dunder(name):
        is_allowed = name in DEFINABLE or name in _COMPILED or (name in HOOKS and is_hook(name, value))
    else:
        is_allowed = not is_reserved(name)
    if not is_allowed:
        message = f"a class cannot define {name} here"
        raise TypeError(message)
    if name == "__match_args__" and not _are_plain(value):
        raise TypeError("__match_args__ must be a tuple of plain names")
    if name == "__annotate_func__" and not _is_compiled(value):
        raise TypeError("annotations are written in the class, or given as __annotations__")


def _are_plain(names: Any) -> bool:
    return type(names) is tuple and all(type(name) is str and decide(name) is Decision.PLAIN for name in names)


def _is_compiled(annotate: Any) -> bool:
    """Tell whether the compiler made this function of annotations (PEP 649): no other can have its name."""
    return type(annotate) is FunctionType and annotate.__code__.co_name == "__annotate__"


# --- methods that the interpreter calls with what a program may not see ---------------------------------------------


def hook(name: str) -> Callable[[Any], Any]:
    """Return what wraps `__getattribute__`, `__getattr__`, `__subclasshook__` and `__subclasscheck__` of the program.

    The first is not asked for names between underscores, of which guards and `isinstance` think that they tell the
    truth; nor the second, where it is a class that is asked: patterns read `__match_args__` there, and the library
    the fields from which it writes source. The others do not see the class of classes.
    """

    def wrap(value: Any) -> Any:
        if isinstance(value, staticmethod):
            message = f"{name} cannot be a static method"
            raise TypeError(message)
        return classmethod(_HOOKS[name](value.__func__)) if isinstance(value, classmethod) else _HOOKS[name](value)

    return wrap


def is_hook(name: str, value: Any) -> bool:
    """Tell whether a value is such a wrapped method, and of this name: each lets through what the others do not."""
    value = value.__func__ if type(value) is classmethod else value
    return type(value) is FunctionType and value.__globals__ is globals() and value.__name__ == name


def _attribute_hook(function: Any) -> Any:
    def __getattribute__(self: Any, name: str, /) -> Any:  # noqa: N807  # the name is looked for
        name = str.__str__(name)
        return _fact(self, name) if is_dunder(name) else function(self, name)

    return __getattribute__


#: Methods of C's, bound or not, and descriptors: these do not look at what they are given.
_RAW = (BuiltinMethodType, MethodWrapperType, FunctionType, MethodDescriptorType, WrapperDescriptorType)


def _fact(value: Any, name: str) -> Any:
    """Read a name between underscores past a hook. The program may call the hook by hand: it gets nothing from it."""
    if issubclass(type(value), type) or not is_marked(type(value)):
        raise TypeError("__getattribute__() takes an object of this program")
    found = object.__getattribute__(value, name)
    if name == "__traceback__":
        return None
    if type(found) in _RAW or (decide(name) is not Decision.DUNDER and name not in _ASKED):
        message = f"{type(value).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message, name=name)
    if type(found) is MethodType and not _is_written(found.__func__):
        return loose(found)
    return dict(found) if type(found) is dict and name != "__dict__" else found


def _is_written(function: Any) -> bool:
    """Tell whether a function stands in the source of the program."""
    return type(function) is FunctionType and function.__code__.co_filename == FILENAME


#: What the library asks objects for, besides what programs may read.
_ASKED = frozenset({"__isabstractmethod__", "__dataclass_params__"})


def _missing_hook(function: Any) -> Any:
    def __getattr__(self: Any, name: str, /) -> Any:  # noqa: N807  # the name is looked for
        if is_dunder(name) and issubclass(type(self), type):
            message = f"type object {type.__getattribute__(self, '__name__')!r} has no attribute {name!r}"
            raise AttributeError(message, name=name)
        return function(self, name)

    return __getattr__


def _subclass_hook(function: Any) -> Any:
    def __subclasshook__(cls: Any, kind: Any, /) -> Any:  # noqa: N807  # the name is looked for
        return function(cls, kind) if may_judge(cls, kind) else NotImplemented

    return __subclasshook__


def _subclass_check(function: Any) -> Any:
    def __subclasscheck__(cls: Any, kind: Any, /) -> Any:  # noqa: N807  # the name is looked for
        return function(cls, kind) if may_judge(cls, kind) else False

    return __subclasscheck__


def may_judge(cls: Any, kind: Any) -> bool:
    """Tell whether a class of the program may say whether another is its subclass.

    Abstract classes ask those below them and remember the answer: below one of the library, a program says it of its
    own classes alone.
    """
    if _is_hidden(kind):
        return False
    above = order_of(cls) if isinstance(cls, type) else ()
    is_below = any(isinstance(base, ABCMeta) and not is_marked(base) and base not in _OPEN for base in above)
    return not is_below or is_marked(kind)


#: Abstract classes of the library that say nothing of what is below them.
_OPEN = frozenset({ABC, typing.Protocol, typing.Generic})


def _is_hidden(kind: Any) -> bool:
    return kind is super or (isinstance(kind, type) and issubclass(kind, type) and not is_program_type(kind))


_HOOKS: dict[str, Callable[[Any], Any]] = {
    "__getattribute__": _attribute_hook,
    "__getattr__": _missing_hook,
    "__subclasshook__": _subclass_hook,
    "__subclasscheck__": _subclass_check,
}
