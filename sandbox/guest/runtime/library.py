"""Methods of the library that read, raw, what names do not reach, and hand it on: restricted where they stand.

A policy of names sees what a program writes. It does not see `meth.__self__` in `weakref`, `type(error)` in
`contextlib`, or a name that `enum` was told earlier.
"""

from __future__ import annotations

import abc
import calendar
import contextlib
import csv
import dataclasses
import enum
import functools
import inspect
import io
import json.encoder
import re
import statistics
import sys
import traceback
import typing
import weakref
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import OF_VARIABLES, Decision, decide
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.loose import loose
from sandbox.guest.runtime.metaclasses import is_program_type
from sandbox.guest.runtime.own import is_marked

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = "__dataclass_fields__"


def restrict_library() -> None:
    """Restrict all of them. Again is no error."""
    if not _done:
        _done.append(True)
        _restrict_weak_methods()
        _restrict_wrappers()
        _restrict_partial_methods()
        _restrict_exits()
        _restrict_field_readers()
        _restrict_field_writers()
        _restrict_cached_properties()
        _restrict_enum_properties()
        _restrict_readers()
        _restrict_signatures()
        _restrict_suggestions()
        _restrict_answers()
        _restrict_typed_caches()
        _hold_what_is_encoded()
        _silence()


_done: list[bool] = []


def _restrict_weak_methods() -> None:
    """`WeakMethod(method)` is a reference to the object behind the method, too: `ref.__call__` hands it over."""
    library: Any = weakref.WeakMethod
    make = library.__new__

    def new(cls: Any, meth: Any, callback: Any = None) -> Any:
        owner = meth.__self__ if type(meth) is MethodType else None
        if not (is_marked(type(owner)) or is_marked(owner)):
            raise TypeError("WeakMethod() takes bound methods of this program's objects")
        return make(cls, meth, callback)

    library.__new__ = staticmethod(new)


def _restrict_wrappers() -> None:
    """What wraps a class shows its attributes as they stand there, before anything is bound: `__get__`, too."""
    library: Any = functools
    update = library.update_wrapper
    names, tables = library.WRAPPER_ASSIGNMENTS, library.WRAPPER_UPDATES

    def update_wrapper(wrapper: Any, wrapped: Any, assigned: Any = names, updated: Any = tables) -> Any:
        is_copied = type(wrapped) in (FunctionType, MethodType) or is_marked(
            wrapped if isinstance(wrapped, type) else type(wrapped)
        )
        return update(wrapper, wrapped, assigned, updated if is_copied else ())

    library.update_wrapper = update_wrapper


def _restrict_partial_methods() -> None:
    """`partialmethod` binds what is no descriptor by the `__get__` that it has as a class: of other objects.

    It also notes the object behind a method on what it makes, where a copy shows it.
    """
    library: Any = functools.partialmethod
    get = library.__get__

    def bind(self: Any, obj: Any, cls: Any = None) -> Any:
        if not issubclass(type(self), library):
            raise TypeError("a partial method binds itself")
        if not hasattr(type(self.func), "__get__"):
            return self._make_unbound_method().__get__(obj, cls)
        found = get(self, obj, cls)
        if type(found) is functools.partial:
            found.__dict__.pop("__self__", None)
        return found

    library.__get__ = bind


def _restrict_exits() -> None:
    """Exits of a stack get `type(error)`: of a class, called by hand, that would be the class of classes."""
    for library, name in ((contextlib.ExitStack, "__exit__"), (contextlib.AsyncExitStack, "__aexit__")):
        setattr(library, name, _exit_of_errors(getattr(library, name)))


def _exit_of_errors(leave: Any) -> Any:
    def leave_with(self: Any, kind: Any, error: Any, traceback: Any, /) -> Any:
        if error is not None and not issubclass(type(error), BaseException):
            raise TypeError("an exit takes the class of an error, the error and its traceback, or three times None")
        return leave(self, kind, error, traceback)

    return leave_with


