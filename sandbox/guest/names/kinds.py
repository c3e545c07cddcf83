"""Stand-ins for classes of functions and generators: good for `isinstance` and annotations, and for nothing else."""

from __future__ import annotations

import types
from typing import Any


class _Kind(type):
    """Answers `isinstance(x, FunctionType)` for the real class."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL[cls.__name__])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        message = f"{cls.__name__} makes no objects here"
        raise TypeError(message)

    def __repr__(cls) -> str:
        return f"<class 'types.{cls.__name__}'>"


_REAL: dict[str, Any] = {
    "FunctionType": types.FunctionType,
    "LambdaType": types.LambdaType,
    "GeneratorType": types.GeneratorType,
    "CoroutineType": types.CoroutineType,
    "AsyncGeneratorType": types.AsyncGeneratorType,
    "BuiltinFunctionType": types.BuiltinFunctionType,
    "BuiltinMethodType": types.BuiltinMethodType,
    "ModuleType": types.ModuleType,
    "TracebackType": types.TracebackType,
}

KINDS: dict[str, Any] = {name: _Kind(name, (), {"__module__": "types", "__slots__": ()}) for name in _REAL}
