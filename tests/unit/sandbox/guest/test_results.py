# ruff: noqa: E501 - programs stand as they are sent
"""What a program gives back, prints and sends."""

from __future__ import annotations

import pytest

from sandbox.limits import Limits
from tests.unit.sandbox.guest.host_double import run_guest

VALUES = {
    "1 + 1": 2,
    "x = 5": None,
    "result = {'a': 1}": {"a": 1},
    "print('x')": None,
    "if True:\n    return [1, 2]\n3": [1, 2],
    "def f():\n    return 7\nf()": 7,
    "(1, (2,), {3})": [1, [2], [3]],
    "{'b', 'a'}": ["a", "b"],
    "{1: 'a', None: 'b', True: 'c', (1, 2): 'd', 2.5: 'e'}": {
        "1": "c",
        "null": "b",
        "[1, 2]": "d",
        "2.5": "e",
    },
    "from datetime import date, datetime, timedelta\n[date(2024, 1, 2), datetime(2024, 1, 2, 3), timedelta(seconds=1.5)]": [
        "2024-01-02",
        "2024-01-02T03:00:00",
        1.5,
    ],
    "from decimal import Decimal\nDecimal('1.10')": "1.10",
    "from enum import Enum\nclass E(Enum):\n    A = 'x'\n{E.A: [E.A]}": {"x": ["x"]},
    "from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int\n    b: list\nD(1, [D(2, [])])": {
        "a": 1,
        "b": [{"a": 2, "b": []}],
    },
    "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n[P(1)]": [{"x": 1}],
    "from collections import Counter, defaultdict, deque\n[Counter('aab'), defaultdict(int, k=1), deque([1])]": [
        {"a": 2, "b": 1},
        {"k": 1},
        [1],
    ],
    "(x * x for x in range(3))": [0, 1, 4],
    "from array import array\nfrom collections import UserDict, UserList\n[UserList([1, (2,)]), UserDict(a=1), array('i', [1])]": [
        [1, [2]],
        {"a": 1},
        [1],
    ],
    "from collections.abc import Sequence\nclass Page(Sequence):\n    def __len__(self): return 2\n"
    "    def __getitem__(self, i): return [7, 8][i]\n{'page': Page()}": {"page": [7, 8]},
    "{'a': 1}.items()": [["a", 1]],
    "[float('inf'), float('nan'), b'ab', range(2)]": ["inf", "nan", "ab", [0, 1]],
    "async def f():\n    return 5\nf()": 5,
    "await ns.op(a=1)": {"a": 1},
    "ns.op(a=[1, (2,), {'k': None}])": {"a": [1, [2], {"k": None}]},
    "r = ns.op(a={'b': {'items': 3, 'c': 4}})\n[r.a.b.c, r['a']['b']['items'], type(r) is dict, isinstance(r, dict)]": [
        4,
        3,
        True,
        True,
    ],
    "import copy, json\nr = ns.op(a=1)\n[copy.deepcopy(r), json.loads(json.dumps(r)), r | {'b': 2}, {**r}]": [
        {"a": 1},
        {"a": 1},
        {"a": 1, "b": 2},
        {"a": 1},
    ],
    "getattr(getattr(tools, 'ns'), 'op')(a=2).a": 2,
    "import sys\nsys.set_int_max_str_digits(0)\n[len(str(10**99_999)), int('9' * 50_000) % 7, 10**20_000 // 10**19_999]": [
        100_000,
        1,
        10,
    ],
    "'\u2603'.encode('ascii', 'namereplace').decode()": "\\N{SNOWMAN}",
}


@pytest.mark.parametrize(("code", "value"), VALUES.items(), ids=VALUES.keys())
def test_the_value_of_a_program_is_json_data(code: str, value: object) -> None:
    ended = run_guest(code, {"ns.op": lambda **arguments: arguments})

    assert ended.status == "completed", ended.message
    assert ended.value == value


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("{'a': [1, lambda: 0]}", "result.a[1]"),
        ("class A: pass\n[A()]", "result[0] is a A"),
        ("x = []\nx.append(x)\nx", "holds itself"),
        ("x = []\nfor _ in range(100):\n    x = [x]\nx", "nested more than 64"),
        ("'x' * 2000", "allowed"),
        ("import json\n{'m': json.dumps}", "the function dumps"),
        ("import sys\nsys.set_int_max_str_digits(0)\n[10 ** 5000]", "digits: give it as text, with str()"),
        ("[1, tools.ns.list]", "result[1] is <tool ns.list>, which is not data: call it"),
    ],
)
def test_a_value_that_is_no_data_names_its_place(code: str, says: str) -> None:
    ended = run_guest(code, limits=Limits(result_bytes=1_000))

    assert ended.failure is not None
    assert ended.failure["type"] == "ResultError"
    assert says in ended.message


