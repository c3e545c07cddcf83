"""Guards that the policy writes into a program. Their names begin with a dot, which no program can spell."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from sandbox.guest.language.attributes import Decision, decide, is_read_as_it_stands
from sandbox.guest.language.bindings import bindings

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_LOAD = ast.Load()
_Node = TypeVar("_Node", bound=ast.AST)


def placed(node: _Node, at: Any) -> _Node:
    """Give a node the location of another: a faster `ast.copy_location`."""
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
    """Give a statement and its new children the location of another."""
    placed(node, at)
    for child in ast.iter_child_nodes(node):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            placed(child, at)
    return node


def _is_own(name: str, at: ast.AST, operator: ast.cmpop) -> ast.Compare:
    """Ask whether the class of a variable's value is one of the program's own: `type(x) in OWN`."""
    kind = placed(ast.Call(func=load(".type", at), args=[load(name, at)], keywords=[]), at)
    return placed(ast.Compare(left=kind, ops=[operator], comparators=[load(".own", at)]), at)


def checked(value: ast.expr, attribute: str, guard: str) -> ast.expr:
    """Return the owner of an attribute behind its guard: `x if type(x) in OWN else guard(x, "a")` for a variable."""
    slow = call(guard, [value, ast.Constant(attribute)], value)
    if not isinstance(value, ast.Name):
        return slow
    return placed(ast.IfExp(test=_is_own(value.id, value, ast.In()), body=load(value.id, value), orelse=slow), value)


# --- receivers: `self` is checked once, where its method begins ------------------------------------------------------

#: Methods that get the class without a decorator that says so, before it is known as the program's.
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__class_getitem__"})


def receiver_of(node: FunctionNode) -> str:
    """Return the name of the `self` of a method, if its attributes need a guard and nothing binds it again."""
    positional = [*node.args.posonlyargs, *node.args.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    if not positional or is_static or node.name in _IMPLICIT_CLASS_METHODS:
        return ""
    name = positional[0].arg
    inside = [each for statement in node.body for each in ast.walk(statement)]
    is_bound_again = any(name in bindings(each) for each in inside)
    return name if not is_bound_again and any(_needs_guard(each, name) for each in inside) else ""


def _needs_guard(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != name:
        return False
    return not isinstance(node.ctx, ast.Load) or decide(node.attr) is Decision.PRIVATE


def check_receiver(name: str, at: ast.stmt) -> ast.If:
    """Return the statement that checks `self`: `if type(self) not in OWN: …`."""
    refuse = placed(ast.Expr(call(".receiver", [load(name, at)], at)), at)
    return placed(ast.If(test=_is_own(name, at, ast.NotIn()), body=[refuse], orelse=[]), at)


# --- others ----------------------------------------------------------------------------------------------------------


def caught(kind: ast.expr) -> ast.expr:
    """Replace `BaseException` in a handler by the exceptions that a program may catch."""
    if isinstance(kind, ast.Tuple):
        kind.elts = [caught(each) for each in kind.elts]
    is_base = isinstance(kind, ast.Name) and kind.id == "BaseException"
    return call(".everything", [], kind) if is_base else kind


def direct(node: ast.Call) -> str | None:
    """Return a faster guard for `type(x)`, and for `getattr` and `hasattr` with a plain name; else None."""
    if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    match node:
        case ast.Call(ast.Name("type"), [_]):
            return ".kind"
        case ast.Call(ast.Name("getattr"), [_, ast.Constant(str(name))] | [_, ast.Constant(str(name)), _]):
            return ".getattr" if is_read_as_it_stands(name) else None
        case ast.Call(ast.Name("hasattr"), [_, ast.Constant(str(name))]):
            return ".hasattr" if decide(name) is Decision.PLAIN else None
    return None
