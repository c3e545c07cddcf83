"""Values that a program gets from the host if it reads their names."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from sandbox.guest.language.bindings import bound_names
from sandbox.guest.language.compilation import compile_program
from sandbox.guest.language.loaded_values import load_values


def loaded(code: str) -> str:
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    load_values(tree, nodes, {"last": "load"}, Counter(bound_names(nodes)))
    return ast.unparse(tree)


@pytest.mark.parametrize(
    "head", ["", "'Doc.'\n", "from __future__ import annotations\n", "'Doc.'\nfrom __future__ import annotations\n"]
)
def test_the_program_begins_with_the_value(head: str) -> None:
    assert loaded(f"{head}x = 1\nlast") == ast.unparse(ast.parse(f"{head}last = load('last')\nx = 1\nlast"))
    program = compile_program(
        f"{head}last", names=["load"], values={"last": "load"}, limit_bytes=1_000, limit_depth=100
    )
    assert not program.refusals


@pytest.mark.parametrize("code", ["x.last", "f(last=1)", "last = 1\nlast", "for last in x:\n    last", "'last'"])
def test_a_name_that_is_not_read_or_is_bound_loads_nothing(code: str) -> None:
    assert loaded(code) == ast.unparse(ast.parse(code))
