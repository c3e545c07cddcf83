"""Matrix products cause no spurious warnings.

Some builds of BLAS leave floating-point flags set, which numpy's `@` reports as overflow or division by zero (numpy
issues 24067 and 29820). `-W error` turns these warnings into errors. `dot` ignores the flags. The test inspects the
source, as the warnings do not occur on every machine.
"""

from __future__ import annotations

import ast
from pathlib import Path

import codemode


def bare_products(tree: ast.AST) -> list[int]:
    """Return the lines of `a @ b` outside functions that ignore floating-point flags."""
    if isinstance(tree, ast.FunctionDef) and any(ast.unparse(one) == "_quietly" for one in tree.decorator_list):
        return []
    own = [tree.lineno] if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult) else []
    return own + [line for child in ast.iter_child_nodes(tree) for line in bare_products(child)]


def test_matrix_products_ignore_floating_point_flags() -> None:
    folder = Path(codemode.__file__).parent
    products = {
        str(path.relative_to(folder)): lines
        for path in folder.rglob("*.py")
        if (lines := bare_products(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert products == {}
