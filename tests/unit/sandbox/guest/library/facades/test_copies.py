"""Copies of library modules run over facades, and leave the library's own modules unchanged."""

from __future__ import annotations

import concurrent.futures.thread
import logging
import threading

import pytest

from sandbox.guest.library.facades.copies import COPIED
from tests.unit.sandbox.guest.host_double import HostDouble, run_guest


def test_the_librarys_own_modules_stay_unchanged() -> None:
    before = (vars(threading).copy(), vars(concurrent.futures.thread).copy(), vars(logging).copy())

    ended = run_guest(
        "import logging, threading\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "logging.basicConfig(level='DEBUG')\nlogging.getLogger('mine').setLevel('ERROR')\n"
        "with ThreadPoolExecutor() as pool: pool.submit(threading.Lock).result()\nlen(logging.root.handlers)"
    )

    assert ended.value == 1
    assert (vars(threading), vars(concurrent.futures.thread), vars(logging)) == before
    assert "mine" not in logging.root.manager.loggerDict


def test_waits_of_copied_modules_take_the_time_of_the_host() -> None:
    ended = run_guest(
        "import queue, threading, time\nfrom concurrent.futures import Future\n"
        "for wait in (threading.Event().wait, lambda t: queue.Queue().get(timeout=t), Future().result):\n"
        "    try:\n        wait(3600)\n    except (queue.Empty, TimeoutError):\n        pass\n"
        "round(time.monotonic() / 3600)"
    )

    assert ended.value == 3


def test_a_program_with_threads_replays_from_its_frames() -> None:
    code = (
        "import queue, threading\nq, out = queue.Queue(), []\n"
        "def work():\n    while (n := q.get()) is not None:\n        out.append(ns.op(a=n)['k'])\n"
        "threads = [threading.Thread(target=work) for _ in range(3)]\nfor t in threads: t.start()\n"
        "for n in [1, 2, 3, 4, 5, None, None, None]: q.put(n)\nfor t in threads: t.join()\nout"
    )
    delays = {1: 9_000, 2: 2_000, 3: 4_000, 4: 1_000, 5: 3_000}
    tools = {"ns.op": lambda a: {"k": a}}
    live = run_guest(code, tools, host=HostDouble(tools, delays=delays.__getitem__))

    again = run_guest(code, names=["ns"], host=HostDouble({}, recorded=live.frames))

    assert sorted(live.value) == [1, 2, 3, 4, 5]
    assert (again.value, again.calls) == (live.value, live.calls)


@pytest.mark.parametrize("name", ["os", "_os", "_thread", "_base", "sys"])
@pytest.mark.parametrize("module", [name for name in COPIED if "_" not in name and "." not in name])
def test_a_copy_hands_over_listed_names_only(module: str, name: str) -> None:
    assert run_guest(f"import {module}\nhasattr({module}, {name!r})").value is False


def test_a_format_of_a_log_reads_no_private_attributes() -> None:
    ended = run_guest(
        "import logging, sys\nhandler = logging.StreamHandler(sys.stdout)\n"
        "handler.setFormatter(logging.Formatter('{args.__class__.__base__.__subclasses__}', style='{'))\n"
        "logging.getLogger().addHandler(handler)\nlogging.warning('x')"
    )

    assert "built-in method" not in ended.output


def test_a_log_in_a_file_is_refused() -> None:
    ended = run_guest("import logging\nlogging.basicConfig(filename='a.log')")

    assert "there are no files here: leave filename out" in ended.message
