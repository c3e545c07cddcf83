"""Argument checks of the Python API: a value of the wrong type is rejected at the call, not from within."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from numbers import Integral, Real
from types import NoneType
from typing import Any, TypeVar, cast

from codemode.errors import WrongArgument
from codemode.text.nearest import did_you_mean

Method = TypeVar("Method", bound=Callable[..., Any])

#: Characters of a value shown in a message.
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """What a parameter accepts: `says` describes it, `fits` checks a value, and `hint` says how to fix a wrong one.

    A secret value is not shown.
    """

    says: str
    fits: Callable[[Any], bool]
    hint: Callable[[Any], str] = lambda _: ""
    is_secret: bool = False


def takes(**kinds: Kind) -> Callable[[Method], Method]:
    """Check parameters of a method. The method raises WrongArgument before it does anything else."""

    def decorate(method: Method) -> Method:
        check = partial(_check, method, inspect.signature(method), kinds)

        @wraps(method)
        def checked(*positional: Any, **named: Any) -> Any:
            check(positional, named)
            return method(*positional, **named)

        @wraps(method)
        async def checked_first(*positional: Any, **named: Any) -> Any:
            check(positional, named)
            return await method(*positional, **named)

        return cast("Method", checked_first if inspect.iscoroutinefunction(method) else checked)

    return decorate


def _check(
    method: Callable[..., Any],
    signature: inspect.Signature,
    kinds: Mapping[str, Kind],
    positional: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    try:
        arguments = signature.bind(*positional, **named).arguments
    except TypeError:
        return  # the call itself raises a clearer TypeError
    for name, kind in kinds.items():
        if name in arguments and not kind.fits(arguments[name]):
            value = arguments[name]
            shown = "the given value" if kind.is_secret else repr(value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            hint = kind.hint(value)
            message = f"{method.__qualname__}: {name} must be {kind.says}, not {shown} ({type(value).__name__})"
            raise WrongArgument(f"{message}; {hint}" if hint else message)


def instance(kind: type, hints: Mapping[type, str], *, is_optional: bool = False) -> Kind:
    """Return the kind of instances of a class, and None if it is optional."""
    types = (kind, NoneType) if is_optional else kind
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    says = f"{article} {kind.__name__}{' or None' if is_optional else ''}"
    return Kind(says, lambda value: isinstance(value, types), _by_type(hints))


def one_of(*values: str | None) -> Kind:
    """Return the kind of a few allowed texts."""
    texts = [value for value in values if value is not None]
    said = " or ".join(map(repr, values))
    return Kind(said, lambda value: value in values, lambda value: did_you_mean(str(value), texts).removeprefix("; "))


def _by_type(hints: Mapping[type, str]) -> Callable[[Any], str]:
    return lambda value: next((hint for kind, hint in hints.items() if isinstance(value, kind)), "")


def are_named(value: Any) -> bool:
    """Return whether a value is a dict with text keys, or None."""
    return value is None or (isinstance(value, Mapping) and all(isinstance(name, str) for name in value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or _are_many_texts(value)


def _are_many_texts(value: Any) -> bool:
    is_many = isinstance(value, Collection) and not isinstance(value, (str, bytes, bytearray, Mapping))
    return is_many and all(isinstance(each, str) for each in value)


def _are_secrets(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)


def is_path(value: Any) -> bool:
    """Return whether a value can be the path of a file."""
    return isinstance(value, (str, os.PathLike)) and isinstance(os.fspath(value), str) and "\0" not in os.fspath(value)


_DECODED: dict[type, str] = {bytes: "decode it first"}
_LEFT_OUT: dict[type, str] = {NoneType: "leave it out for none"}

TEXT = Kind("a str", lambda value: isinstance(value, str), _by_type(_DECODED))
MAYBE_TEXT = Kind("a str or None", lambda value: value is None or isinstance(value, str), _by_type(_DECODED))
TEXTS = Kind("a str or a list of them", _are_texts, _by_type(_DECODED))
LIST_OF_TEXTS = Kind("a list of texts", _are_many_texts, _by_type({str: "put it into a list", **_LEFT_OUT}))
COUNT = Kind(
    "an int",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    _by_type({str: "convert it with int()", NoneType: "leave it out for the default"}),
)
SECONDS = Kind("a number of seconds", lambda value: isinstance(value, Real) and not isinstance(value, bool))
FLAG = Kind("True or False", lambda value: isinstance(value, bool))
FUNCTION = Kind("a function", callable, _by_type(_LEFT_OUT))
MAPPING = Kind("a dict", lambda value: isinstance(value, Mapping), _by_type(_LEFT_OUT))
SECRETS = Kind("a dict of texts by name", _are_secrets, _by_type(_LEFT_OUT), is_secret=True)
MESSAGES = Kind(
    "a list",
    lambda value: isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)),
    _by_type({str: "put it into a list", Mapping: "put it into a list", **_LEFT_OUT}),
)
PATH = Kind("the path of a file, a str or a Path", is_path, _by_type(_DECODED))
