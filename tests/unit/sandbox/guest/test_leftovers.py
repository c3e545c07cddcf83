"""Helpers that a program defines and never names may hold builtins that are left out."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

UNUSED = """
def load(path):
    with open(path) as file:
        return file.read()

async def ask():
    return input("name? ")

class Store:
    def save(self, again=False):
        open("state.json", "w").write(eval("1"))
        return self.save() if again else None

    @staticmethod
    def restore():
        return load("state.json")

    def total(self):
        return 5

def main():
    print(ask())

Store().total()
"""


def test_a_builtin_that_is_left_out_is_no_reason_to_refuse_it_in_a_function_that_nothing_calls() -> None:
    ended = run_guest(UNUSED)

    assert (ended.status, ended.value) == ("completed", 5)


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    return open('x')\nf()",
        "def f(file=open('x')):\n    return 1",
        "def f() -> open:\n    return 1",
        "def f():\n    return open('x')\nprint(getattr(1, 'f', 2))",
        "class A:\n    def f(self):\n        return open('x')\nprint(A().f)",
        "class A:\n    def __init__(self):\n        open('x')\nA()",
        "class A:\n    x = open('x')",
        "def f():\n    return open('x')\ndef g(x=f):\n    return x()\ng()",
        "def f():\n    return open('x')\ndef g():\n    return f()\ng()",
        "class A:\n    @property\n    def f(self):\n        return open('x')\nA().f",
        "import json\nclass A(json.JSONEncoder):\n    def default(self, value):\n        open('x')",
        "print\n@print\ndef f():\n    return open('x')",
        "def f():\n    return [].__globals__",
        "def f():\n" + "    eval('1')\n" * 30 + "    [].__globals__",
        "def f():\n    open('x')\n[].__globals__",
    ],
)
def test_whatever_may_be_called_is_refused_before_it_runs(code: str) -> None:
    assert run_guest("print('ran')\n" + code).status == "refused"


def test_a_builtin_that_is_left_out_is_not_there_for_whoever_finds_the_function_after_all() -> None:
    ended = run_guest(
        "def f():\n    return eval('1')\n[value() for value in list(globals().values()) if callable(value)]"
    )

    assert ended.status == "failed"
    assert "eval is not available" in ended.message
    assert "json.loads" in ended.message
