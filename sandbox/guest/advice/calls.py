"""Hints for calls of values, and for calls of operations with positional arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.advice.values import UNKNOWN, parts, source
from sandbox.guest.tools import Tool, tool_path

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Situation


def not_called(at: Situation) -> str:
    """`r("id")`, where r is a dict; `total()`, where it is a number."""
    if early := _called_early(at):
        return early
    if "'dict' object is not callable" in at.message:
        return "a dict is read with square brackets: x['key']"
    if "'str' object is not callable" in at.message or "'list' object is not callable" in at.message:
        return "a variable has the name of a function: rename the variable"
    if isinstance(at.node, ast.Call) and "'module'" not in at.message:
        return f"{source(at.node.func)} is a value: leave () out, or rename the variable that has a function's name"
    return ""


def _called_early(at: Situation) -> str:
    """`pool.submit(f(x))`: the function is called before it is handed over."""
    for node in parts(at.tree):
        name = source(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        first = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if name in ("submit", "to_thread") and isinstance(first, ast.Call):
            return f"{name} takes a function, and its arguments apart: write {name}({source(first.func)}, ...)"
    return ""


def by_position(at: Situation) -> str:
    """`ns.op({"id": 1})`, `map(ns.op, ids)`: operations take their arguments by name."""
    for node in parts(at.node):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function, first = source(node.func), node.args[0]
        if function.rpartition(".")[2] == "map":
            return f"hand over lambda value: {source(first)}(name=value)"
        if isinstance(first, ast.Dict) and None not in first.keys:
            names = [str(key.value) if isinstance(key, ast.Constant) else source(key) for key in first.keys]
            given = ", ".join(f"{name}={source(value)}" for name, value in zip(names, first.values, strict=True))
            return f"write {function}({given})"
    return ""


def tool_by_text(at: Situation) -> str:
    """`tools.call("ns.op", {})`."""
    return f"tools are called by their names, as in {at.names[0] if at.names else 'namespace'}.operation(name=value)"


def tool_used(at: Situation) -> str:
    """`ns.op["id"]`: the operation was not called."""
    for node in parts(at.node):
        value = at.value(node) if isinstance(node, ast.Name | ast.Attribute) else UNKNOWN
        if isinstance(value, Tool):
            path = tool_path(value)
            return f"{path} was not called: write {path}(name=value)"
    return "an operation was not called: write (...) after it"
