"""When memory is freed follows from the program alone; objects are numbered, and not kept for it."""

from __future__ import annotations

import gc

from sandbox.guest.base.identities import Identities
from tests.unit.sandbox.guest.host_double import run_guest


class Thing:
    """Something that can be watched."""


def test_an_object_keeps_its_number_and_no_other_gets_it() -> None:
    identities = Identities()
    first, second = Thing(), Thing()

    numbers = [identities.number(each) for each in (first, second, first)]
    del first
    third = identities.number(Thing())

    assert numbers == [1, 2, 1]
    assert third == 3


def test_a_numbered_object_is_let_go() -> None:
    ended = run_guest(
        "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a)\nhash(a), id(a), repr(a)\ndel a\nr() is None"
    )

    assert ended.value is True


def test_a_finalizer_is_called_once_when_the_object_goes() -> None:
    ended = run_guest(
        "import weakref\nclass A: pass\na, b = A(), A()\nf = weakref.finalize(a, print, 'gone', end='!')\n"
        "g = weakref.finalize(b, print, 'never')\nkept = g.detach()\ndel a, b\n"
        "f.alive, f(), g.alive, g.peek(), kept[1] is print"
    )

    assert ended.value == [False, None, False, None, True]
    assert ended.output == "gone!"


def test_a_program_that_watches_memory_runs_without_the_collector() -> None:
    code = (
        "class A:\n    def __del__(self): print('gone')\nfor _ in range(5000):\n    a = A()\n    a.me = a\nprint('end')"
    )
    try:
        assert run_guest(code).output == "gone\n" * 0 + "end\n"
    finally:
        gc.enable()
        gc.collect()


def test_addresses_in_text_become_numbers() -> None:
    identities = Identities()
    thing = Thing()
    text = f"{thing!r} {print} {steps!r} {thing!r} at 0x12345678901 at 0xdead"

    shown = identities.steady(text)

    assert hex(id(thing)) not in shown
    assert shown.count(f"at {hex(0x100000000010)}") == 2
    assert shown.endswith("at 0x12345678901 at 0xdead")


def steps() -> None:
    """Something whose repr shows an address."""


def test_what_leaves_a_program_shows_no_address() -> None:
    code = (
        "def f(): pass\nclass A: pass\nprint(f, A().__repr__, [f])\nns.op(text=str(f), n=id(f))\nassert repr(f)\nstr(f)"
    )
    first = run_guest(code, {"ns.op": lambda **given: None})
    kept = [object() for _ in range(1000)]
    again = run_guest(code, {"ns.op": lambda **given: None})

    assert kept
    assert first.value == again.value
    assert first.value.startswith("<function f at 0x1000000000")
    assert first.output == again.output
    assert first.calls == again.calls
    assert run_guest("def f(): pass\nraise ValueError(f)").failure["message"] == "<function f at 0x100000000010>"
