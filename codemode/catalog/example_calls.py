"""Check example calls with the validator that checks the calls of programs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemode.catalog.arguments import validate
from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.catalog.tool import Tool


def accepts_example(tool: Tool, example: str) -> bool:
    """Whether the calls of `tool` in an example are valid.

    Arguments that are not literals, and texts that are not Python, cannot be checked and count as valid.
    """
    try:
        calls = list(_calls(tool, ast.parse(example, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return all(_is_valid(tool, call) for call in calls)


def _calls(tool: Tool, tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == tool.id:
            yield node


def _is_valid(tool: Tool, call: ast.Call) -> bool:
    try:
        arguments = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg is not None}
    except ValueError:
        return True
    if call.args or len(arguments) < len(call.keywords):
        return not call.args
    try:
        validate(tool, arguments)
    except ArgumentsInvalid:
        return False
    return True
