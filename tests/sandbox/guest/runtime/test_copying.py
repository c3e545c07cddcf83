# ruff: noqa: E501 - programs stand as they are sent
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
        ("class A:\n    def __deepcopy__(self, memo):\n        memo[id(self)] = made = A()\n"
         "        made.x = copy.deepcopy(self.x, memo)\n        return made\n"
         "a = A()\na.x = [a]\nb = copy.deepcopy(a)\nb.x[0] is b, b is a", [True, False]),
        ("class A:\n    def __getstate__(self): return {'x': 5}\nvars(copy.copy(A()))", {"x": 5}),
        ("class A(Exception): pass\na = A(1)\na.add_note('n')\na.x = 2\nb = copy.copy(a)\nb.__notes__, b.x", [["n"], 2]),
        ("class A(dict):\n    def __setitem__(self, k, v): super().__setitem__(k + self.end, v)\na = A(x=1)\na.end = '.'\n"
         "copy.deepcopy(a), copy.copy(a)", [{"x.": 1}, {"x.": 1}]),
        ("copy.deepcopy(ns) is ns, copy.deepcopy(getattr) is getattr, copy.copy(copy) is copy", [True, True, True]),
        ("r = ns.op()\nd = copy.deepcopy(r)\nd['a'].append(2)\nr['a'], d['a'], d is r", [[1], [1, 2], False]),
    ],
)  # fmt: skip
def test_objects_of_programs_are_copied_by_their_own_rules(code: str, value: object) -> None:
    ended = run_guest(f"import copy\n{code}", {"ns.op": lambda: {"a": [1]}})

    assert ended.message == ""
    assert ended.value == value


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def __getstate__(self): return None, {'__class__': B}\ncopy.copy(A())",
        "class Pair(tuple):\n    seen = 0\n    def __len__(self):\n        Pair.seen += 1\n        return 3 if Pair.seen == 1 else 2\n"
        "class A:\n    def __getstate__(self): return Pair((None, {'__class__': B}))\ncopy.copy(A())",
        "slots = {}\nclass A:\n    def __new__(cls):\n        slots.update(later)\n        return object.__new__(cls)\n"
        "    def __getstate__(self): return None, slots\nlater = {}\na = A()\nlater['__class__'] = B\ncopy.copy(a)",
        "class A(Exception):\n    def __new__(cls, *given):\n        vars(given[0]).update(later)\n"
        "        return Exception.__new__(cls, *given)\nlater = {}\nclass Kept: pass\na = A(Kept())\na.x = 1\n"
        "a.args = (a,)\nlater['__class__'] = B\ncopy.copy(a)",
        "class Late:\n    def __deepcopy__(self, memo):\n        [each.update(__class__=B) for each in memo.values() if "
        "isinstance(each, dict) and 'first' in each]\nclass A:\n    def __getstate__(self): return None, {'first': 1, 'x': Late()}\n"
        "copy.deepcopy(A())",
    ],
)  # fmt: skip
def test_the_state_of_a_copy_names_nothing_of_the_interpreter_s(code: str) -> None:
    ended = run_guest(f"import copy\nclass B: pass\n{code}")

    assert "the state of a copy cannot name '__class__'" in ended.message


def test_what_a_log_record_holds_does_not_say_how_it_is_copied() -> None:
    code = """
import copy, logging
kept = []
logger = logging.getLogger("x")
logger.addFilter(kept.append)
logger.warning("a", extra={"__reduce_ex__": lambda protocol: (lambda: ns.op, (), (None, {"_path": "other"}))})
copy.copy(kept[0]) is kept[0], str(ns.op)
"""

    assert run_guest(code, {"ns.op": lambda: 1}).value == [True, "<tool ns.op>"]
