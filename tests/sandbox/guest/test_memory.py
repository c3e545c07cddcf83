"""When memory is freed follows from the program alone; objects are numbered, and not kept for it."""

from __future__ import annotations

import gc

from sandbox.guest.runtime.own import Identities
from tests.sandbox.guest.host_double import run_guest


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
