"""Following calls through a program: what is found, and that looking stays quick however long the program is."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from sandbox.guest.language.compilation import compile_program
from sandbox.limits import Limits
from tests.unit.sandbox.guest.host_double import run_guest


def steps(code: str) -> int:
    """Count the calls of functions of the language layer while a program is compiled."""
    counted: Counter[str] = Counter()

    def count(frame, event, argument) -> None:
        if event == "call" and "/language/" in frame.f_code.co_filename:
            counted["calls"] += 1

    sys.setprofile(count)
    try:
        compile_program(code, names=("ns",), limit_bytes=100_000, limit_depth=Limits().source_depth)
    finally:
        sys.setprofile(None)
    return counted["calls"]


def appended(count: int) -> str:
    lines = "\n".join(f"calls.append(ns.op(a={number}))" for number in range(count))
    return f"import asyncio\ncalls = []\n{lines}\nawait asyncio.gather(*calls)"


def assigned_again(count: int) -> str:
    lines = "\n".join(f"x = ns.op(a={number})\ny = await x" for number in range(count))
    return f"import asyncio\n{lines}"


def doubled(count: int) -> str:
    lines = "\n".join(f"x{number + 1} = [x{number}, x{number}]" for number in range(count))
    return f"import asyncio\nx0 = ns.op()\n{lines}\nawait x{count}"


def lambdas(count: int) -> str:
    lines = "\n".join(f"g{number} = lambda x: x" for number in range(count))
    return f"import asyncio\n{lines}\nawait g1(ns.op())"


@pytest.mark.parametrize("make", [appended, assigned_again, lambdas])
def test_a_program_of_twice_the_length_takes_about_twice_the_steps(make) -> None:
    assert steps(make(400)) < 2.5 * steps(make(200))


def test_ways_that_part_and_meet_are_followed_once() -> None:
    assert steps(doubled(40)) < 3 * steps(doubled(20))


def test_a_long_way_runs_the_call_where_it_stands_and_refuses_nothing() -> None:
    links = "\n".join(f"x{number + 1} = x{number}" for number in range(900))

    ended = run_guest(f"import asyncio\nx0 = ns.op()\n{links}\nawait x900", {"ns.op": lambda: 7})

    assert ended.value == 7


def test_a_call_that_is_a_keyword_of_a_class_is_made_there() -> None:
    code = (
        "class Base:\n    def __init_subclass__(cls, found):\n        cls.found = found['a']\n"
        "class Kind(Base, found=ns.op(a=5)): pass\nlater = ns.op(a=6)\nclass Other(Base, found=later): pass\n"
        "[Kind.found, Other.found, (await later)['a']]"
    )

    ended = run_guest(code, {"ns.op": lambda **arguments: arguments})

    assert ended.value == [5, 6, 6], ended.message


def test_a_call_that_others_may_read_as_an_attribute_is_made_where_it_stands() -> None:
    code = "x = ns.op(a=1)\nclass A:\n    x = ns.op(a=2)\n[(await x)['a'], A.x['a']]"

    ended = run_guest(code, {"ns.op": lambda **arguments: arguments})

    assert ended.value == [1, 2], ended.message
