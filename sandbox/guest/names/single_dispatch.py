"""`functools.singledispatch`, ours: the library's keeps what it was given where every program would find it."""

from __future__ import annotations

import functools
import types
import typing
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.handed_out import handed_out
from sandbox.guest.runtime.types_seen import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable


@handed_out
class SingleDispatch:
    """A function that chooses by the class of its first argument. Registered by class, or by annotation."""

    #: What is told of the function that is dispatched (`__name__`, `__doc__` …) stands in the dict.
    __slots__ = ("__dict__", "_choices", "_function", "_get", "_hint")

    def __init__(self, function: Any, get: Callable[[Any, str], Any], hint: Callable[[str], Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        #: Shows of the classes above another what a program may see: it is asked about them.
        self._get = get
        #: Reads an annotation that is text.
        self._hint = hint
        #: By the identity of a class: a key of the program's would be asked whether it equals any class above another.
        self._choices: dict[int, tuple[Any, Any]] = {id(object): (object, function)}

    @property
    def registry(self) -> Any:
        """The functions by class, as they are now."""
        return types.MappingProxyType(dict(self._choices.values()))

    def register(self, kind: Any, function: Any = None) -> Any:
        """Register a function for a class; as a decorator with the class, or with an annotated function."""
        kinds = _classes(kind)
        if function is None and not all(isinstance(each, type) for each in kinds):
            function, kinds = kind, _classes(self._first_annotation(kind))
        if not all(isinstance(each, type) for each in kinds):
            raise TypeError("register() needs a class here: write @function.register(int)")
        if function is None:
            return lambda function: self.register(kind, function)
        for each in kinds:
            self._choices[id(each)] = (each, function)
        return function

    def _first_annotation(self, function: Any) -> Any:
        annotations = getattr(function, "__annotations__", {})
        first = next((value for name, value in annotations.items() if name != "return"), "")
        first = self._hint(first) if isinstance(first, str) else first
        return type(None) if first is None else first

    def dispatch(self, kind: type) -> Any:
        """Return the function for a class: that of the nearest class above it, or of what that is counted below."""
        for base in self._get(kind, "__mro__")[:-1]:
            if id(base) in self._choices:
                return self._choices[id(base)][1]
            if (found := self._counted_above(base)) is not None:
                return self._choices[id(found)][1]
        return self._choices[id(object)][1]

    def _counted_above(self, kind: type) -> type | None:
        """Return the lowest of the abstract classes that a class, and none that it inherits from, is counted below."""
        lowest: type | None = None
        bases = self._get(kind, "__bases__")
        for each, _ in list(self._choices.values()):
            begins = issubclass(kind, each) and not any(issubclass(base, each) for base in bases)
            if begins and (lowest is None or not issubclass(lowest, each)):
                if lowest is not None and not issubclass(each, lowest):
                    message = f"Ambiguous dispatch: {lowest} or {each}"
                    raise RuntimeError(message)
                lowest = each
        return lowest

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for the class of the first argument."""
        if not args:
            name = getattr(self._function, "__name__", "singledispatch function")
            message = f"{name} requires at least 1 positional argument"
            raise TypeError(message)
        return self.dispatch(kind_of(args[0]))(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


@handed_out
class SingleDispatchMethod:
    """A method that chooses by the class of its first argument after `self`."""

    __slots__ = ("__isabstractmethod__", "_choose", "_function")

    def __init__(self, function: Any, get: Callable[[Any, str], Any], hint: Callable[[str], Any]) -> None:
        self._function = function
        self.__isabstractmethod__ = getattr(function, "__isabstractmethod__", False)
        self._choose = SingleDispatch(function, get, hint)

    def register(self, kind: Any, function: Any = None) -> Any:
        """Register a method for a class."""
        return self._choose.register(kind, function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            function = self._choose.dispatch(kind_of(args[0]))
            bind = getattr(type(function), "__get__", None)  # a class has that of its objects
            return (function if bind is None else bind(function, instance, owner))(*args, **kwargs)

        made: Any = functools.update_wrapper(call, self._function)
        made.register = self.register
        return made


def _classes(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
