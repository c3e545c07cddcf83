"""From Python values to JSON: the result of a program, and the arguments of its calls."""

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
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.plain_json import dumps
from sandbox.protocol.strict_json import InvalidJson, check_depth, check_shape, encode, weight

if TYPE_CHECKING:
    from collections.abc import Callable

#: Items taken from an iterator that is part of a result. An endless one is reported.
MOST_ITEMS = 1_000_000
#: Kinds of objects that are there to be called; `tools` adds its own.
CALLED: set[type] = set()
ARGUMENT_DEPTH = 64


class ValueInvalid(Exception):
    """A value cannot be returned as JSON. The message names the place in it and what to do."""


class ArgumentInvalid(Exception):
    """An argument of a call is not JSON data. The message names it and what to write."""


# --- results -------------------------------------------------------------------------------------------------------


def encode_result(value: Any, *, limit_bytes: int, limit_depth: int, has_named_tuples: bool) -> bytes:
    """Return the JSON of a program's value. Raises ValueInvalid.

    Plain JSON data is encoded as it is. A value is walked only if it holds something else, or if it may hold named
    tuples, which the standard library encodes as lists.
    """
    may_be_plain = not has_named_tuples and type(value) not in (int, float)
    encoded = dumps(value, limit_depth) if may_be_plain else None
    if encoded is not None:
        data, size = encoded.data, weight(*encoded)
    else:
        plain = None if has_named_tuples else encode_plain(value)
        data = _dump(_Plain(limit_depth).of(value, "result")) if plain is None else plain
        size = weight(data)
        try:
            check_depth(data, limit_depth)
        except InvalidJson as error:
            message = f"the result is {error}"
            raise ValueInvalid(message) from None
    if size > limit_bytes:
        message = f"the result has {size:,} bytes as JSON, {limit_bytes:,} are allowed: return less of it"
        raise ValueInvalid(message)
    return data


def encode_plain(value: Any) -> bytes | None:
    """Return JSON data as JSON, None for any other value."""
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
    """Turns a value into JSON data, and knows at each step where in the result it is."""

    def __init__(self, limit_depth: int) -> None:
        self._limit = limit_depth
        self._open: set[int] = set()

    def of(self, value: Any, path: str) -> Any:
        """Return the JSON data of a value at a path like `result.items[3]`. Raises ValueInvalid."""
        if isinstance(value, enum.Enum):
            return self.of(value.value, path)
        plain = _scalar(value)
        if plain is not _NO_SCALAR:
            return plain
        if id(value) in self._open:
            message = f"{path} holds itself: a result must be a tree"
            raise ValueInvalid(message)
        if len(self._open) >= self._limit:
            message = f"{path} is nested more than {self._limit} deep"
            raise ValueInvalid(message)
        self._open.add(id(value))
        try:
            return self._container(value, path)
        finally:
            self._open.discard(id(value))

    def _container(self, value: Any, path: str) -> Any:
        if isinstance(value, Mapping | types.MappingProxyType):
            return {_key(key, path): self.of(item, _inside(path, key)) for key, item in value.items()}
        fields = _fields(value)
        if fields is not None:
            return {name: self.of(item, f"{path}.{name}") for name, item in fields}
        if isinstance(value, Set) and not isinstance(value, KeysView | ItemsView):
            return sorted([self.of(item, f"{path}[…]") for item in value], key=_sort_key)
        if not isinstance(value, Iterator | Sequence | deque | KeysView | ValuesView | ItemsView):
            raise ValueInvalid(_not_data(value, path))
        found = []
        for index, item in enumerate(value):
            if index >= MOST_ITEMS and isinstance(value, Iterator):
                message = f"{path} is an iterator with more than {MOST_ITEMS:,} items: return a list of what is needed"
                raise ValueInvalid(message)
            found.append(self.of(item, f"{path}[{index}]"))
        return found


_NO_SCALAR: Any = object()
_TEXTS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (datetime.timedelta, lambda value: value.total_seconds()),
    ((decimal.Decimal, fractions.Fraction, uuid.UUID, datetime.tzinfo), str),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network), str),
    ((bytes, bytearray), lambda value: value.decode("latin-1")),
    (complex, repr),
    (BaseException, lambda value: f"{type(value).__name__}: {value}"),
)


