"""The inverse of a call, as the operator or an author writes it: `members.unfreeze(id=result.id)`.

A name of a tool, with or without its namespace, and keyword arguments: JSON data, or a place in what the call gave
(`result`, `result.id`, `result["items"][0]`) or in what it was given (`arguments.member_id`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOTS = ("result", "arguments")


class InverseInvalid(ValueError):
    """The text is no inverse, or what it names is not there; the message says what."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """A call that takes another one back: the name of a tool, and what its arguments are made of."""

    tool: str
    expressions: Mapping[str, ast.expr]

    @classmethod
    def parse(cls, text: str) -> Inverse:
        """Raises InverseInvalid."""
        try:
            call = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = f"{text!r} is not read: write it as in members.unfreeze(id=result.id)"
            raise InverseInvalid(message) from error
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            message = f"{text!r} is no call with keyword arguments alone, as members.unfreeze(id=result.id) is"
            raise InverseInvalid(message)
        for keyword in call.keywords:
            _check(keyword.value)
        return cls(_dotted(call.func), {str(keyword.arg): keyword.value for keyword in call.keywords})

    def arguments(self, *, result: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments for one call that was made. Raises InverseInvalid for a place that is not there."""
        roots = {"result": result, "arguments": arguments}
        return {name: _value(expression, roots) for name, expression in self.expressions.items()}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise InverseInvalid("what is called is the name of a tool")


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=None | str() | int() | float()):
            return
        case ast.Name(id=name) if name in _ROOTS:
            return
        case ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str() | int())):
            _check(node.value)
        case ast.List() | ast.Dict():
            for part in _parts(node):
                _check(part)
        case _:
            message = f"{ast.unparse(node)} is neither JSON data nor a place in result or arguments"
            raise InverseInvalid(message)


def _parts(node: ast.List | ast.Dict) -> list[ast.expr]:
    if isinstance(node, ast.List):
        return node.elts
    if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
        raise InverseInvalid("names of fields are texts")
    return node.values


def _value(node: ast.expr, roots: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return roots[node.id]
        case ast.Attribute():
            return _part(_value(node.value, roots), node.attr, node)
        case ast.Subscript(slice=ast.Constant(value=key)):
            return _part(_value(node.value, roots), key, node)
        case ast.List():
            return [_value(item, roots) for item in node.elts]
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {key.value: _value(item, roots) for key, item in pairs if isinstance(key, ast.Constant)}
    raise AssertionError  # `_check` admits nothing else


def _part(value: Any, key: Any, node: ast.expr) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        message = f"there is no {ast.unparse(node)}"
        raise InverseInvalid(message) from None
