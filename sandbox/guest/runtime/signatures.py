"""`inspect.signature` from functions alone: the library also reads it out of texts, and evaluates what they name."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.guest.runtime.bare import names_of, order_of

if TYPE_CHECKING:
    from sandbox.guest.runtime.own import OwnClasses

#: Wrappers that are followed to what they wrap.
_MOST_WRAPPERS = 50
#: What `functools.lru_cache` makes of a function. Programs cannot write its attributes.
_Cached = functools._lru_cache_wrapper


def signature_of(value: Any, own: OwnClasses) -> inspect.Signature:
    """Return the signature of a function, method, class or callable object of the program. Raises ValueError."""
    value = _unwrapped(value, own)
    bare = _bare(value, own)
    if bare is not None:
        return inspect.signature(bare)
    if own.is_class(value):
        return inspect.Signature()
    if isinstance(value, type) and not any(own.is_class(base) for base in value.__mro__):
        return inspect.signature(value)
    message = f"no signature found for {value!r}"
    raise ValueError(message)


class FullArgSpec(NamedTuple):
    """What `inspect.getfullargspec` gives."""

    args: list[str]
    varargs: str | None
    varkw: str | None
    defaults: tuple[Any, ...] | None
    kwonlyargs: list[str]
    kwonlydefaults: dict[str, Any] | None
    annotations: dict[str, Any]


def full_argument_specification(signature: inspect.Signature) -> FullArgSpec:
    """Return a signature in the older form."""
    parameters = list(signature.parameters.values())
    kinds = inspect.Parameter
    positional = [each for each in parameters if each.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    keyword = [each for each in parameters if each.kind is kinds.KEYWORD_ONLY]
    annotations = {each.name: each.annotation for each in parameters if each.annotation is not each.empty}
    if signature.return_annotation is not signature.empty:
        annotations["return"] = signature.return_annotation
    return FullArgSpec(
        args=[each.name for each in positional],
        varargs=next((each.name for each in parameters if each.kind is kinds.VAR_POSITIONAL), None),
        varkw=next((each.name for each in parameters if each.kind is kinds.VAR_KEYWORD), None),
        defaults=tuple(each.default for each in positional if each.default is not each.empty) or None,
        kwonlyargs=[each.name for each in keyword],
        kwonlydefaults={each.name: each.default for each in keyword if each.default is not each.empty} or None,
        annotations=annotations,
    )


def _unwrapped(value: Any, own: OwnClasses) -> Any:
    """Follow `functools.wraps` and `functools.lru_cache` to the function that was decorated."""
    for _ in range(_MOST_WRAPPERS):
        is_wrapper = type(value) is _Cached or (type(value) is FunctionType and own.is_function(value))
        wrapped = value.__dict__.get("__wrapped__") if is_wrapper else None
        if wrapped is None:
            break
        value = wrapped
    return value


def _bare(value: Any, own: OwnClasses) -> Any:
    """Return a function, method or partial like this one, without attributes that could lead the library elsewhere."""
    if type(value) is functools.partial:
        inner = _bare(_unwrapped(value.func, own), own)
        return None if inner is None else functools.partial(inner, *value.args, **value.keywords)
    if type(value) is MethodType:
        function = _unwrapped(value.__func__, own)
        return _bound(function) if type(function) is FunctionType and own.is_function(function) else None
    if type(value) is FunctionType:
        return _copy(value) if own.is_function(value) else None
    if own.is_class(value):
        return _bound(_defined(value, "__init__", own) or _defined(value, "__new__", own))
    return _bound(_defined(type(value), "__call__", own)) if own.is_instance(value) else None


def _defined(kind: type, name: str, own: OwnClasses) -> Any:
    """Return the function that a class of the program, or a decorator for it, defines under a name."""
    for base in order_of(kind):
        found = names_of(base).get(name)
        if found is not None and base is not object:
            found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
            return found if own.is_class(base) and type(found) is FunctionType else None
    return None


def _bound(function: Any) -> Any:
    return None if function is None else MethodType(_copy(function), object())


def _copy(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__qualname__ = function.__qualname__
    return made
