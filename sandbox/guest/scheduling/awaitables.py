"""Plain values as awaitables: `await value` returns the value."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator


class Ready:
    """An awaitable with a known value."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._value
        yield


def is_awaitable(value: object) -> bool:
    """Return whether a value can be awaited by itself."""
    if isinstance(value, types.CoroutineType) or hasattr(type(value), "__await__"):
        return True
    return isinstance(value, types.GeneratorType) and bool(value.gi_code.co_flags & _ITERABLE_COROUTINE)


def awaitable(value: Any) -> Any:
    """Return the value if it can be awaited, else an awaitable that returns it."""
    return value if is_awaitable(value) else Ready(value)


async def wrapped(value: Any) -> Any:
    """Await a value in a coroutine, as tasks require."""
    return await value


_ITERABLE_COROUTINE = 0x100
