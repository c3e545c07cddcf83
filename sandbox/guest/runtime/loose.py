"""Functions in the place of methods of ours: a method leads to its object, by `__self__`, which the library reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def loose(method: Any) -> Callable[..., Any]:
    """Return a function that does what a method of an object of ours does."""

    def function(*arguments: Any, **options: Any) -> Any:
        return method(*arguments, **options)

    function.__name__ = function.__qualname__ = method.__name__.lstrip("_")
    return function