def _scalar(value: Any) -> Any:
    """Return the JSON data of a value that holds no others."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    return next((convert(value) for kinds, convert in _TEXTS if isinstance(value, kinds)), _NO_SCALAR)


def _fields(value: Any) -> Iterable[tuple[str, Any]] | None:
    """Return names and values of a dataclass, a named tuple or a SimpleNamespace."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(type(value), "_fields"):
        names: Any = getattr(value, "_fields", ())
        return zip(names, value, strict=False)
    return vars(value).items() if isinstance(value, types.SimpleNamespace) else None


def _key(key: Any, path: str) -> str:
    """Return the text of a dict key, as `json.dumps` writes it."""
    if isinstance(key, enum.Enum):
        return _key(key.value, path)
    plain = _scalar(key)
    if isinstance(plain, str):
        return plain
    if plain is not _NO_SCALAR:
        return json.dumps(plain)
    if isinstance(key, tuple | frozenset):
        return json.dumps(_Plain(8).of(key, path))
    message = f"{path} has a key that is a {type(key).__name__}: use text as keys"
    raise ValueInvalid(message)


def _inside(path: str, key: Any) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r:.60}]"


def _sort_key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _not_data(value: Any, path: str) -> str:
    if isinstance(value, types.CoroutineType):
        return f"{path} is a coroutine that was not awaited: write `await` in front of the call"
    if hasattr(type(value), "__await__"):
        return f"{path} was not awaited: write `await` in front of it"
    if isinstance(value, type):
        return f"{path} is the class {value.__name__}, which is not data"
    if type(value) in CALLED:
        return f"{path} is {value!r}, which is not data: call it"
    if callable(value) and hasattr(value, "__name__"):
        return f"{path} is the function {value.__name__}, which is not data: call it"
    return f"{path} is a {type(value).__name__}, which is not data: return a dict, a list, text or a number"


# --- arguments -----------------------------------------------------------------------------------------------------


def encode_arguments(arguments: dict[str, Any]) -> bytes:
    """Return the JSON of the current arguments of a call. Raises ArgumentInvalid."""
    try:
        data = encode(arguments, held=True)
        check_shape(data, depth=ARGUMENT_DEPTH, digits=100)
    except (TypeError, InvalidJson) as error:
        for name, value in arguments.items():
            _check_argument(name, value, name)
        message = f"the arguments cannot be sent: {error}"
        raise ArgumentInvalid(message) from None
    return data


def encode_data_arguments(arguments: dict[str, Any]) -> bytes:
    """Return the JSON of the arguments of a function that takes what a result may be. Raises ArgumentInvalid."""
    try:
        return encode_arguments({name: _Plain(ARGUMENT_DEPTH).of(value, name) for name, value in arguments.items()})
    except ValueInvalid as error:
        raise ArgumentInvalid(str(error)) from None


def _check_argument(name: str, value: Any, path: str, depth: int = 0) -> None:
    """Find what is not JSON data, and say what to write instead."""
    if depth > ARGUMENT_DEPTH:
        message = f"{name} is nested more than {ARGUMENT_DEPTH} deep"
        raise ArgumentInvalid(message)
    if isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_argument(name, item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        message = f"{path} is {value}, which JSON cannot carry"
        raise ArgumentInvalid(message)
    elif not (value is None or isinstance(value, str | int | float)):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        kind = kind.removeprefix("builtins.").removeprefix("__main__.")
        hint = next((f"; {hint}" for is_meant, hint in _INSTEAD if is_meant(value)), "")
        message = f"{path} must be JSON data (text, number, list, dict), given a {kind}{hint}"
        raise ArgumentInvalid(message)


_INSTEAD: list[tuple[Callable[[Any], bool], str]] = [
    (lambda value: isinstance(value, datetime.date | datetime.time), "use .isoformat()"),
    (lambda value: isinstance(value, datetime.timedelta), "use .total_seconds()"),
    (lambda value: isinstance(value, decimal.Decimal | fractions.Fraction), "use str(...) or float(...)"),
    (lambda value: isinstance(value, enum.Enum), "use .value"),
    (
        lambda value: isinstance(value, bytes | bytearray),
        "use .decode() for text, base64.b64encode(...).decode() for other bytes",
    ),
    (lambda value: hasattr(type(value), "__iter__"), "use list(...)"),
    (dataclasses.is_dataclass, "use dataclasses.asdict(...)"),
    (lambda value: hasattr(type(value), "__await__"), "it was not awaited"),
]
