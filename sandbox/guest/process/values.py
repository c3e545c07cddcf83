"""From values of Python to JSON: what a program returns, and the arguments of its calls."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import math
import types
import uuid
from collections import deque
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from typing import TYPE_CHECKING, Any, cast

from sandbox.guest.process.plain_json import PlainEncoder
from sandbox.protocol.strict_json import InvalidJson, check_depth, check_shape, encode, weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Items of an iterator that is returned; one that never ends is cut off with an error.
MOST_ITEMS = 1_000_000
#: Kinds of objects that are there to be called; `tools` adds its own.
CALLED: set[type] = set()
ARGUMENT_DEPTH = 64


class ValueInvalid(Exception):
    """A value cannot be given back as JSON; the message names the place in it and what to do."""


class ArgumentInvalid(Exception):
    """An argument of a call is not JSON data; the message names it and what to write."""


# --- results -------------------------------------------------------------------------------------------------------


def encode_result(value: Any, *, limit_bytes: int, limit_depth: int, has_named_tuples: bool) -> bytes:
    """Return the JSON of a program's value. Raises ValueInvalid.

    JSON data goes through an encoder as it is. Only when that meets something else, or when the program may hold
    named tuples (which the standard library's takes for lists), is the value walked.
    """
    encoder = PlainEncoder()
    kind = type(value)
    is_number = kind is int or kind is float  # which the first encoder leaves to the second
    data = None if has_named_tuples or is_number else encoder.dumps(value, limit_depth)
    if data is None:
        data = None if has_named_tuples else encode_plain(value)
        if data is None:
            data = _dump(_Plain(limit_depth).of(value, "result"))
        _check_depth(data, limit_depth)  # what was just encoded is sound in all else
        encoder.brackets = None
    size = weight(data, encoder.brackets)
    if size > limit_bytes:
        message = f"the result has {size:,} bytes as JSON, {limit_bytes:,} are allowed: return less of it"
        raise ValueInvalid(message)
    return data


def _check_depth(data: bytes, limit_depth: int) -> None:
    try:
        check_depth(data, limit_depth)
    except InvalidJson as error:
        message = f"the result is {error}"
        raise ValueInvalid(message) from None


def encode_plain(value: Any) -> bytes | None:
    """Return JSON data as JSON, None for what is something else."""
    try:
        return encode(value, held=True)
    except (TypeError, ValueError):
        return None


def _dump(value: Any) -> bytes:
    try:
        return encode(value)
    except InvalidJson as error:
        is_long = str(error).startswith("Exceeds the limit")
        why = "a number in it has more than 4,300 digits: give it as text, with str()" if is_long else error
        message = f"the result cannot be given back: {why}"
        raise ValueInvalid(message) from None


class _Plain:
    """Turns a value into JSON data, knowing at each step where in the result it is."""

    def __init__(self, limit_depth: int) -> None:
        self._limit = limit_depth
        self._open: set[int] = set()

    def of(self, value: Any, path: str) -> Any:
        """Return the JSON data of a value at a path like `result.items[3]`."""
        if value is None or value is True or value is False or type(value) is str or type(value) is int:
            return value
        if isinstance(value, enum.Enum):
            return self.of(value.value, path)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else repr(float(value))
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int(value)
        text = _as_text(value)
        return text if text is not None else self._container(value, path)

    def _container(self, value: Any, path: str) -> Any:
        if id(value) in self._open:
            message = f"{path} holds itself: a result must be a tree"
            raise ValueInvalid(message)
        if len(self._open) >= self._limit:
            message = f"{path} is nested more than {self._limit} deep"
            raise ValueInvalid(message)
        self._open.add(id(value))
        try:
            return self._open_container(value, path)
        finally:
            self._open.discard(id(value))

    def _open_container(self, value: Any, path: str) -> Any:
        if isinstance(value, Mapping | types.MappingProxyType):
            return {_key(key, path): self.of(item, _inside(path, key)) for key, item in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return {name: self.of(getattr(value, name), f"{path}.{name}") for name in names}
        if isinstance(value, tuple) and hasattr(type(value), "_fields"):
            return {
                name: self.of(item, f"{path}.{name}") for name, item in zip(_field_names(value), value, strict=False)
            }
        if isinstance(value, types.SimpleNamespace):
            return {name: self.of(item, f"{path}.{name}") for name, item in vars(value).items()}
        if isinstance(value, Set) and not isinstance(value, KeysView | ItemsView):
            return sorted([self.of(item, f"{path}[…]") for item in value], key=_sort_key)
        if isinstance(value, _SEQUENCES):
            return [self.of(item, f"{path}[{index}]") for index, item in enumerate(cast("Any", value))]
        if isinstance(value, Iterator | Sequence):
            return self._iterated(value, path)
        raise ValueInvalid(_not_data(value, path))

    def _iterated(self, value: Iterable[Any], path: str) -> list[Any]:
        found = []
        for index, item in enumerate(value):
            if index >= MOST_ITEMS:
                message = f"{path} is an iterator with more than {MOST_ITEMS:,} items: return a list of what is needed"
                raise ValueInvalid(message)
            found.append(self.of(item, f"{path}[{index}]"))
        return found


_SEQUENCES: tuple[type, ...] = (
    list,
    tuple,
    deque,
    range,
    KeysView,
    ValuesView,
    ItemsView,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)

_TEXTS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (datetime.date, lambda value: value.isoformat()),
    (datetime.time, lambda value: value.isoformat()),
    (datetime.timedelta, lambda value: value.total_seconds()),
    ((decimal.Decimal, fractions.Fraction, uuid.UUID, datetime.tzinfo), str),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network), str),
    ((bytes, bytearray), lambda value: value.decode("latin-1")),
    (complex, repr),
    (BaseException, lambda value: f"{type(value).__name__}: {value}"),
)


def _field_names(value: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = value._fields
    return names


def _as_text(value: Any) -> Any:
    for kinds, convert in _TEXTS:
        if isinstance(value, kinds):
            return convert(value)
    return None


def _key(key: Any, path: str) -> str:
    """Return the text of a dict's key, as `json.dumps` writes it."""
    if isinstance(key, enum.Enum):
        return _key(key.value, path)
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bool) or key is None:
        return json.dumps(key)
    if isinstance(key, int):
        return str(int(key))
    if isinstance(key, float):
        return repr(float(key))
    text = _as_text(key)
    if text is not None:
        return str(text)
    if isinstance(key, tuple | frozenset):
        return json.dumps(_Plain(8).of(key, path))
    message = f"{path} has a key that is a {type(key).__name__}: use text as keys"
    raise ValueInvalid(message)