def test_output_is_cut_at_its_limit_and_says_so() -> None:
    ended = run_guest("for i in range(1000):\n    print('x' * 50)", limits=Limits(output_bytes=5_000))

    assert len(ended.output) <= 5_000
    assert "output cut here" in ended.output


def test_print_goes_to_the_output_in_all_its_forms() -> None:
    ended = run_guest(
        "import sys, io, contextlib\nprint(1, 2, sep='-', end='!')\nprint('e', file=sys.stderr)\nsys.stdout.write('w')\n"
        "b = io.StringIO()\nprint('inner', file=b)\nwith contextlib.redirect_stdout(b):\n    print('redirected')\nprint(b.getvalue())"
    )

    assert ended.output == "1-2!winner\nredirected\n\n"
    assert ended.notes == ["on standard error: e"]


def test_standard_error_is_no_output_and_its_beginning_a_note() -> None:
    code = (
        "import logging, warnings, traceback, sys, io, contextlib\nlogging.warning('low %s', 'disk')\n"
        "warnings.warn('old')\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n"
        "with contextlib.redirect_stderr(io.StringIO()) as kept:\n    print('kept', file=sys.stderr)\n"
        "print(kept.getvalue(), end='')\nsys.stderr.write('x' * 2000)"
    )

    ended = run_guest(code)

    assert ended.output == "kept\n"
    (note,) = ended.notes
    assert note.startswith("on standard error: WARNING:root:low disk\nUserWarning: old\nTraceback (most recent")
    assert note.endswith("xxx …")
    assert len(note) < 1_000


def test_call_sites_are_told_before_anything_runs() -> None:
    ended = run_guest(
        "c = ns.group\nf = ns.op\nc.one(a=1, b=2)\nf(x=1, **{})\nns.op(1)\ntools.ns.two(z=1)\n"
        "from functools import partial\npartial(ns.op, q=1)\nother.op(a=1)\nclass ns2: pass",
        names=["ns"],
        tools={},
    )

    assert [site[:4] for site in ended.sites] == [
        ["ns.group.one", ["a", "b"], 0, False],
        ["ns.op", ["x"], 0, True],
        ["ns.op", [], 1, False],
        ["ns.two", ["z"], 0, False],
        ["ns.op", ["q"], 0, True],
    ]


def test_a_namespace_that_the_program_rebinds_is_no_call_site() -> None:
    assert (
        run_guest("class ns:\n    @staticmethod\n    def op(a):\n        return a\nns.op(1)", names=["ns"]).sites == []
    )


def test_a_failed_call_is_an_exception_that_tells_status_and_body() -> None:
    class Failed(Exception):
        message, status, body = "no such thing", 404, {"code": "gone"}

    def fail() -> None:
        raise Failed

    ended = run_guest(
        "try:\n    ns.fail()\nexcept ToolError as e:\n    print(e, e.status, e.status_code, e.body['code'], isinstance(e, Exception))",
        {"ns.fail": fail},
    )

    assert ended.output == "404: no such thing 404 404 gone True\n"


def test_exit_ends_the_program_and_a_code_fails_it() -> None:
    assert run_guest("import sys\nprint(1)\nsys.exit()\nprint(2)").output == "1\n"
    assert run_guest("exit(2)").status == "failed"


def test_bare_except_cannot_swallow_the_end_of_a_program() -> None:
    assert run_guest("try:\n    return 5\nexcept:\n    print('caught')\n6").value == 5


def test_an_argument_may_have_any_name() -> None:
    tools = {"ns.echo": lambda **arguments: arguments}
    assert run_guest("ns.echo(self=1, args=2, kwargs=3)", tools, names=("ns",)).value == {
        "self": 1,
        "args": 2,
        "kwargs": 3,
    }


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "getattr(odd, '_private')()",
            "odd has no operation '_private': names have no leading underscore; write odd.private",
        ),
        ("odd['list-issues']()", "odd is a namespace, not a dict: write odd.list_issues"),
        ("odd['class']()", "odd is a namespace, not a dict: write odd.class_"),
        ("odd.list['items']", "odd.list was not called: write odd.list(...)['items']"),
    ],
)
def test_a_name_as_the_server_writes_it_is_answered_with_the_name_to_write(code: str, says: str) -> None:
    ended = run_guest(code, {}, names=("odd",))
    assert ended.failure is not None
    assert says in ended.failure["message"]
