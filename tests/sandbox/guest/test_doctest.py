"""`doctest` runs the examples of docstrings, compiled with the program, by the same policy."""

from __future__ import annotations

import contextlib
import doctest
import io
import sys
from types import ModuleType

import pytest

from sandbox.guest.names.doctest_names import FLAGS
from tests.sandbox.guest.host_double import run_guest

PASSING = '''
"""
>>> double(2)
4
"""
def double(x):
    """
    >>> double(2); double(3)
    4
    6
    >>> for i in range(2):
    ...     double(i)
    0
    2
    >>> double(None)
    Traceback (most recent call last):
        ...
    TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
    >>> print("a\\\\n\\\\nb")
    a
    <BLANKLINE>
    b
    >>> {1:   2}  # doctest: +NORMALIZE_WHITESPACE
    {1:
     2}
    >>> "a" * 99 # doctest: +ELLIPSIS
    'aaa...a'
    >>> # double(4)
    # 16
    >>>
    """
    return x * 2
class Counter:
    """
    >>> c = Counter(); c.up(); c._n
    1
    """
    _n = 0
    def up(self):
        """
        >>> Counter().up() is None
        True
        """
        self._n += 1
if __name__ == "__main__":
    import doctest
    print(doctest.testmod())
'''

FAILING = '''
def half(x):
    """
    >>> half(4)
    3
    >>> half(0) + missing
    0
    """
    return x / 2
import doctest
doctest.testmod()
'''


def under_cpython(code: str) -> str:
    module = ModuleType("__main__")
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<program>", "exec"), module.__dict__)  # noqa: S102 - a program of ours
    finally:
        sys.modules["__main__"] = before
    return printed.getvalue()


def test_examples_that_hold_print_what_they_print_under_cpython() -> None:
    ended = run_guest(PASSING)

    assert ended.output == under_cpython(PASSING) == "TestResults(failed=0, attempted=9)\n"


def test_examples_that_fail_are_shown_with_what_was_wanted_and_what_came() -> None:
    ended = run_guest(FAILING)

    assert "Failed example:\n    half(4)\nExpected:\n    3\nGot:\n    2.0\n" in ended.output
    assert "NameError: name 'missing' is not defined" in ended.output
    assert "   2 of   2 in __main__.half\n***Test Failed*** 2 failures.\n" in ended.output


@pytest.mark.parametrize("name", sorted(FLAGS))
def test_a_flag_has_the_value_of_the_library(name: str) -> None:
    assert FLAGS[name] == getattr(doctest, name)


def test_an_error_of_an_example_is_told_with_the_name_that_may_be_meant() -> None:
    code = '''
class Point:
    """
    >>> Point().sizes
    Traceback (most recent call last):
    AttributeError: 'Point' object has no attribute 'sizes'SUGGESTED
    """
    size = 1
import doctest
print(doctest.testmod(verbose=True).failed)
'''.replace("SUGGESTED", ". Did you mean: 'size'?" if sys.version_info >= (3, 12) else "")
    ended = run_guest(code)

    assert ended.output.endswith("0\n"), ended.output
    assert ended.output == under_cpython(code)


def test_variables_of_examples_do_not_stay() -> None:
    ended = run_guest('"""\n>>> made = 1\n"""\nimport doctest\ndoctest.testmod()\n"made" in globals()')

    assert ended.value is False


def test_text_that_is_no_docstring_of_the_source_has_no_examples() -> None:
    code = (
        "import doctest\ndef f(): 'first'\nf.__doc__ = '>>> print(1)\\n2'\n"
        "doctest.testmod().attempted, doctest.run_docstring_examples('>>> print(1)\\n2', {})"
    )

    assert run_guest(code).value == [0, None]
    assert run_guest(code).output == ""


def test_an_example_may_be_left_out() -> None:
    ended = run_guest('"""\n>>> nothing  # doctest: +SKIP\n"""\nimport doctest\ndoctest.testmod().attempted')

    assert ended.value == 0


def test_an_example_is_looked_at_as_the_program_is() -> None:
    ended = run_guest('def f():\n    """\n    >>> f.__globals__\n    1\n    """\nimport doctest\ndoctest.testmod()')

    assert "__globals__ reaches into the interpreter" in ended.output
