# ruff: noqa: N815 - methods are named after the nodes of the syntax tree
"""What a program gives back: a top-level `return`, its last expression, or a last assignment to `result`."""

from __future__ import annotations

import ast

#: Where the value is kept among the program's variables; no program can spell the name.
VALUE = ".value"


def keep_value(tree: ast.Module) -> bool:
    """Rewrite the tree so that the value is kept. Returns whether the program has an ending that may give one."""
    returns = _TopLevelReturns()
    returns.visit(tree)
    return _keep_last(tree) or returns.found


def _keep_last(tree: ast.Module) -> bool:
    if not tree.body:
        return False
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = _assign(last.value, last)
        return True
    if isinstance(last, ast.Assign | ast.AnnAssign | ast.AugAssign) and "result" in _targets(last):
        tree.body.append(_assign(ast.Name("result", ast.Load()), last))
        return True
    return False


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _assign(value: ast.expr, at: ast.stmt) -> ast.Assign:
    statement = ast.Assign(targets=[ast.Name(VALUE, ast.Store())], value=value)
    return ast.fix_missing_locations(ast.copy_location(statement, at))


class _TopLevelReturns(ast.NodeTransformer):
    """`return x` outside of functions becomes a raise of what ends the program."""

    def __init__(self) -> None:
        self.found = False

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _skip
    visit_Expr = visit_Assign = visit_AnnAssign = visit_AugAssign = _skip

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.found = True
        value = node.value or ast.Constant(None)
        error = ast.Call(func=ast.Name(".return", ast.Load()), args=[value], keywords=[])
        return ast.fix_missing_locations(ast.copy_location(ast.Raise(exc=error, cause=None), node))
