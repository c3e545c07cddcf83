"""A compiled program as text: what is read is what was told, or nothing is told."""

from __future__ import annotations

from types import CodeType

import pytest

from sandbox.guest.language import compiled
from sandbox.guest.language.compilation import Program, compile_program

LIMIT = 100_000


def program(code: str) -> Program:
    return compile_program(code, names=["shop"], limit_bytes=10_000, limit_depth=100)


def codes(code: CodeType | None) -> list[object]:
    """Everything that decides what code does, and which lines it shows."""
    assert code is not None
    found: list[object] = [code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags]
    found += [list(code.co_positions()), code.co_qualname, code.co_filename]
    for constant in code.co_consts:
        found += codes(constant) if isinstance(constant, CodeType) else [type(constant), constant]
    return found


@pytest.mark.parametrize(
    "code",
    [
        "1 + 1",
        "```python\n1 + 1\n```",
        "import asyncio\nx = await asyncio.gather(shop.price(fruit='pear'), shop.price(*rows, n=1))\nx",
        "class A:\n    def f(self):\n        return self._x\nA()",
        "def f(a, *, b=2.5):\n    '''Docstring.'''\n    yield from (lambda: [a, b, ..., 1j, b'x', -0.0])()\nlist(f(1))",
        "x = 5 in {1, 2, 3}",
        "print('no value')",
    ],
)
def test_what_is_read_is_what_was_told(code: str) -> None:
    told = program(code)
    text = compiled.tell(told, LIMIT)
    assert text is not None
    read = compiled.read(text)
    assert codes(read.code) == codes(told.code)
    assert (read.text, read.sites, read.returns, read.is_async) == (told.text, told.sites, told.returns, told.is_async)


def test_constants_that_are_one_object_stay_one() -> None:
    text = compiled.tell(program("a = (1, 'x y')\ndef f():\n    return (1, 'x y')\na is f()"), LIMIT)
    assert text is not None
    code = compiled.read(text).code
    assert code is not None
    (inner,) = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    assert any(one is other for one in code.co_consts for other in inner.co_consts if one == (1, "x y"))


@pytest.mark.parametrize("numbers", ["15, 7", "7, 15"])
def test_a_set_is_gone_through_in_the_order_of_its_source_or_nothing_is_told(numbers: str) -> None:
    told = program(f"def f():\n    for n in {{{numbers}}}:\n        print(n)\nf()")
    text = compiled.tell(told, LIMIT)
    if text is not None:
        assert _sets(compiled.read(text).code) == _sets(told.code)


def test_one_of_two_orders_cannot_be_told() -> None:
    """Else the test above would compare nothing: 7 and 15 want the same place in a set."""
    told = [compiled.tell(program(f"for n in {{{numbers}}}:\n    print(n)"), LIMIT) for numbers in ("15, 7", "7, 15")]
    assert sorted(text is None for text in told) == [False, True]


def _sets(code: CodeType | None) -> list[list[object]]:
    assert code is not None
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    here = [list(constant) for constant in code.co_consts if isinstance(constant, frozenset)]
    return here + [found for each in inner for found in _sets(each)]


def test_what_is_longer_than_may_be_is_not_told() -> None:
    text = compiled.tell(program("1 + 1"), LIMIT)
    assert text is not None
    assert compiled.tell(program("1 + 1"), len(text)) == text
    assert compiled.tell(program("1 + 1"), len(text) - 1) is None


def test_a_program_that_may_not_run_is_not_told() -> None:
    assert compiled.tell(program("eval('1')"), LIMIT) is None
