"""Which variables a guard may read twice: those that no other code can bind between the two."""

from __future__ import annotations

import ast
import sys

import pytest

from sandbox.guest.language.compilation import compile_program
from sandbox.guest.language.steady import steady_names

needs_type_statements = pytest.mark.skipif(sys.version_info < (3, 12), reason="`type X = …` is newer than this Python")


def steady(code: str) -> set[str]:
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    parameters = frozenset(each.arg for each in function.args.args)
    return set(steady_names(parameters, function.body))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(a):\n    b = 1\n    for c in a: pass", {"a", "b", "c"}),
        ("def f():\n    global a\n    a = b = 1", {"b"}),
        ("def f():\n    a = b = 1\n    def g():\n        nonlocal a\n        a = 2", {"b", "g"}),
        (
            "def f():\n    a = 1\n    class C:\n        def g(self):\n            def h():\n                nonlocal a",
            {"C"},
        ),
        ("def f():\n    [a for a in b]\n    return lambda c: c", set()),
        ("def f():\n    a = 1\n    b = ((a := 2) for c in d)", {"b"}),
        ("def f(a):\n    def g(b=((a := 2) for c in d)): pass", {"g"}),
        ("def f(a, d):\n    @d((a := 2) for c in d)\n    class C(*[(d := 1) for e in ()]): pass", {"C"}),
        (
            "def f(a):\n    try:\n        pass\n    except E as e:\n        import c as d\n    with a as (g, h): pass",
            set("aedgh"),
        ),
    ],
)
def test_a_variable_is_steady_where_its_function_alone_can_bind_it(code: str, names: set[str]) -> None:
    assert steady(code) == names


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("x._y", 1),  # a global: the guard is called with it
        ("def f(x):\n    return x._y", 2),
        ("def f():\n    return x._y", 1),
        ("class C:\n    x = 1\n    y = x._y", 1),
        ("[x._y for x in z]", 2),
        ("[x._y for x in x._z]", 1),
        ("def f(x):\n    return [x._y for z in x]", 2),
        ("def f(x):\n    return (x._y for z in x)", 1),
        ("lambda x: x._y", 2),
        ("lambda x: (((x := y) for y in z), x._y)", 1),
        ("class C:\n    def f(self, __x):\n        return __x._y", 1),
        ("class C:\n    def f(__self):\n        return __self._y", 1),
        ("def f(_C__x):\n    return _C__x._y", 1),
        ("class C:\n    def f(self, y):\n        return [__x._y for __x in y]", 1),
        pytest.param("def f(x):\n    type Y = x._y", 1, marks=needs_type_statements),
        pytest.param("def f():\n    type Y[x] = x\n    return x._y", 1, marks=needs_type_statements),
        pytest.param("def f(x):\n    def g[T: x._y](): pass", 1, marks=needs_type_statements),
    ],
)
def test_others_are_read_once(code: str, reads: int) -> None:
    program = compile_program(code, names=[], limit_bytes=1_000, limit_depth=60)
    assert program.code is not None

    pending, asked = [program.code], 0
    while pending:
        each = pending.pop()
        asked += ".own" in each.co_names
        pending += [inner for inner in each.co_consts if isinstance(inner, type(each))]

    assert 1 + bool(asked) == reads
