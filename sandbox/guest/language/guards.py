"""Guards as the policy writes them into a program: called by names that begin with a dot, which nobody can spell."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from sandbox.guest.language.attributes import Decision, decide

_LOAD = ast.Load()
_Node = TypeVar("_Node", bound=ast.AST)


def placed(node: _Node, at: Any) -> _Node:
    """Give an expression or a statement the location of another: what `ast.copy_location` does, sooner."""
    new: Any = node
    new.lineno, new.end_lineno = at.lineno, at.end_lineno
    new.col_offset, new.end_col_offset = at.col_offset, at.end_col_offset
    return node


def load(name: str, at: ast.AST) -> ast.Name:
    """Read a name."""
    return placed(ast.Name(name, _LOAD), at)


def call(name: str, arguments: list[Any], at: ast.AST) -> ast.Call:
    """Call a guard. The arguments have their locations; constants get that of the call."""
    for argument in arguments:
        if isinstance(argument, ast.Constant) and not hasattr(argument, "lineno"):
            placed(argument, at)
    return placed(ast.Call(func=load(name, at), args=arguments, keywords=[]), at)


def located(node: Any, at: ast.AST) -> Any:
    """Give a statement, and all that is new in it, the location of another."""
    placed(node, at)
    for child in ast.iter_child_nodes(node):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            placed(child, at)
    return node


def is_own(name: str, at: ast.AST, *, negated: bool = False) -> ast.Compare:
    """Ask whether the class of a variable's value is among those known as the program's own."""
    kind = placed(ast.Call(func=load(".type", at), args=[load(name, at)], keywords=[]), at)
    operator: ast.cmpop = ast.NotIn() if negated else ast.In()
    return placed(ast.Compare(left=kind, ops=[operator], comparators=[load(".own", at)]), at)


def checked(value: ast.expr, attribute: str, guard: str) -> ast.expr:
    """Return the owner of an attribute behind its guard: `x if type(x) in OWN else guard(x, "a")` for a variable."""
    slow = call(guard, [value, ast.Constant(attribute)], value)
    if not isinstance(value, ast.Name):
        return slow
    return placed(ast.IfExp(test=is_own(value.id, value), body=load(value.id, value), orelse=slow), value)


def caught(kind: ast.expr) -> ast.expr:
    """Let `BaseException` in a handler be all that a program may catch."""
    if isinstance(kind, ast.Tuple):
        kind.elts = [caught(each) for each in kind.elts]
    is_base = isinstance(kind, ast.Name) and kind.id == "BaseException"
    return call(".everything", [], kind) if is_base else kind


def direct(node: ast.Call) -> str | None:
    """Return what answers a call of `type`, `getattr` or `hasattr` sooner than what stands under the name.

    That is a function for `type(x)`, and CPython's own for a plain name that stands in the call.
    """
    if not isinstance(node.func, ast.Name) or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    if node.func.id == "type":
        return ".kind" if len(node.args) == 1 else None
    if len(node.args) not in _ARGUMENTS.get(node.func.id, ()):
        return None
    name = node.args[1]
    is_plain = isinstance(name, ast.Constant) and type(name.value) is str and decide(name.value) is Decision.PLAIN
    return f".{node.func.id}" if is_plain else None


_ARGUMENTS = {"getattr": (2, 3), "hasattr": (2,)}
