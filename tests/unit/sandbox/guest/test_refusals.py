"""What is refused names the place, the reason and what to write instead; nothing of the program runs."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

REFUSED = {
    "eval('1 + 2')": ("eval is not available", "write the expression itself", "re.findall", "json.loads"),
    "x = [exec][0]": ("exec is not available", "write the statements"),
    "open('f')": ("open is not available", "return the text"),
    "input()": ("input is not available", "assign the value"),
    "print(__builtins__)": ("__builtins__ is not available", "by its name"),
    "f = (lambda: 0).__globals__": (".__globals__ reaches into the interpreter", "globals()"),
    "g = (g.gi_frame for g in [])": (".gi_frame reaches into the interpreter", "leave it out"),
    "class A:\n    def __reduce__(self): pass": ("a class cannot define __reduce__", "__deepcopy__"),
    "import json as _getattr_": ("the name _getattr_ is reserved", "underscore"),
    "from . import os": ("relative imports need a package", "full name"),
    "match x:\n    case str(format=f): pass": ("a pattern cannot read .format", "guard"),
    "class A:\n    __match_args__ = ('__globals__',)": (
        "__match_args__ must be a tuple of plain names",
        "write them out",
    ),
}


@pytest.mark.parametrize(("code", "says"), REFUSED.items(), ids=REFUSED.keys())
def test_a_refusal_says_why_and_what_to_write(code: str, says: tuple[str, str]) -> None:
    ended = run_guest("print('ran')\n" + code)

    assert ended.status == "refused"
    assert ended.output == ""
    assert ended.failure is not None
    rule, message, line, column, hint = ended.failure["refusals"][0]
    assert rule
    assert says[0] in message
    assert all(text in hint for text in says[1:])
    assert line >= 2
    assert column >= 0


def test_all_refusals_of_a_program_are_told_at_once() -> None:
    ended = run_guest("a = eval('1')\nb = open('x')\n")

    assert ended.failure is not None
    assert [row[2] for row in ended.failure["refusals"]] == [1, 2]


def test_a_name_that_the_program_binds_itself_may_be_used() -> None:
    assert run_guest("def open(x):\n    return x + 1\nopen(1)").value == 2


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import pandas as pd", ("pandas", "statistics")),
        ("import os", ("os", "no files")),
        ("from requests import get", ("requests", "bound operations")),
        ("import jsn", ("did you mean", "json")),
        ("from json import codecs", ("json", "codecs")),
        ("from urllib import request", ("urllib.request", "no network")),
        ("from urllib.error import HTTPError", ("except ToolError as e", "e.status")),
        ("import urllib.error", ("except ToolError as e", "e.status")),
        ("from urllib import error", ("except ToolError as e", "e.status")),
        ("from requests.exceptions import HTTPError", ("except ToolError as e", "e.status")),
        ("from tomllib import load", ("tomllib.loads(text)",)),
        ("import configparser\nconfigparser.RawConfigParser()", ("use ConfigParser",)),
        ("import sys\nsys.modules", ("modules", "interpreter")),
        ("import math\nmath.sqroot(2)", ("sqroot", "sqrt")),
    ],
)
def test_what_a_module_lacks_is_explained(code: str, says: tuple[str, str]) -> None:
    ended = run_guest(code)

    assert ended.status == "failed"
    assert all(text in ended.message for text in says), ended.message


BUDGETS = {
    "bytes": ("x = 1\n" * 20_000, "bytes"),
    "brackets": ("(" * 300 + "1" + ")" * 300, "too many nested parentheses"),
    "unary operators": ("x = " + "not " * 500 + "1", "nested more than 160 deep"),
    "tree depth": ("x = " + "+".join(["1"] * 3_000), "nested"),
    "elif": ("x = 5\nif x:\n    pass\n" + "elif x:\n    pass\n" * 200, "nested more than 160 deep"),
    "null character": ("x = 1\0", "null"),
    "digits": ("x = " + "9" * 5_000, "digits"),
    "lone surrogate": ("x = '\ud800'", "surrogate"),
}


@pytest.mark.parametrize(("code", "says"), BUDGETS.values(), ids=BUDGETS.keys())
def test_a_source_over_its_budget_is_refused_before_it_is_parsed(code: str, says: str) -> None:
    from sandbox.guest.language.source import SourceRefused, parse

    with pytest.raises((SourceRefused, SyntaxError), match=says):
        parse(code, limit_bytes=100_000, limit_depth=160)


FENCED = {
    "a fence": "Here it is:\n```python\nx = 2\nx * 21\n```\nDone.",
    "a fence without an end": "```python\nx = 2\nx * 21",
    "indented": "    x = 2\n    x * 21\n",
    "a fence at the end alone": "x = 2\nx * 21\n```\n",
    "a byte order mark": "\ufeffx = 2\nx * 21",
    "the name of the language ahead": "python\nx = 2\nx * 21",
    "a sentence ahead": "Here is the program you asked for:\n\nx = 2\nx * 21",
    "sentences ahead": "Sure! I'll double it, as you said.\nThe code follows:\nx = 2\nx * 21\n",
    "two fences": "```python\nx = 2\n```\nand then\n```\nx * 21\n```",
    "the marks of a model": "<|python_tag|>x = 2\nx * 21<|eom_id|>",
    "tags around it": "<execute>\n<python>\nx = 2\nx * 21\n</python>\n</execute>\n",
    "a section of XML": "<![CDATA[\nx = 2\nx * 21\n]]>",
    "thoughts, and a mark behind the fence": "Thought: I double it.\nCode:\n```py\nx = 2\nx * 21\n```<end_code>",
    "a heading": "Code:\nx = 2\nx * 21",
    "ends of lines that are written out": 'x = 2\\nif \\"a\\" < \'b\':\\n\\tx *= len(\\"\\\\n\\")\\nx * 21',
    "the same, with bare quotes": 'x = 2\\nif "a" < "b":\\n    x *= 21\\nx',
}


@pytest.mark.parametrize("code", FENCED.values(), ids=FENCED.keys())
def test_code_is_taken_out_of_markdown_when_it_does_not_parse_as_it_is(code: str) -> None:
    ended = run_guest(code)

    assert ended.value == 42, ended.message


@pytest.mark.parametrize(
    "line",
    ["If x is None:", "For item in items:", "Total = 3 of them.", "crm.items.list():", "const x = 1;", "Let x be 1;"],
)
def test_code_that_does_not_parse_is_no_sentence(line: str) -> None:
    ended = run_guest(f"{line}\n    x = 2\n42")

    assert ended.status == "refused"


@pytest.mark.parametrize(
    "code",
    [
        "1: x = 2\n3: x * 21",
        "1: x = 2\nx * 21",
        "1: x = (2\n2: x * 21",
        "def f(:\n    '''\n>>> 42\n'''",
        "x = 2\\nprint('a\\n')",
        '<tool_call>\n{"name": "execute", "arguments": {}}\n</tool_call>',
    ],
)
def test_what_may_mean_something_else_is_not_taken_off(code: str) -> None:
    ended = run_guest(code)

    assert ended.status == "refused"
    assert ended.failure is not None
    assert ended.failure["line"] == 1


def test_a_fence_in_a_string_is_left_alone() -> None:
    assert run_guest("x = '''\n```\ncode\n```\n'''\nx.count('`')").value == 6


def test_lines_are_counted_in_the_text_as_it_was_sent() -> None:
    ended = run_guest("Look:\n```python\nx = 1\n1 / 0\n```")

    assert ended.failure is not None
    assert ended.failure["line"] == 4


def test_text_in_annotations_reaches_only_what_the_program_could_name() -> None:
    ended = run_guest(
        "import typing\ndef f(a: 'eval', b: '__import__', c: '.private', d: 'int', e: '__builtins__', g: 'Own'): pass\n"
        "class Own: pass\n{k: v if isinstance(v, str) else v.__name__ for k, v in typing.get_type_hints(f).items()}"
    )

    assert ended.value == {
        "a": "eval",
        "b": "__import__",
        "c": ".private",
        "d": "int",
        "e": "__builtins__",
        "g": "Own",
    }


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("int.__len__ = len", "cannot set '__len__' attribute of immutable type 'int'"),
        ("ValueError().__traceback__ = 5", "__traceback__ must be a traceback or None"),
        ("type(*('A', (), {}))", "type() makes no classes here: write a class statement"),
        ("class M(*[type]): pass", "metaclasses are not available here: use a class decorator"),
        ("from abc import ABCMeta\nclass M(ABCMeta): pass", "metaclasses are not available here"),
        ("class A(metaclass=lambda *a: 1): pass", "metaclasses are not available here"),
    ],
)
def test_what_a_class_statement_may_not_do_a_call_may_not_do_either(code: str, says: str) -> None:
    ended = run_guest(code)

    assert ended.status == "failed"
    assert says in ended.failure["message"]


def test_a_metaclass_is_refused_before_anything_runs() -> None:
    ended = run_guest("print(1)\nclass M(type): pass")

    assert (ended.status, ended.output) == ("refused", "")
    assert "metaclasses are not available here" in ended.message
    assert "__init_subclass__" in ended.message
