"""`gc`, and what `weakref` keeps for all programs: when memory is freed follows from the program alone.

A program that speaks of `weakref` or `__del__` runs without the collector: things go when the last reference does.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.names.scene import Scene


def _gc(scene: Scene) -> dict[str, Any]:
    switched = {"on": True}

    def collect(generation: int = 2) -> int:
        gc.collect()
        return 0  # what the sandbox itself leaves behind is nobody's business

    return {
        "collect": collect,
        "enable": lambda: switched.update(on=True),
        "disable": lambda: switched.update(on=False),
        "isenabled": lambda: switched["on"],
    }


def _weakref(scene: Scene) -> dict[str, Any]:
    waiting: set[Any] = set()

    @handed_out
    class finalize:  # noqa: N801  # the library's name
        """Calls a function when an object goes. Not at the end of the program: then everything goes unheard."""

        __slots__ = ("_call", "_reference")

        def __init__(self, obj: Any, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
            self._call: Any = (func, args, kwargs)
            self._reference = weakref.ref(obj, lambda _: self())
            waiting.add(self)

        def __call__(self, _: Any = None) -> Any:
            waiting.discard(self)
            call, self._call = self._call, None
            return None if call is None else call[0](*call[1], **call[2])

        @property
        def alive(self) -> bool:
            """Whether the function is still to be called."""
            return self._call is not None

        def detach(self) -> Any:
            """Give up, and return the object, function and arguments."""
            waiting.discard(self)
            call, self._call = self._call, None
            return None if call is None else (self._reference(), *call)

        def peek(self) -> Any:
            """Return the object, function and arguments."""
            return None if self._call is None else (self._reference(), *self._call)

    return {"finalize": finalize}


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {"gc": _gc, "weakref": _weakref}