def _restrict_field_readers() -> None:
    """Fields of a dataclass are those of its class: an object with a field list of its own would have any read."""
    library: Any = dataclasses

    def fields(class_or_instance: Any) -> tuple[Any, ...]:
        kind = type(class_or_instance)
        if issubclass(kind, type):
            if hasattr(kind, _FIELDS):
                raise TypeError("a class whose metaclass is a dataclass has no fields that can be read")
            kind = class_or_instance
        for base in order_of(kind):
            found = names_of(base).get(_FIELDS)
            if found is not None:
                return tuple(each for each in found.values() if each._field_type is library._FIELD)
        raise TypeError("must be called with a dataclass type or instance")

    def checked(replace: Any) -> Any:
        def replaced(obj: Any, /, **changes: Any) -> Any:
            fields(obj)
            variables = getattr(obj, "__dict__", None)
            if isinstance(variables, dict) and dict.__contains__(variables, _FIELDS):
                raise TypeError("replace() takes objects whose fields are those of their class")
            return replace(obj, **changes)

        replaced.__module__ = replace.__module__  # Python 3.13 puts it into classes of the program, which are not ours
        return replaced

    library.fields = fields
    name = "_replace" if hasattr(library, "_replace") else "replace"
    setattr(library, name, checked(getattr(library, name)))


def _restrict_field_writers() -> None:
    """A metaclass of the program does not hear of what a dataclass is given: live fields, and methods that take any.

    With `slots` a class is made again, with the methods of the first one.
    """
    library: Any = dataclasses

    def set_attribute(target: Any, name: str, value: Any) -> None:
        (type.__setattr__ if issubclass(type(target), type) else setattr)(target, name, value)

    add_slots = library._add_slots

    def make_again(cls: Any, *options: Any) -> Any:
        if is_program_type(type(cls)):
            raise TypeError(
                "a dataclass with a metaclass of this program cannot have slots=True: leave out one of them"
            )
        return add_slots(cls, *options)

    library.setattr = set_attribute
    library._add_slots = make_again


def _restrict_cached_properties() -> None:
    """A cached property of a class looks for its name among the variables of the class, where raw methods are.

    That is one of a metaclass, or inside of a class method (before Python 3.13). Called by hand it would read and set
    variables of any object.
    """
    library: Any = functools.cached_property
    name_it, read = library.__set_name__, library.__get__

    def set_name(self: Any, owner: Any, name: Any) -> None:
        if type(name) is not str or decide(name) not in OF_VARIABLES:
            raise TypeError("a cached property has the name of an attribute")
        name_it(self, owner, name)

    def get(self: Any, instance: Any, owner: Any = None) -> Any:
        is_one = issubclass(type(self), library)
        if not is_one or not (instance is None or _stands_in(self, self.attrname, type(instance))):
            raise TypeError("a cached property reads objects of its class")
        return read(self, instance, owner)

    library.__set_name__ = set_name
    library.__get__ = get
    if sys.version_info < (3, 12):
        library.lock = property(lambda _: _FREE, lambda _, lock: None)


class _Free:
    """Stands for the lock of a cached property, which counts who took it: for the next program, too."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Do nothing: one piece of a program runs at a time."""

    def __exit__(self, *_: object) -> None: ...


_FREE = _Free()


def _stands_in(value: Any, name: Any, kind: type) -> bool:
    """Tell whether a class has this attribute, under this name or another, or inherits it."""
    if names_of(kind).get(name) is value:
        return True
    spaces = (names_of(base) for base in order_of(kind))
    return any(value is item for space in spaces for item in space.values())


def _restrict_enum_properties() -> None:
    """A member that a base class has as a method reads it on the value, by a name that could be told by hand."""
    library: Any = enum.property
    read = library.__get__

    def get(self: Any, instance: Any, ownerclass: Any = None) -> Any:
        if instance is not None:
            if self.fget is not None:  # `member.value`, as fast as in the library
                return self.fget(instance)
            if not issubclass(type(self), library) or not _is_plain(self.name):
                message = f"{ownerclass!r} has no attribute {self.name!r}"
                raise AttributeError(message)
        return read(self, instance, ownerclass)

    library.__get__ = get


def _is_plain(name: Any) -> bool:
    return type(name) is str and decide(name) is Decision.PLAIN  # a subclass may say to C that it equals another


