"""The top level of a program: its result, and the names that are declared `global` for speed.

The result is a top-level `return`, the last expression, or a last assignment to `result`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.source import children
from sandbox.guest.language.variables import BINDABLE, is_dunder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

#: The variable that holds the result. No program can spell the name.
VALUE = ".value"
#: The function that a program becomes if it returns at its top level. Tracebacks show it as the program.
MAIN = "<module>"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _outside_functions(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield these nodes and all below them that are in no function or class, level by level."""
    level = [*nodes]
    while level:
        level = [node for node in level if not isinstance(node, _SCOPES)]
        yield from level
        level = children(level)


def keep_value(tree: ast.Module, *, bound: Iterable[str], kinds: Collection[type[ast.AST]]) -> bool:
    """Rewrite the tree so that it stores the result. Returns whether the program ends with a result.

    `bound` are all names that the program binds, `kinds` the kinds of its nodes.
    """
    if ast.Return in kinds:
        outside = list(_outside_functions(tree.body))
        found = set(map(type, outside))
        if ast.Return in found and found.isdisjoint({ast.Yield, ast.YieldFrom}):  # the compiler refuses those
            is_async = not found.isdisjoint({ast.Await, ast.AsyncFor, ast.AsyncWith})
            is_async = is_async or any(getattr(node, "is_async", 0) for node in outside)
            _make_function(tree, sorted(bound), is_async=is_async)
            return True
    return _keep_last(tree.body)


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


def _is_of_a_script(test: ast.expr) -> bool:
    """Return whether this is `__name__ == "__main__"`, which is always true."""
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
        case ast.Compare(ast.Constant("__main__"), [ast.Eq()], [ast.Name("__name__")]):
            return True
    return False


def _make_function(tree: ast.Module, names: list[str], *, is_async: bool) -> None:
    """Make the program the body of a function whose names are all global, so that `return` is valid."""
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
    """Removes what a function cannot have: `global` for names that are global anyway, and annotations of them."""

    def visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                return node
            case ast.Global() | ast.AnnAssign(ast.Name(), value=None):
                return ast.copy_location(ast.Pass(), node)
            case ast.AnnAssign(ast.Name() as name, value=ast.expr() as value):
                return ast.copy_location(ast.Assign(targets=[name], value=value), node)
        return self.generic_visit(node)


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _assign(value: ast.expr, at: ast.stmt) -> ast.Assign:
    target = ast.copy_location(ast.Name(VALUE, ast.Store()), at)
    return ast.copy_location(ast.Assign(targets=[target], value=value), at)


# --- speed ---------------------------------------------------------------------------------------------------------

_LOOPS = frozenset({ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})


def declare_global(tree: ast.Module, kinds: Collection[type[ast.AST]]) -> None:
    """Declare the names that a program with loops uses at its top level, except those with annotations.

    CPython looks a top-level name up in three dicts each time. Of a declared name it remembers the place. The
    declaration changes nothing else, because locals and globals are one dict there.
    """
    if _LOOPS.isdisjoint(kinds):
        return
    used: set[str] = set()
    annotated: set[str] = set()
    for node in _outside_functions(tree.body):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            annotated.add(node.target.id)
    names = sorted(name for name in used - annotated if not name.startswith("__"))
    if names:
        place = ast.get_docstring(tree, clean=False) is not None
        tree.body.insert(place, ast.Global(names, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
