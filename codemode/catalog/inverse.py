"""The inverse of a call, as operators and authors write it: `members.unfreeze(id=result.id)`.

It is a tool name, with or without namespace, and keyword arguments. An argument is JSON data, a part of the call's
result (`result`, `result.id`, `result["items"][0]`), or one of its arguments (`arguments.member_id`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOTS = ("result", "arguments")


class InverseInvalid(ValueError):
    """The text is not an inverse, or it refers to a missing value."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """A call that undoes another: a tool name, and an expression for each argument."""

    tool: str
    expressions: Mapping[str, ast.expr]

    @classmethod
    def parse(cls, text: str) -> Inverse:
        """Parse the text of an inverse. Raises InverseInvalid."""
        try:
            call = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = f"{text!r} is not a valid expression: write a call such as members.unfreeze(id=result.id)"
            raise InverseInvalid(message) from error
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            message = f"{text!r} must be a call with only keyword arguments, such as members.unfreeze(id=result.id)"
            raise InverseInvalid(message)
        for keyword in call.keywords:
            _check(keyword.value)
        return cls(_dotted(call.func), {str(keyword.arg): keyword.value for keyword in call.keywords})

    def arguments(self, *, result: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the inverse of one call. Raises InverseInvalid if a value is missing."""
        roots = {"result": result, "arguments": arguments}
        return {name: _value(expression, roots) for name, expression in self.expressions.items()}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise InverseInvalid("the call must begin with a tool name, such as members.unfreeze")


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=None | str() | int() | float()):
            return
        case ast.Name(id=name) if name in _ROOTS:
            return
        case ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str() | int())):
            _check(node.value)
        case ast.List() | ast.Dict():
            for item in _items(node):
                _check(item)
        case _:
            message = f"{ast.unparse(node)} must be JSON data or a part of result or arguments"
            raise InverseInvalid(message)


def _items(node: ast.List | ast.Dict) -> list[ast.expr]:
    if isinstance(node, ast.List):
        return node.elts
    if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
        raise InverseInvalid("the keys of an object must be strings")
    return node.values


def _value(node: ast.expr, roots: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return roots[node.id]
        case ast.Attribute():
            return _member(_value(node.value, roots), node.attr, node)
        case ast.Subscript(slice=ast.Constant(value=key)):
            return _member(_value(node.value, roots), key, node)
        case ast.List():
            return [_value(item, roots) for item in node.elts]
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {key.value: _value(item, roots) for key, item in pairs if isinstance(key, ast.Constant)}
    raise AssertionError  # `_check` admits nothing else


def _member(value: Any, key: Any, node: ast.expr) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        message = f"{ast.unparse(node)} does not exist"
        raise InverseInvalid(message) from None