def _inside(path: str, key: Any) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r:.60}]"


def _sort_key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _not_data(value: Any, path: str) -> str:
    kind = type(value).__name__
    if isinstance(value, types.CoroutineType):
        return f"{path} is a coroutine that was not awaited: write `await` in front of the call"
    if hasattr(type(value), "__await__"):
        return f"{path} was not awaited: write `await` in front of it"
    if isinstance(value, type):
        return f"{path} is the class {value.__name__}, which is not data"
    if type(value) not in CALLED and callable(value) and hasattr(value, "__name__"):
        return f"{path} is the function {value.__name__}, which is not data: call it"
    if type(value) in CALLED:
        return f"{path} is {value!r}, which is not data: call it"
    return f"{path} is a {kind}, which is not data: return a dict, a list, text or a number"


# --- arguments -----------------------------------------------------------------------------------------------------


def encode_arguments(arguments: dict[str, Any]) -> bytes:
    """Return the JSON of a call's arguments, as they are at this moment. Raises ArgumentInvalid."""
    try:
        data = encode(arguments, held=True)
        check_shape(data, depth=ARGUMENT_DEPTH, digits=100)
    except (TypeError, InvalidJson):
        for name, value in arguments.items():
            _check_argument(name, value, name)
        data = _encode_argument_again(arguments)
    return data


def _encode_argument_again(arguments: dict[str, Any]) -> bytes:
    try:
        data = encode(arguments, held=True)
        check_shape(data, depth=ARGUMENT_DEPTH, digits=100)
    except (TypeError, InvalidJson) as error:
        message = f"the arguments cannot be sent: {error}"
        raise ArgumentInvalid(message) from None
    return data


def _check_argument(name: str, value: Any, path: str, depth: int = 0) -> None:
    """Find what is not JSON data, and say what to write instead."""
    if depth > ARGUMENT_DEPTH:
        message = f"{name} is nested more than {ARGUMENT_DEPTH} deep"
        raise ArgumentInvalid(message)
    if isinstance(value, dict):
        for key, item in value.items():
            _check_argument(name, item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_argument(name, item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        message = f"{path} is {value}, which JSON cannot carry"
        raise ArgumentInvalid(message)
    elif not (value is None or isinstance(value, str | int | float)):
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.").removeprefix(
            "__main__."
        )
        message = f"{path} must be JSON data (text, number, list, dict), given a {kind}{_instead(value)}"
        raise ArgumentInvalid(message)


def _instead(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return "; use .isoformat()"
    if isinstance(value, datetime.timedelta):
        return "; use .total_seconds()"
    if isinstance(value, decimal.Decimal | fractions.Fraction):
        return "; use str(...) or float(...)"
    if isinstance(value, enum.Enum):
        return "; use .value"
    if isinstance(value, bytes | bytearray):
        return "; use .decode() for text, base64.b64encode(...).decode() for other bytes"
    if isinstance(value, set | frozenset | types.GeneratorType | Iterator) or hasattr(type(value), "__iter__"):
        return "; use list(...)"
    if dataclasses.is_dataclass(value):
        return "; use dataclasses.asdict(...)"
    if hasattr(type(value), "__await__"):
        return "; it was not awaited"
    return ""
