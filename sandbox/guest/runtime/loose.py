"""Functions in the place of methods that are not the program's.

A method leads to its object, by `__self__`, which the library reads; and to its function: where it is compared with a
method around an object of the program, this is asked whether it equals that function, which takes any object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.guest.language.variables import is_dunder

if TYPE_CHECKING:
    from collections.abc import Callable


def loose(method: Any) -> Callable[..., Any]:
    """Return a function that does what a method does."""

    def function(*arguments: Any, **options: Any) -> Any:
        return method(*arguments, **options)

    name = getattr(method, "__name__", "method")
    function.__name__ = function.__qualname__ = name if is_dunder(name) else name.lstrip("_")
    return function
