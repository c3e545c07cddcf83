"""Receivers of methods: `self` and `cls`, when nothing in their method binds the name again.

Such a receiver is looked at once, where the method begins. Afterwards `self._x` and `self.x = …` need no guard.
"""

from __future__ import annotations

import ast
from typing import Any

from sandbox.guest.language.bindings import BINDING, bindings
from sandbox.guest.language.guards import call, is_own, load, placed
from sandbox.guest.language.source import children
from sandbox.guest.language.variables import has_other_spelling

#: Called with the class, with or without a decorator that says so.
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def receiver(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return the name of the first parameter of a method, or None where it is no receiver."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Name) and decorator.id == "staticmethod":
            return None
    positional = [*node.args.posonlyargs, *node.args.args]
    if not positional or node.name in _IMPLICIT_CLASS_METHODS:
        return None
    return positional[0].arg


def is_super_call(node: ast.AST) -> bool:
    """Tell whether this is `super()` as the compiler completes it: about the class around, and an object of it."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return isinstance(node.func, ast.Name) and node.func.id == "super"


def is_untouched(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a guard is needed for the name at all, and nothing in the function binds it again."""
    if has_other_spelling(name):
        return False
    guarded = False
    level: list[ast.AST] = [*node.body]
    while level:
        for child in level:
            kind = type(child)
            if kind is ast.Attribute:
                guarded = guarded or _is_guarded(child, name)
            elif kind in BINDING and name in bindings(child):
                return False
        level = children(level)
    return guarded


def _is_guarded(node: Any, name: str) -> bool:
    if not isinstance(node.value, ast.Name) or node.value.id != name:
        return False
    return node.attr.startswith("_") or not isinstance(node.ctx, ast.Load)


def check_receiver_first(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, *, is_inherited: bool) -> None:
    """Look at the receiver once, where the method begins, instead of at each use.

    if type(self) is not __class__ and type(self) not in OWN: receiver(self)

    Where other classes share the method the first test is left out: it would mostly be in vain.
    """
    at = node.body[0]
    test: ast.expr = is_own(name, at, negated=True)
    if not is_inherited:
        kind = placed(ast.Call(func=load(".type", at), args=[load(name, at)], keywords=[]), at)
        other = placed(ast.Compare(left=kind, ops=[ast.IsNot()], comparators=[load("__class__", at)]), at)
        test = placed(ast.BoolOp(op=ast.And(), values=[other, test]), at)
    refuse = placed(ast.Expr(call(".receiver", [load(name, at)], at)), at)
    check = placed(ast.If(test=test, body=[refuse], orelse=[]), at)
    node.body.insert(1 if ast.get_docstring(node, clean=False) is not None else 0, check)
