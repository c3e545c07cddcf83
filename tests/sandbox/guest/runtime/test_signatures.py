"""Signatures come from functions of the program alone, and nothing in them is evaluated."""

from __future__ import annotations

import pytest

from tests.sandbox.guest.host_double import run_guest

PROGRAM = """
import inspect
from functools import cache, lru_cache, partial, wraps
def plain(a, /, b: int = 2, *rest, c, d: str = "x", **more) -> list: "doc"
class Made:
    def __init__(self, size, colour="red"): pass
    def method(self, x): pass
    @classmethod
    def build(cls, y): pass
    @staticmethod
    def free(z): pass
    def __call__(self, w): pass
class Empty: pass
def decorated(f):
    @wraps(f)
    def inner(*args, **options): return f(*args, **options)
    return inner
@decorated
def known(q): pass
@lru_cache
def cached(name, x=1): pass
class Caching:
    @lru_cache(maxsize=3)
    def method(self, z): pass
    @decorated
    def logged(self, y): pass
"""


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("plain", "(a, /, b: int = 2, *rest, c, d: str = 'x', **more) -> list"),
        ("lambda x=1: x", "(x=1)"),
        ("Made", "(size, colour='red')"),
        ("Made(1)", "(w)"),
        ("Made(1).method", "(x)"),
        ("Made.method", "(self, x)"),
        ("Made.build", "(y)"),
        ("Made.free", "(z)"),
        ("Empty", "()"),
        ("known", "(q)"),
        ("partial(known, q=1)", "(*, q=1)"),
        ("cached", "(name, x=1)"),
        ("decorated(cached)", "(name, x=1)"),
        ("partial(cached, x=2)", "(name, *, x=2)"),
        ("Caching.method", "(self, z)"),
        ("Caching().method", "(z)"),
        ("Caching().logged", "(y)"),
        ("partial(plain, 1)", "(b: int = 2, *rest, c, d: str = 'x', **more) -> list"),
    ],
)
def test_a_callable_of_the_program_shows_its_parameters(expression: str, shown: str) -> None:
    ended = run_guest(f"{PROGRAM}str(inspect.signature({expression}))")

    assert ended.message == ""
    assert ended.value == shown


@pytest.mark.parametrize("expression", ["ns.op", "len", "5", "Empty()", "getattr", "cache(len)"])
def test_what_is_not_the_programs_has_none(expression: str) -> None:
    ended = run_guest(f"{PROGRAM}inspect.signature({expression})", names=["ns"])

    assert ended.failure["type"] in ("ValueError", "TypeError")


def test_a_text_that_looks_like_a_signature_is_not_evaluated() -> None:
    code = "def f(): pass\nsetattr(f, 'text_signature', '(x=print(1))')"

    assert run_guest(f"{PROGRAM}{code}\nstr(inspect.signature(f))").value == "()"


def test_the_older_form_tells_the_same() -> None:
    code = "s = inspect.getfullargspec(plain)\n[*s[:6], sorted(s.annotations)]"

    assert run_guest(PROGRAM + code).value == [
        ["a", "b"],
        "rest",
        "more",
        [2],
        ["c", "d"],
        {"d": "x"},
        ["b", "d", "return"],
    ]


@pytest.mark.parametrize(("bound", "names"), [("Made(1).method", ["self", "x"]), ("Made.build", ["cls", "y"])])
def test_the_older_form_tells_the_first_argument_of_a_method(bound: str, names: list[str]) -> None:
    assert run_guest(f"{PROGRAM}inspect.getfullargspec({bound}).args").value == names
