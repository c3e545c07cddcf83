"""What `import` gives is read as fast as a module is: the interpreter finds a name where it found it before."""

from __future__ import annotations

import sys

import pytest

from sandbox.guest.library.facades.builtin_names import static_builtins
from sandbox.guest.library.tables import Table
from tests.unit.sandbox.guest.host_double import run_guest


def test_names_are_those_of_the_code_that_reads_them():
    table = Table("numbers", {"".join(("pi", "_approximately")): 3})
    for names in (vars(table), static_builtins()):
        assert all(name is sys.intern(name) for name in names)


def test_modules_are_called_whatever_else_their_names_are_given_to():
    program = """
import math, urllib.parse
def f(math):
    return math.upper()
class Own:
    def sqrt(self, x): return -x
found = [f("a"), math.sqrt(4), urllib.parse.quote("a b"), *map(math.floor, [1.5])]
math = Own()
found + [math.sqrt(4)]
"""
    assert run_guest(program).value == ["A", 2.0, "a%20b", 1, -4]


def test_what_c_imports_for_a_program_is_there_and_nothing_else():
    assert run_guest("from datetime import datetime\ndatetime(2024, 5, 6).strftime('%d.%m.%Y')").value == "06.05.2024"
    with pytest.raises(ImportError, match="no module subprocess here"):
        static_builtins()["__import__"]("subprocess")
