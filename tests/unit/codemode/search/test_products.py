"""Products of arrays give no warnings that are about nothing.

Some builds of BLAS leave floating-point flags set, and numpy's `@` reports these as overflow or division by zero
(numpy issues 24067 and 29820), which `-W error` makes errors. `dot` does not look at them. That does not happen on
every machine, so that the code is looked at.
"""

from __future__ import annotations

import ast
from pathlib import Path

import codemode


def bare_products(tree: ast.AST) -> list[int]:
    """The lines of `a @ b` outside a function that silences the flags."""
    if isinstance(tree, ast.FunctionDef) and any(ast.unparse(one) == "_quietly" for one in tree.decorator_list):
        return []
    own = [tree.lineno] if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult) else []
    return own + [line for child in ast.iter_child_nodes(tree) for line in bare_products(child)]


def test_arrays_are_multiplied_where_flags_are_not_looked_at() -> None:
    folder = Path(codemode.__file__).parent
    found = {
        str(path.relative_to(folder)): lines
        for path in folder.rglob("*.py")
        if (lines := bare_products(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
