"""What models, their clients and word processors put around a program and into it is read as the program meant."""

from __future__ import annotations

import ast

import pytest

from sandbox.guest.language.readings import is_blank
from sandbox.guest.language.source import parse

TYPOGRAPHIC = "typographic characters"

READ = {
    "thoughts": ("<think>\nFirst I count.\nx = (\n</think>\nlen([1, 2])", "len([1, 2])"),
    "thoughts whose beginning is lost": ("I count them.\n</think>\n\nlen([1, 2])", "len([1, 2])"),
    "thoughts before a fence": ("<think>hm</think>\n```python\nlen([1, 2])\n```", "len([1, 2])"),
    "a fence": ("```python\nlen([1, 2])\n```", "len([1, 2])"),
    "prompts and what was printed": (">>> x = [1, 2]\n>>> len(x)\n2", "x = [1, 2]\nlen(x)"),
    "prompts of a notebook": ("In [1]: x = [1]\nIn [2]: len(x)\nOut[2]: 1", "x = [1]\nlen(x)"),
    "prompts of a block": (">>> for n in [1]:\n...     print(n)\n...\n1", "for n in [1]:\n    print(n)"),
    "numbers with a colon": ("1: if True:\n2:     n = 2\n3: n", "if True:\n    n = 2\nn"),
    "numbers with a bar": (" 9 | if True:\n10 |     n = 2\n11 | n", "if True:\n    n = 2\nn"),
    "numbers in a column": ("9   if True:\n10      n = 2\n11  n", "if True:\n    n = 2\nn"),
    "numbers and tabs": ("1\tif True:\n2\t    n = 2\n3\tn", "if True:\n    n = 2\nn"),
    "ends of lines as letters": (r"x = [1]\nlen(x)", "x = [1]\nlen(x)"),
    "a program as a literal": ('"x = [1]\\nlen(x)"', "x = [1]\nlen(x)"),
}

TYPED = {
    "quotes": ("d = {“k”: 1}\nd[‘k’]", "d = {\"k\": 1}\nd['k']"),
    "quotes in quotes": ('“say "hi"”', r'"say \"hi\""'),
    "spaces": ("if True:\n\u00a0\u00a0n\u00a0= 1", "if True:\n  n = 1"),
    "dashes": ("2 – 1 − 1", "2 - 1 - 1"),
    "invisible characters": ("len([1])\u200b", "len([1])"),
    "full-width brackets": ("len（[1]）", "len([1])"),
    "line separators": ("n = 1\u2028n", "n = 1\nn"),
    "in a fence": ("```\nd = “k”\n```", 'd = "k"'),
    "comparisons": ("1 ≠ 2", "1 != 2"),
    "arrows": ("def f() → int:\n    return 1", "def f() -> int:\n    return 1"),
    "angle quotes": ("t = «a»", 't = "a"'),
    "full-width digits": ("１ + ２", "1 + 2"),
}


@pytest.mark.parametrize(("code", "meant"), READ.values(), ids=READ)
def test_what_stands_around_a_program_is_taken_off(code: str, meant: str) -> None:
    source = parse(code, limit_bytes=10_000, limit_depth=50)
    assert ast.dump(source.tree) == ast.dump(ast.parse(meant))
    assert source.note == ""


@pytest.mark.parametrize(("code", "meant"), TYPED.values(), ids=TYPED)
def test_characters_of_word_processors_are_replaced_with_a_note(code: str, meant: str) -> None:
    source = parse(code, limit_bytes=10_000, limit_depth=50)
    assert ast.dump(source.tree) == ast.dump(ast.parse(meant))
    assert source.note.startswith(TYPOGRAPHIC)


@pytest.mark.parametrize(
    "code",
    [
        "t = 'a\u00a0“b” – c'",
        "# “a” – b\nn = 1",
        "'hello (there)'",
        "'len([1])' + ''",
        "text = '''\n>>> x\n'''",
        "t = '<think>a</think>'",
        "1",
        "t = '''\n1: a\n2: b'''",
    ],
)
def test_a_program_that_parses_is_left_as_it_is(code: str) -> None:
    source = parse(code, limit_bytes=10_000, limit_depth=50)
    assert (source.text, source.note) == (code, "")


@pytest.mark.parametrize(
    "code", ["1: x = (\n2: y", "5 apples\n3 pears", ">>> x = (", "<think>x</think> = (", "len([1])\n```\n```\nno code"]
)
def test_what_is_no_program_is_still_refused_where_it_stands(code: str) -> None:
    with pytest.raises(SyntaxError) as refused:
        parse(code, limit_bytes=10_000, limit_depth=50)
    assert refused.value.lineno in (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\ufeff",
        "\u200b\u00a0",
        "# a\n# b\n",
        "```python\n```",
        "```python\n# continue\npass\n```",
        "<think>x = 1</think>\n",
        "<|python_tag|>",
        "Continue the approved execution.",
        "pass",
        "null",
        "...",
        '""',
        ">>>",
        "1:",
    ],
)
def test_a_text_without_a_program_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize(
    "text",
    ["1", "x", "passed", "None", "'a'", "# a\nx", "len([1])\n```\n```", "t = (\n'Say it to me.')", "x = None", "[]"],
)
def test_a_text_with_a_program_is_not_blank(text: str) -> None:
    assert not is_blank(text)
