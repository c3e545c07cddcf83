"""`copy` copies data and objects of programs, and gives back the rest as itself."""

from __future__ import annotations

import copy
import datetime
import io
from collections import deque
from decimal import Decimal

import pytest

from sandbox.guest.runtime.copying import restrict_copies
from tests.sandbox.guest.host_double import run_guest


@pytest.fixture(autouse=True)
def restricted() -> None:
    restrict_copies()
    restrict_copies()  # again is no error


@pytest.mark.parametrize(
    "value",
    [[1, [2]], {"a": {1}}, deque([[1]]), Decimal("1.5"), datetime.date(2024, 1, 2), ValueError("x"), bytearray(b"a")],
)
def test_data_is_copied(value: object) -> None:
    copied = copy.deepcopy(value)

    assert type(copied) is type(value)
    assert copied == value or repr(copied) == repr(value)


class Part:
    """Something of the host's."""


def test_what_holds_a_part_of_the_host_is_given_back() -> None:
    part, method = Part(), [].append

    assert copy.deepcopy([part])[0] is part
    assert copy.deepcopy(method) is method
    assert copy.copy(Part) is Part


def test_a_text_stream_is_copied_with_what_is_in_it() -> None:
    stream = io.StringIO("kept")

    assert copy.deepcopy(stream).getvalue() == "kept"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("class A: pass\na = A()\na.x = [1]\nb = copy.deepcopy(a)\nb.x.append(2)\na.x, b.x", [[1], [1, 2]]),
        ("class A:\n    def __deepcopy__(self, memo): return 'own'\ncopy.deepcopy([A()])", ["own"]),
        ("class A:\n    __slots__ = ('x',)\na = A()\na.x = [1]\ncopy.deepcopy(a).x", [1]),
        ("class A:\n    def __getstate__(self): return {'x': 5}\nvars(copy.copy(A()))", {"x": 5}),
        ("class A:\n    def __getstate__(self): return None, {'__class__': dict}\na = A()\ncopy.copy(a) is a", True),
        ("copy.deepcopy(ns) is ns, copy.deepcopy(getattr) is getattr, copy.copy(copy) is copy", [True, True, True]),
        ("r = ns.op()\nd = copy.deepcopy(r)\nd['a'].append(2)\nr['a'], d['a'], d is r", [[1], [1, 2], False]),
    ],
)  # fmt: skip
def test_objects_of_programs_are_copied_by_their_own_rules(code: str, value: object) -> None:
    ended = run_guest(f"import copy\n{code}", {"ns.op": lambda: {"a": [1]}})

    assert ended.message == ""
    assert ended.value == value
