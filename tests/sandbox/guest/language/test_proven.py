"""What a guard has shown of a variable holds as long as the variable does, and no longer."""

from __future__ import annotations

import ast
import sys
import textwrap

import pytest

from sandbox.guest.language.proven import follow
from sandbox.guest.language.source import parse
from tests.sandbox.guest.host_double import run_guest

SETUP = """
from fractions import Fraction
from urllib.parse import urlparse
class Own:
    _numerator = 1
    def __init__(self):
        self.first = self.second = 0
    def __enter__(self):
        return Fraction(1, 2)
    def __exit__(self, *error):
        return True
own, lib, no = Own(), Fraction(1, 2), False
"""

#: Each reads a private name of an object of the library at its end, after the same name of one of the program's own.
CHANGED = [
    "x = own\nx._numerator\nx = lib\nx._numerator",
    "for x in (own, lib): x._numerator",
    "for x in (own, lib):\n    x._numerator\n    x._numerator",
    "x = own\nwhile True:\n    x._numerator\n    x = lib",
    "x = own\nx._numerator\nfor y in (1, 2):\n    x._numerator\n    x = lib",
    "x = lib\nif no: x._numerator\nx._numerator",
    "x = own\nx._numerator\nif not no: x = lib\nelse: x._numerator\nx._numerator",
    "x = lib\nwhile no: x._numerator\nx._numerator",
    "x = lib\nfor y in (): x._numerator\nx._numerator",
    "x = lib\nfor x.first in (): pass\nx._numerator",
    "x = own\nx._numerator\ntry:\n    x = lib\n    1 / 0\nexcept ZeroDivisionError:\n    x._numerator",
    "x = own\nx._numerator\ntry:\n    x = lib\nfinally:\n    x._numerator",
    "x = lib\ntry:\n    1 / 0\n    x._numerator\nexcept ZeroDivisionError: pass\nx._numerator",
    "x = lib\nwith own:\n    1 / 0\n    x._numerator\nx._numerator",
    "x = own\nx._numerator\nwith own as x: pass\nwith own as x:\n    pass\nx._numerator",
    "x = own\nx._numerator\nmatch lib:\n    case x: pass\nx._numerator",
    "x = own\nx._numerator\nmatch [lib]:\n    case [*x]: x = x[0]\nx._numerator",
    "x = own\nx._numerator\nimport fractions as x\nx._operator_fallbacks",
    "x = own\nx._numerator\nfrom fractions import Fraction as x\nx._richcmp",
    "x = own\nx._numerator\nx, y = lib, 1\nx._numerator",
    "x = own\nx._numerator\n(y := (x := lib))\nx._numerator",
    "x = own\n(x._numerator, (x := lib), x._numerator)",
    "x = own\n{x._numerator: 1, (x := lib): x._numerator}",
    "x = lib\n{1: 2 if no else 3, no and x._numerator: x._numerator}",
    "x = lib\nno and x._numerator\nx._numerator",
    "x = lib\n1 if not no else x._numerator\nx._numerator",
    "x = lib\n2 < 1 < x._numerator\nx._numerator",
    "x = lib\nassert not no, x._numerator\nx._numerator",
    "x = lib\ndef f(a: x._numerator if no else 1 = 1): pass\nx._numerator",
    "x = own\nx._numerator\ndef f(a=(x := lib)): pass\nx._numerator",
    "x = own\nx._numerator\n@(x := staticmethod)\ndef f(): pass\nx._numerator",
    "x = own\nx._numerator\nclass A(*[x := Fraction][:0]): pass\nx._numerator",
    "x = lib\ny = lambda: x._numerator\nx._numerator",
    "x = own\nx._numerator\ny = ((x := lib) for _ in [1])\nx._numerator\nnext(y)\nx._numerator",
    "x = own\nx._numerator\n[(x := lib) for _ in [1]]\nx._numerator",
    "[x._numerator for x in (own, lib)]",
    "[x._numerator for x in (own, lib) if x.real or x._numerator]",
    "[0 for x in (own,) for x in (x, lib) if x._numerator and x._numerator]",
    "(lambda x: x._numerator)(own)\n(lambda x: (x._numerator, x._numerator))(lib)",
    "x = urlparse('http://h/')\nx._fields\nx._userinfo",
    "x = own\nx._numerator\ndel x\nx = lib\nx._numerator",
    "x = ValueError()\nx.first = x.second = 1\nx._numerator",
]
SHARED = [
    "x = own\ndef other():\n    {how} x\n    x = lib\nx._numerator\nother()\nx._numerator",
    "x = own\ndef other():\n    {how} x\n    for x in (lib,): pass\nx.first = 1\nother()\nx.first = 1",
    "x = own\ndef other():\n    {how} x\n    x = lib\nx._numerator\nclass A: y = other()\n[x._numerator for y in (1,)]",
]


def in_function(code: str) -> str:
    return f"def main():\n{textwrap.indent(code, '    ')}\nmain()"


@pytest.mark.parametrize("code", [*CHANGED, *(code.format(how="global") for code in SHARED)])
def test_a_variable_that_is_bound_anew_is_asked_again(code: str) -> None:
    ended = run_guest(SETUP + code)
    assert ended.failure is not None
    assert ended.failure["type"] == "AttributeError", ended.message


@pytest.mark.parametrize("code", [*CHANGED, *(code.format(how="nonlocal") for code in SHARED)])
def test_so_is_one_of_a_function(code: str) -> None:
    ended = run_guest(SETUP + in_function(code))
    assert ended.failure is not None
    assert ended.failure["type"] == "AttributeError", ended.message


def unguarded(code: str) -> list[str]:
    source = parse(code, limit_bytes=10_000, limit_depth=100)
    proven = follow(source.tree, source.nodes).attributes
    return [f"{node.lineno}: {ast.unparse(node)}" for node in source.nodes if id(node) in proven]  # type: ignore[attr-defined]


def test_what_was_asked_is_not_asked_again() -> None:
    code = """
for p in particles:
    p.x = p.x + 1
    p.y, p.z = 1, 2
    if p._a:
        p._b = p._a
    else:
        p._c
    p._d
"""
    assert sorted(unguarded(code)) == ["4: p.y", "4: p.z", "6: p._a", "8: p._c", "9: p._d"]


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    def g():\n        x._a\n        x._b\n    x = 1\n    return g",
        "def f():\n    x._a\n    x._b",
        "class A:\n    x._a\n    x._b\n    x = 1",
        "x = 1\nx._fields\nx._b",
        "x = 1\nx.a = 1\nx._b\nx._c = 1",
        "x = 1\nx._a\nx.b = 1",
        "from m import *\nx = 1\nx._a\nx._b",
        "class C:\n    def f(self):\n        __x = 1\n        __x._a\n        _C__x = 2\n        __x._b",
        pytest.param(
            "def f():\n    type Y[x] = x\n    x._a\n    x._b",
            marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="`type X = …` is newer than this Python"),
        ),
        "_C__x = 1\n_C__x._a\nclass C:\n    def f(self):\n        global __x\n        __x = 2\n_C__x._b",
    ],
)
def test_these_are_asked_each_time(code: str) -> None:
    assert unguarded(code) == []