def _restrict_readers() -> None:
    """A reader of CSV does not survive that the lines it reads from read from it (CPython up to 3.13 at least)."""
    library: Any = csv
    make = library.reader

    def reader(csvfile: Any, /, *arguments: Any, **options: Any) -> Any:
        runs_no_code = type(csvfile) in (list, tuple, io.StringIO)
        return make(csvfile if runs_no_code else _once_at_a_time(iter(csvfile)), *arguments, **options)

    library.reader = reader


def _once_at_a_time(lines: Iterator[Any]) -> Iterator[Any]:
    yield from lines


#: What C has the texts of signatures for, besides classes.
_OF_C = (BuiltinFunctionType, ClassMethodDescriptorType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)


def _restrict_signatures() -> None:
    """`dataclass` asks for the signature of its class: names in a text of the program's would be evaluated."""
    library: Any = inspect
    read = library._signature_fromstr

    def from_text(kind: Any, value: Any, *text: Any) -> Any:
        is_class = issubclass(type(value), type)
        if is_marked(value) if is_class else type(value) not in _OF_C:
            raise ValueError("no signature found")
        return read(kind, value, *text)

    library._signature_fromstr = from_text


def _restrict_suggestions() -> None:
    """What tells of an ImportError imports the module that it names, to look for names like the one that is missing."""
    library: Any = traceback
    suggest = getattr(library, "_compute_suggestion_error", None)
    if suggest is not None:
        library._compute_suggestion_error = lambda error, *rest: (
            None if isinstance(error, ImportError) else suggest(error, *rest)
        )


def _restrict_answers() -> None:
    """What statistics find is made by the class of the data: for classes that is the class of classes."""
    library: Any = statistics
    convert = library._convert

    def of_numbers(value: Any, kind: type) -> Any:
        if issubclass(kind, type):
            raise TypeError("statistics are made of numbers, not of classes")
        return convert(value, kind)

    library._convert = of_numbers


def _restrict_typed_caches() -> None:
    """A typed cache has the classes of arguments behind these, and compares both with those of other calls, one by one.

    An argument would be asked whether it equals the class of a class. Here the classes stand first, as numbers.
    """
    library: Any = functools
    make = library.lru_cache

    def lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:  # noqa: FBT002  # the library's
        if not typed:
            return make(maxsize)
        if callable(maxsize):
            return _typed_cache(make(128), maxsize, 128)
        return lambda function: _typed_cache(make(maxsize), function, maxsize)

    library.lru_cache = lru_cache
    forms: Any = (typing.Literal, typing.Annotated)
    for form in forms:
        cached: Any = getattr(form, "_getitem", None)
        if hasattr(cached, "__wrapped__"):
            form._getitem = cached.__wrapped__
    modules: list[Any] = list(sys.modules.values())
    for module in modules:
        for name, value in list(vars(module).items()) if isinstance(module, ModuleType) else ():
            if type(value) is functools._lru_cache_wrapper and value.cache_parameters()["typed"]:
                maxsize = value.cache_parameters()["maxsize"]
                setattr(module, name, _typed_cache(make(maxsize), value.__wrapped__, maxsize))


def _typed_cache(cache: Any, function: Any, maxsize: Any) -> Any:
    cached = cache(lambda _, /, *arguments, **options: function(*arguments, **options))

    def of_kinds(*arguments: Any, **options: Any) -> Any:
        kinds = tuple(id(type(each)) for each in (*arguments, *options.values()))
        return cached(kinds, *arguments, **options)

    made: Any = functools.update_wrapper(of_kinds, function)
    made.cache_info, made.cache_clear = loose(cached.cache_info), loose(cached.cache_clear)
    made.cache_parameters = lambda: {"maxsize": maxsize, "typed": True}
    return made


def _silence() -> None:
    """What these print, a pattern's parts and calendars, would go to the process, past the output of the program."""
    for module in (abc, calendar, re._compiler, re._parser):  # type: ignore[attr-defined]
        vars(module)["print"] = lambda *_, **__: None


def _hold_what_is_encoded() -> None:
    """Without `check_circular` the encoder only borrows the containers that it is in, and `default` may empty them."""
    library: Any = json.encoder
    make = library.c_make_encoder
    if make is not None:
        library.c_make_encoder = lambda markers, *options: make({} if markers is None else markers, *options)
