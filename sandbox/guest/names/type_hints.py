"""`typing.get_type_hints`, ours: the library's evaluates text. Ours reads a tree, few kinds of which mean a type.

A name means what the program could write for it; attributes are read by the rules of `getattr`.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import operator
import re
import types
import typing
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.source import SourceRefused, check_nesting
from sandbox.guest.runtime.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.names.scene import Scene

#: Longest annotation that is read.
CHARACTERS = 2_000
_DEPTH = 20


class _NoType(Exception):
    """The text means no type that this reads."""


def type_hints(scene: Scene) -> Callable[..., dict[str, Any]]:
    """Return the function for one program."""

    def get_type_hints(value: Any, *_: Any, include_extras: bool = False, **__: Any) -> dict[str, Any]:
        kinds = reversed(value.__mro__) if isinstance(value, type) else (value,)
        hints: dict[str, Any] = {}
        for kind in kinds:
            if kind in scene.own:
                hints |= scene.access.get(kind, "__annotations__", {})
        found = {name: _read(scene, hint) for name, hint in hints.items()}
        return {name: _hint(hint, include_extras=include_extras) for name, hint in found.items()}

    return get_type_hints


def read_hint(scene: Scene, text: str) -> Any:
    """Return the type that a text means, the text itself where it means none that is known."""
    text = str.__str__(text)
    try:
        if len(text) > CHARACTERS:
            return text
        check_nesting(text, _DEPTH)
        return _type(scene, ast.parse(text.strip(), mode="eval").body)
    except (_NoType, SourceRefused, SyntaxError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return text


def _read(scene: Scene, hint: Any) -> Any:
    """Return a type in whose parts text is read as well: `Optional["Row"]`."""
    if isinstance(hint, str):
        return read_hint(scene, hint)
    if type(hint) is typing.ForwardRef:
        found = read_hint(scene, hint.__forward_arg__)
        return hint if isinstance(found, str) else found
    return _with_parts(hint, functools.partial(_read, scene))


def _with_parts(hint: Any, change: Callable[[Any], Any]) -> Any:
    """Return a type whose parts were changed."""
    put_together = _MADE_OF_PARTS.get(type(hint))
    if put_together is None:
        return hint
    parts = tuple(map(change, hint.__args__))
    return hint if all(map(operator.is_, parts, hint.__args__)) else put_together(hint, parts)


def field_marker(scene: Scene, hint: Any) -> Any:
    """Return what marks a field for `@dataclass` where the text of its annotation names that; else the annotation.

    The library looks the name up in the module of the class, which a program is not.
    """
    found = _MARKER.match(str.__str__(hint)) if isinstance(hint, str) else None
    if found is None:
        return hint
    module, name = found.groups()
    variables = scene.program_globals if module is None else scene.program_globals.get(module)
    if isinstance(variables, Table):
        variables = vars(variables)
    marker = variables.get(name) if type(variables) is dict else None
    return marker if any(marker is each for each in _MARKERS) else hint


#: A name, or one of a module, at the beginning of an annotation.
_MARKER = re.compile(r"\s*(?:(\w+)\s*\.)?\s*(ClassVar|InitVar|KW_ONLY)\b")
_MARKERS = (typing.ClassVar, dataclasses.InitVar, dataclasses.KW_ONLY)


def _type(scene: Scene, node: ast.expr) -> Any:
    rule = _RULES.get(type(node))
    if rule is None:
        raise _NoType
    return rule(scene, node)


def _name(scene: Scene, node: Any) -> Any:
    if node.id.startswith("_") or node.id == "super":
        raise _NoType
    found = scene.program_globals.get(node.id, scene.program_globals["__builtins__"].get(node.id, _MISSING))
    if found is _MISSING:
        raise _NoType
    return found


def _union(scene: Scene, node: Any) -> Any:
    if not isinstance(node.op, ast.BitOr):
        raise _NoType
    return _type(scene, node.left) | _type(scene, node.right)


def _constant(scene: Scene, node: Any) -> Any:
    return read_hint(scene, node.value) if isinstance(node.value, str) else node.value


def _subscript(scene: Scene, node: Any) -> Any:
    origin = _type(scene, node.value)
    if origin is typing.Literal:
        return origin[ast.literal_eval(node.slice)]
    return origin[_type(scene, node.slice)]


def _copy(hint: Any, parts: tuple[Any, ...]) -> Any:
    return hint.copy_with(parts)


#: What a type of several parts is put together again with. Not the words of a Literal.
_MADE_OF_PARTS: dict[Any, Callable[[Any, tuple[Any, ...]], Any]] = {
    **{type(each): _copy for each in (typing.List[int], typing.Callable[[int], int], typing.Annotated[int, 0])},  # noqa: UP006
    types.GenericAlias: lambda hint, parts: types.GenericAlias(hint.__origin__, parts),
    types.UnionType: lambda hint, parts: functools.reduce(operator.or_, parts),
    type(typing.Optional[int]): lambda hint, parts: typing.Union[parts],  # noqa: UP007, UP045
}
_MISSING: Any = object()
_RULES: dict[type, Callable[[Scene, Any], Any]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.BinOp: _union,
    ast.Subscript: _subscript,
    ast.Attribute: lambda scene, node: scene.access.get(_type(scene, node.value), node.attr),
    ast.Tuple: lambda scene, node: tuple(_type(scene, each) for each in node.elts),
    ast.List: lambda scene, node: [_type(scene, each) for each in node.elts],
}


#: What is said of a field beside its type.
_QUALIFIERS = (typing.Required, typing.NotRequired, getattr(typing, "ReadOnly", typing.Required))


def _hint(hint: Any, *, include_extras: bool) -> Any:
    """Return `int` for `Annotated[int, …]`, and for fields that are marked as required or not; a class for None."""
    return types.NoneType if hint is None else hint if include_extras else _plain(hint)


def _plain(hint: Any) -> Any:
    if typing.get_origin(hint) is typing.Annotated:
        return _plain(hint.__origin__)
    if typing.get_origin(hint) in _QUALIFIERS:
        return _plain(typing.get_args(hint)[0])
    return _with_parts(hint, _plain)
