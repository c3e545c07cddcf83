# ruff: noqa: N815 - methods are named after the nodes of the syntax tree
"""What a program gives back: a top-level `return`, its last expression, or a last assignment to `result`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.variables import BINDABLE, is_dunder

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable

#: Where the value is kept among the program's variables; no program can spell the name.
VALUE = ".value"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def await_calls(tree: ast.Module, bound: Counter[str]) -> None:
    """Await what a statement at the top level leaves un-awaited: `main()`, where `main` is an `async def`.

    There is only one thing that it can mean; under CPython it does nothing, and says so.
    """
    functions = {
        node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and bound[node.name] == 1
    } - _with_yield(tree)
    if functions:
        _await_in(tree.body, functions)


def _with_yield(tree: ast.Module) -> set[str]:
    """Return the asynchronous generators, which cannot be awaited."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.AsyncFunctionDef)
        and (node.decorator_list or any(isinstance(each, ast.Yield) for each in ast.walk(node)))
    }


def _await_in(body: list[ast.stmt], functions: set[str]) -> None:
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
            for block in ("body", "orelse", "finalbody"):
                _await_in(getattr(statement, block, []), functions)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            continue
        function = statement.value.func
        if isinstance(function, ast.Name) and function.id in functions:
            statement.value = ast.copy_location(ast.Await(statement.value), statement.value)


#: The function that a program becomes where it returns at its top level.
MAIN = ".main"


def keep_value(tree: ast.Module, *, bound: Iterable[str], kinds: Collection[type[ast.AST]]) -> bool:
    """Rewrite the tree so that the value is kept. Returns whether the program has an ending that may give one.

    `bound` are all names that the program binds, `kinds` the kinds of its nodes.
    """
    if ast.Return not in kinds:
        return _keep_last(tree.body)
    if _returns(tree.body):
        inner = _TopLevel()
        inner.look(tree.body)
        if not inner.yields:  # which the compiler refuses outside of functions, as it then does this
            _make_function(tree, sorted(bound), is_async=inner.awaits)
            return True
    return _keep_last(tree.body)


def _returns(parts: Iterable[ast.AST]) -> bool:
    """Tell whether statements return outside of functions."""
    for part in parts:
        if isinstance(part, ast.Return):
            return True
        if not isinstance(part, (*_SCOPES, ast.expr)) and _returns(ast.iter_child_nodes(part)):
            return True
    return False


def _keep_last(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Expr):
        body[-1] = _assign(last.value, last)
        return True
    if isinstance(last, ast.Assign | ast.AnnAssign | ast.AugAssign) and "result" in _targets(last):
        body.append(_assign(ast.copy_location(ast.Name("result", ast.Load()), last), last))
        return True
    return isinstance(last, ast.If) and not last.orelse and _is_of_a_script(last.test) and _keep_last(last.body)


def made_last(text: str) -> str:
    """Return the variable that a program assigns to, or puts something into, at its end, where it does nothing else."""
    return _made_last(ast.parse(text).body)  # once more: keeping the value has rewritten the tree


#: Methods that put something into a list, a set or a dict.
_PUTS = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})


def _made_last(body: list[ast.stmt]) -> str:
    match body[-1:]:
        case [ast.Assign(targets=[target])] | [ast.AnnAssign(target, value=ast.expr())] | [ast.AugAssign(target)]:
            return _variable(target)
        case [ast.Expr(ast.Call(ast.Attribute(target, method)))] if method in _PUTS:
            return _variable(target)
        case [ast.For(body=inner) | ast.While(body=inner) | ast.If(body=inner)]:
            return _made_last(inner)
        case [ast.With(body=inner) | ast.Try(body=inner)]:
            return _made_last(inner)
    return ""


def _variable(target: ast.expr) -> str:
    """Return the variable that holds what is assigned to: `found` of `found["x"][0]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_of_a_script(test: ast.expr) -> bool:
    """Tell whether this is `__name__ == "__main__"`, which always holds."""
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
        case ast.Compare(ast.Constant("__main__"), [ast.Eq()], [ast.Name("__name__")]):
            return True
    return False


def _make_function(tree: ast.Module, names: list[str], *, is_async: bool) -> None:
    """Let the program be the body of a function whose names are all global, so that `return` is one."""
    has_text = ast.get_docstring(tree, clean=False) is not None
    head, body = tree.body[:has_text], [_Globalized().visit(statement) for statement in tree.body[has_text:]]
    last = body[-1]
    if isinstance(last, ast.Expr):
        body[-1] = ast.copy_location(ast.Return(last.value), last)
    elif isinstance(last, ast.Assign | ast.AugAssign) and "result" in _targets(last):
        body.append(ast.copy_location(ast.Return(ast.Name("result", ast.Load())), last))
    plain = [name for name in names if not is_dunder(name) or name in BINDABLE]
    declared: list[ast.stmt] = [ast.Global(plain)] if plain else []
    code = f"{'async ' if is_async else ''}def main(): pass\nx = {'await ' if is_async else ''}main()"
    function, value = ast.parse(code).body
    function.name, function.body = MAIN, declared + body  # type: ignore[attr-defined]
    for node in ast.walk(value):
        if isinstance(node, ast.Name):
            node.id = MAIN if node.id == "main" else VALUE
    tree.body = [*head, function, value]
    for node in (function, value, *declared):
        ast.copy_location(node, body[0])
        ast.fix_missing_locations(node)


class _Globalized(ast.NodeTransformer):
    """Takes out what a function cannot have: `global` where all is, annotations of global names."""

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _skip

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        made: ast.stmt = ast.Pass() if node.value is None else ast.Assign(targets=[node.target], value=node.value)
        return ast.copy_location(made, node)


class _TopLevel:
    """Looks through what is not inside of a function or a class."""

    def __init__(self) -> None:
        self.awaits = self.yields = False

    def look(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, _SCOPES):
                continue
            self.awaits |= isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)
            self.awaits |= bool(getattr(node, "is_async", 0))
            self.yields |= isinstance(node, ast.Yield | ast.YieldFrom)
            self.look(ast.iter_child_nodes(node))


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _assign(value: ast.expr, at: ast.stmt) -> ast.Assign:
    target = ast.copy_location(ast.Name(VALUE, ast.Store()), at)
    return ast.copy_location(ast.Assign(targets=[target], value=value), at)
