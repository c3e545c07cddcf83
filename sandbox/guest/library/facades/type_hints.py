"""`typing.get_type_hints`. The language policy compiles text in annotations; the library would run it unchecked."""

from __future__ import annotations

import functools
import inspect
import operator
import types
import typing
from typing import Any

from sandbox.guest.language.compilation import compile_annotation
from sandbox.guest.language.own import is_own, variables

_QUALIFIERS = (typing.Required, typing.NotRequired, getattr(typing, "ReadOnly", typing.Required))


def get_type_hints(obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002  # the library's signature
    """Return the types in the annotations of a class or a function of the program."""
    hints: dict[str, Any] = {}
    for kind in reversed(obj.__mro__) if isinstance(obj, type) else (obj,):
        if is_own(kind):
            hints |= inspect.get_annotations(kind)
    found = {name: _read(hint) for name, hint in hints.items()}
    return {name: hint if include_extras else _plain(hint) for name, hint in found.items()}


def read_hint(text: str) -> Any:
    """Return the type that a text names, or the text if the name is unknown."""
    text = str.__str__(text)
    try:
        return eval(compile_annotation(text), variables())  # noqa: S307  # after the policy
    except Exception:  # noqa: BLE001  # whatever the annotation does
        return text


def _read(hint: Any) -> Any:
    """Return a type whose text, and text in its parts (`Optional["Row"]`), is read."""
    if hint is None:
        return types.NoneType
    if isinstance(hint, str):
        found = read_hint(hint)
        return found if isinstance(found, str) else _read(found)
    if type(hint).__name__ == "ForwardRef":
        found = read_hint(hint.__forward_arg__)
        return hint if isinstance(found, str) else found
    return _with_parts(hint, _read)


def _plain(hint: Any) -> Any:
    """Return `int` for `Annotated[int, ...]`, `Required[int]` and `NotRequired[int]`."""
    if typing.get_origin(hint) is typing.Annotated:
        return _plain(hint.__origin__)
    if typing.get_origin(hint) in _QUALIFIERS:
        return _plain(typing.get_args(hint)[0])
    return _with_parts(hint, _plain)


def _with_parts(hint: Any, change: Any) -> Any:
    """Return a type with each part changed."""
    put_together = _MADE_OF_PARTS.get(type(hint))
    if put_together is None:
        return hint
    parts = tuple(map(change, hint.__args__))
    return hint if all(map(operator.is_, parts, hint.__args__)) else put_together(hint, parts)


#: Functions that rebuild a type of several parts. `Literal` is absent: its parts are values.
_MADE_OF_PARTS: dict[Any, Any] = {
    **{
        type(each): lambda hint, parts: hint.copy_with(parts)
        for each in (typing.List[int], typing.Callable[[int], int], typing.Annotated[int, 0])  # noqa: UP006
    },
    types.GenericAlias: lambda hint, parts: types.GenericAlias(hint.__origin__, parts),
    types.UnionType: lambda hint, parts: functools.reduce(operator.or_, parts),
    type(typing.Optional[int]): lambda hint, parts: typing.Union[parts],  # noqa: UP007, UP045
}
