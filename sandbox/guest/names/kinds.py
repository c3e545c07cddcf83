"""Stand-ins for classes: good for `isinstance` and annotations, and to make what they are told to make."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.shown_as import SHOWN_AS

if TYPE_CHECKING:
    from collections.abc import Callable


class _Kind(type):
    """Answers `isinstance(x, FunctionType)` for the real class."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, REAL[cls][0])

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, REAL[cls][0])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = REAL[cls][1]
        if make is not None:
            return make(*args, **kwargs)
        message = f"{cls.__name__} makes no objects here"
        raise TypeError(message)

    def __getitem__(cls, item: Any) -> Any:
        return types.GenericAlias(cls, item)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


#: By stand-in: the class that it stands for, and what makes an object of it.
REAL: dict[type, tuple[Any, Callable[..., Any] | None]] = {}


def stand_in(name: str, module: str, real: type, *, make: Callable[..., Any] | None = None) -> type:
    """Return a class that stands for another. `make` is called where the program calls it."""
    made = _Kind(name, (), {"__module__": module, "__slots__": ()})
    REAL[made] = (real, make)
    return made


_NAMES = """
    FunctionType LambdaType GeneratorType CoroutineType AsyncGeneratorType BuiltinFunctionType BuiltinMethodType
    ModuleType TracebackType
"""

SHOWN_AS[super] = stand_in("super", "builtins", super)

KINDS: dict[str, Any] = {name: stand_in(name, "types", getattr(types, name)) for name in _NAMES.split()}
