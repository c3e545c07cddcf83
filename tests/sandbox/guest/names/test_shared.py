"""What the library shares between programs cannot be changed, or is put back."""

from __future__ import annotations

import ast
import calendar
import csv
import enum
import inspect
import json
import re
import textwrap
import uuid

import pytest

from sandbox.guest import program
from sandbox.guest.names.shared import freeze_class, restore_shared, shared_nodes
from sandbox.guest.language.own import MARK, MARK_NAME
from sandbox.guest.language.kinds import SeenType
from tests.sandbox.guest.host_double import run_guest
from tests.sandbox.guest.test_reach import SAMPLES


@pytest.fixture(autouse=True)
def warm() -> None:
    program.warm_up()


def test_a_class_of_somebody_else_may_hold_a_function_of_no_module() -> None:
    def nowhere() -> None: ...

    nowhere.__module__ = None  # type: ignore[assignment]
    held = type("Held", (), {"nowhere": nowhere})
    program.warm_up()
    held.still_open = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [textwrap.TextWrapper, calendar.HTMLCalendar, SeenType])
def test_a_class_of_the_library_takes_no_attribute(kind: type) -> None:
    with pytest.raises(TypeError, match="immutable type"):
        kind.made_by_a_program = 1  # type: ignore[attr-defined]


def test_freezing_a_class_leaves_its_objects_as_they_are() -> None:
    class Frozen:
        kept = 1

    freeze_class(Frozen)
    thing = Frozen()
    thing.x = 2  # type: ignore[attr-defined]

    with pytest.raises(TypeError, match="immutable type"):
        Frozen.kept = 2
    assert (Frozen.kept, thing.x) == (1, 2)  # type: ignore[attr-defined]


def test_lists_of_classes_are_read_as_before() -> None:
    assert list(calendar.HTMLCalendar.cssclasses) == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    assert textwrap.fill("a\tb\nc", 20) == "a       b c"


def test_a_limit_that_a_program_set_is_put_back() -> None:
    csv.field_size_limit(5)

    restore_shared()

    assert csv.field_size_limit() == 131_072


def test_caches_forget_what_a_program_put_into_them() -> None:
    first = re.compile("made by a program")

    restore_shared()

    assert re.compile("made by a program") is not first


def test_the_next_program_finds_nothing_of_the_one_before() -> None:
    run_guest("import csv, decimal\ncsv.field_size_limit(7)\ndecimal.getcontext().prec = 3")

    ended = run_guest("import csv, decimal\ncsv.field_size_limit(), decimal.getcontext().prec")

    assert ended.value == [131_072, 28]


@pytest.mark.parametrize(
    "kept",
    [
        "words = Words()",
        "class Holder:\n    words = Words()",
        "import sys\nsys.stdin = Words()",
        "import logging\nlogging.addLevelName(5, Text('x'))",
        "id(Pair())",
        "import copy\nclass Holder:\n    words = Words()\ncopy.copy(Holder())",
    ],
)
def test_nothing_of_a_program_runs_when_it_has_ended(kept: str) -> None:
    run_guest(
        "import csv\ndef say(self, limit=csv.field_size_limit):\n    limit(7)\nclass Words:\n    __del__ = say\n"
        "class Text(str):\n    __del__ = say\nclass Pair(tuple):\n    __slots__ = ()\n    __del__ = say\n"
        f"{kept}\nNone"
    )

    ended = run_guest(
        "import csv, gc, logging\nfound = csv.field_size_limit()\ngc.collect()\nfound, csv.field_size_limit()"
    )

    assert ended.value == [131_072, 131_072]


def test_an_enum_of_the_host_has_a_metaclass_of_its_own_as_before() -> None:
    class Named(enum.EnumMeta):
        pass

    class Color(enum.Enum, metaclass=Named):
        RED = 1

    assert Color.RED.value == 1


def test_a_path_that_equals_another_does_not_answer_for_it_in_the_next_program() -> None:
    run_guest(
        "from xml.etree import ElementTree\nclass Path(str):\n    def __hash__(self): return hash('a/b')\n"
        "    def __eq__(self, other): return True\n"
        "ElementTree.fromstring('<r/>').findall(Path('c/d'))\nNone"
    )

    ended = run_guest(
        "from xml.etree import ElementTree\nlen(ElementTree.fromstring('<r><a><b/></a></r>').findall('a/b'))"
    )

    assert ended.value == 1


def test_a_method_that_sets_attributes_takes_objects_of_its_class_alone() -> None:
    ended = run_guest("import json, random\nrandom.Random.setstate(json.dumps, (3, (), ['kept']))")

    assert "a method of 'Random' was called on a 'function' object" in ended.message


def test_an_attribute_of_a_shared_function_is_taken_away_again() -> None:
    ended = run_guest(
        "import json, types, uuid\nfor shared in (json.dumps, uuid.SafeUUID.safe):\n"
        "    types.GenericAlias(lambda: shared, int)()\n'__orig_class__' in dir(json.dumps)"
    )

    assert ended.value is True
    assert "__orig_class__" not in vars(json.dumps)
    assert "__orig_class__" not in vars(uuid.SafeUUID.safe)


