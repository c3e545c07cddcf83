"""Values in the place of awaitables: awaiting a plain value gives the value."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator


class Ready:
    """An awaitable that has its value already."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._value
        yield


def is_awaitable(value: object) -> bool:
    """Tell whether `await value` is something else than the value."""
    if isinstance(value, types.CoroutineType) or hasattr(type(value), "__await__"):
        return True
    return isinstance(value, types.GeneratorType) and bool(value.gi_code.co_flags & _ITERABLE_COROUTINE)


def awaitable(value: Any) -> Any:
    """Return the value itself if it can be awaited, else an awaitable that gives it."""
    return value if is_awaitable(value) else Ready(value)


async def wrapped(value: Any) -> Any:
    """Await a value in a coroutine, which is what a task takes."""
    return await value


_ITERABLE_COROUTINE = 0x100
