"""Walks over syntax trees leave out no node."""

from __future__ import annotations

import ast
from pathlib import Path

from sandbox.guest.language.source import children

FILES = [*Path(__file__).parents[5].glob("sandbox/**/*.py")]
GRAMMAR = """
match point:
    case {"x": x, **rest} | [*rest] | Point(x, y=0) as whole if x: pass
@decorator
async def f(a, /, b: int = 1, *args, c=2, **more) -> str:
    async with a as b, c: await d
    async for x in y: yield x
    return [x async for x in y if x], {**a, b: c}, f"{a!r:>{b}}", (n := 1), lambda x=1: x
class A(B, metaclass=C):
    x: int
    global y
try: pass
except* (E, F) as e: raise e from None
else: del a.b, a[1:2:3]
finally: import a.b as c; from d import e as f
"""


#: Of which all trees share one each.
MARKS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


def test_all_children_are_seen():
    assert len(FILES) > 100
    for text in (*(path.read_text() for path in FILES), GRAMMAR):
        for node in ast.walk(ast.parse(text)):
            assert children([node]) == [child for child in ast.iter_child_nodes(node) if not isinstance(child, MARKS)]


def test_no_field_that_is_passed_over_may_hold_nodes():
    for kind in vars(ast).values():
        for name, held in getattr(kind, "_field_types", {}).items():  # from Python 3.13 on
            each = getattr(held, "__args__", (held,))[0]
            is_mark = isinstance(each, type) and issubclass(each, MARKS)
            if "ast." in repr(held) and not is_mark and isinstance(kind, type) and kind._fields:
                node = ast.Pass()
                of_kind = kind.__new__(kind)
                setattr(of_kind, name, [node] if repr(held).startswith("list") else node)
                assert node in children([of_kind]), f"{kind.__name__}.{name}"