def test_a_property_that_a_class_of_a_program_holds_has_its_name_again() -> None:
    shows = "from fractions import Fraction\nclass Own(Fraction): pass\ntry: Own().numerator = 1\n"
    shows += "except AttributeError as error: told = str(error)\n"
    before = run_guest(f"{shows}told")

    told = run_guest(f"class Holds:\n    other = __import__('fractions').Fraction.numerator\n{shows}told")
    after = run_guest(f"{shows}told")

    assert "'other'" in told.value
    assert "'numerator'" in before.value
    assert after.value == before.value


def test_a_field_of_a_dataclass_does_not_name_a_property_for_the_next_program() -> None:
    before = getattr(inspect.Parameter.kind, "__name__", None)

    ended = run_guest(
        "import dataclasses, inspect\n"
        "class Text(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        "dataclasses.field(default=inspect.Parameter.kind).__set_name__(int, Text('another'))\nNone"
    )

    assert ended.status == "completed"
    assert getattr(inspect.Parameter.kind, "__name__", None) is before


def test_a_cached_property_has_no_lock_that_a_program_can_take() -> None:
    ended = run_guest(
        "import functools, ipaddress\n"
        "class Own:\n    @functools.cached_property\n    def made(self): return 5\n"
        "shared = (ipaddress.IPv4Interface.hostmask, Own.made)\n"
        "[Own().made, *(hasattr(getattr(each, 'lock', None), 'acquire') for each in shared)]"
    )

    assert ended.value == [5, False, False]


def test_what_an_alias_sets_on_what_our_modules_show_does_not_stay() -> None:
    shared = (
        "import concurrent.futures, gzip, ipaddress, logging, threading, time, types, typing, urllib.parse, weakref\n"
        "from xml.etree import ElementTree\n"
        "shared = [concurrent.futures.InvalidStateError, gzip.BadGzipFile, ipaddress.IPv4Interface.hostmask.func,\n"
        "    logging.Handler.emit, threading.BrokenBarrierError, time.struct_time, typing.Match, weakref.WeakSet.add,\n"
        "    urllib.parse.urlsplit.cache_info, ElementTree.indent, ElementTree.ParseError]\n"
    )

    run_guest(f"{shared}for each in shared: types.GenericAlias(lambda: each, int)()\nNone")
    after = run_guest(f"{shared}[str(each) for each in shared if '__orig_class__' in dir(each)]")

    assert after.value == []


PLANTS = """
import json, types
kinds = []
class Kind:
    def __del__(self, kinds=kinds, left=[1] * {times}, plant=types.GenericAlias, at=json.dumps):
        if left:
            left.pop()
            plant(lambda: at, (kinds[0](),))()
kinds.append(Kind)
types.GenericAlias(lambda: json.dumps, (Kind(),))()
None
"""


def test_what_goes_may_set_things_anew_a_few_times() -> None:
    run_guest(PLANTS.format(times=50))

    assert "__orig_class__" not in vars(json.dumps)


def test_a_program_whose_finalizers_go_on_leaves_a_process_that_serves_no_other() -> None:
    with pytest.raises(RuntimeError, match="its finalizers go on"):
        run_guest(PLANTS.format(times=150))

    restore_shared()
    assert "__orig_class__" not in vars(json.dumps)


def test_no_class_of_a_program_is_found_after_its_end() -> None:
    ended = run_guest(f"{SAMPLES}\nclass Left(Exception): pass", {"ns.op": lambda: {"a": 1}, "ns.fail": lambda: 1 / 0})

    assert ended.status == "completed", ended.message
    assert "Left" not in [kind.__name__ for kind in Exception.__subclasses__()]


def test_a_class_that_was_frozen_since_stays_as_it_is() -> None:
    made = type("Made", (), {MARK_NAME: MARK})
    freeze_class(made)

    restore_shared()

    assert vars(made)[MARK_NAME] is MARK


def test_what_is_parked_ends_with_its_program_and_neither_waits_nor_calls() -> None:
    code = """
import threading
class Left(Exception): pass
event = threading.Event()
def waits():
    try:
        event.wait()
    finally:
        for act in (event.wait, ns.op):
            try:
                act()
            except RuntimeError:
                pass
for _ in range(3):
    threading.Thread(target=waits, daemon=True).start()
ns.op()
"""
    calls: list[int] = []
    ended = run_guest(code, {"ns.op": lambda: calls.append(1)})

    assert (ended.status, calls) == ("completed", [1])
    assert "Left" not in [kind.__name__ for kind in Exception.__subclasses__()]


def test_trees_share_their_contexts_and_operators_which_are_put_back() -> None:
    kinds = {
        kind
        for base in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
        for kind in base.__subclasses__()
    }

    assert {kind for kind in kinds if not issubclass(kind, ast.AugLoad | ast.AugStore | ast.Param)} == set(
        map(type, shared_nodes())
    )
