"""`self` in a method: it is looked at once, where the method begins, and its attributes need no guard of their own."""

from __future__ import annotations

import ast

from sandbox.guest.language.attributes import Decision, decide
from sandbox.guest.language.bindings import bindings
from sandbox.guest.language.guards import call, is_own, load, placed

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

#: Called with the class as they stand, without a decorator that says so: before it is known as the program's.
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__class_getitem__"})


def receiver_of(node: FunctionNode) -> str:
    """Return the name of the `self` of a method, where its attributes need a guard and nothing binds it again."""
    positional = [*node.args.posonlyargs, *node.args.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    if not positional or is_static or node.name in _IMPLICIT_CLASS_METHODS:
        return ""
    name = positional[0].arg
    needed = False
    for statement in node.body:
        for each in ast.walk(statement):
            if name in bindings(each):
                return ""
            needed = needed or _needs_guard(each, name)
    return name if needed else ""


def _needs_guard(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != name:
        return False
    return not isinstance(node.ctx, ast.Load) or decide(node.attr) is Decision.PRIVATE


def is_super_call(node: ast.AST) -> bool:
    """Tell whether this is `super()` as the compiler completes it: about the class around, and an object of it."""
    return isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name) and node.func.id == "super"


def check_receiver(name: str, at: ast.stmt) -> ast.If:
    """Return the statement that looks at `self` once, where a method begins: `if type(self) not in OWN: …`."""
    refuse = placed(ast.Expr(call(".receiver", [load(name, at)], at)), at)
    return placed(ast.If(test=is_own(name, at, negated=True), body=[refuse], orelse=[]), at)
