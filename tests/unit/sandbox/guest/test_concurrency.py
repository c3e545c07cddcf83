# ruff: noqa: E501, S311 - programs stand as they are sent; random numbers are seeded
"""Sync, thread style and await reach the host in parallel, and the same frames give the same run."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.unit.sandbox.guest.host_double import Ended, HostDouble, run_guest

CALL_US = 20_000


def answer(**arguments: Any) -> Any:
    return {"k": arguments.get("a"), "items": [1]}


def slowly(code: str) -> Ended:
    """Run with calls of 20 ms each."""
    tools = {"ns.op": answer}
    return run_guest(code, tools, host=HostDouble(tools, delays=lambda call_id: CALL_US))


PARALLEL = {
    "gather of awaitables": "import asyncio\nr = await asyncio.gather(*[ns.op(a=i) for i in range(50)])",
    "gather of calls in a list": (
        "import asyncio\ncalls = [ns.op(a=i) for i in range(50)]\nr = await asyncio.gather(*calls)"
    ),
    "gather of appended calls": (
        "import asyncio\ncalls = []\nfor i in range(50):\n    calls.append(ns.op(a=i))\nr = await asyncio.gather(*calls)"
    ),
    "gather of a dict": (
        "import asyncio\nd = {i: ns.op(a=i) for i in range(50)}\nr = dict(zip(d.keys(), await asyncio.gather(*d.values())))"
    ),
    "gather through a helper": (
        "import asyncio\ndef get(i):\n    return ns.op(a=i)\nr = await asyncio.gather(*[get(i) for i in range(50)])"
    ),
    "gather through a lambda": ("import asyncio\nr = await asyncio.gather(*map(lambda i: ns.op(a=i), range(50)))"),
    "gather of coroutines": (
        "import asyncio\nasync def get(i):\n    return await ns.op(a=i)\nr = await asyncio.gather(*[get(i) for i in range(50)])"
    ),
    "gather of coroutines with plain calls": (
        "import asyncio\nasync def get(i):\n    return ns.op(a=i)['k']\nr = await asyncio.gather(*[get(i) for i in range(50)])"
    ),
    "tasks": ("import asyncio\nts = [asyncio.create_task(ns.op(a=i)) for i in range(50)]\nr = [await t for t in ts]"),
    "task group": (
        "import asyncio\nasync with asyncio.TaskGroup() as tg:\n    ts = [tg.create_task(ns.op(a=i)) for i in range(50)]\n"
        "r = [t.result() for t in ts]"
    ),
    "awaited later": (
        "import asyncio\nasync def limited(sem, call):\n    async with sem:\n        return await call\n"
        "sem = asyncio.Semaphore(50)\nr = await asyncio.gather(*[limited(sem, ns.op(a=i)) for i in range(50)])"
    ),
    "asyncio.run": (
        "import asyncio\nasync def main():\n    return await asyncio.gather(*(ns.op(a=i) for i in range(50)))\nr = asyncio.run(main())"
    ),
    "executor map": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(50) as pool:\n"
        "    r = list(pool.map(lambda i: ns.op(a=i), range(50)))"
    ),
    "executor submit": (
        "from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor(50) as pool:\n"
        "    r = [f.result() for f in as_completed([pool.submit(ns.op, a=i) for i in range(50)])]"
    ),
    "threads": (
        "import threading\nr = []\nts = [threading.Thread(target=lambda i=i: r.append(ns.op(a=i))) for i in range(50)]\n"
        "[t.start() for t in ts]\n[t.join() for t in ts]"
    ),
    "to_thread": ("import asyncio\nr = await asyncio.gather(*[asyncio.to_thread(ns.op, a=i) for i in range(50)])"),
    "run_in_executor": (
        "import asyncio\nfrom functools import partial\nasync def main():\n    loop = asyncio.get_running_loop()\n"
        "    return await asyncio.gather(*[loop.run_in_executor(None, partial(ns.op, a=i)) for i in range(50)])\nr = asyncio.run(main())"
    ),
}


@pytest.mark.parametrize("code", PARALLEL.values(), ids=PARALLEL.keys())
def test_fifty_calls_take_the_time_of_one(code: str) -> None:
    ended = slowly(code + "\nimport time\n[len(r), time.perf_counter()]")

    assert ended.status == "completed", ended.message
    count, seconds = ended.value
    assert count == 50
    assert seconds < 0.03
    assert ended.batches[0] == 50 or sum(ended.batches) == 50


def test_two_calls_in_each_job_take_the_time_of_two() -> None:
    ended = slowly(
        "from concurrent.futures import ThreadPoolExecutor\nimport time\n"
        "def job(i):\n    first = ns.op(a=i)\n    return ns.op(a=first['k'] + 1)['k']\n"
        "with ThreadPoolExecutor(50) as pool:\n    r = list(pool.map(job, range(50)))\n[r[:3], time.perf_counter()]"
    )

    assert ended.value[0] == [1, 2, 3]
    assert ended.value[1] < 0.05


SEQUENTIAL = {
    "a value is used": "import asyncio\nr = [ns.op(a=i)['k'] for i in range(5)]\nawait asyncio.sleep(0)\nr",
    "a list that nobody awaits": (
        "import asyncio\nlog = []\nfor i in range(5):\n    log.append(ns.op(a=i))\nawait asyncio.sleep(0)\n[x['k'] for x in log]"
    ),
    "a plain call in async code": "async def f():\n    return [ns.op(a=i)['k'] for i in range(5)]\nawait f()",
    "an await of a value": "x = ns.op(a=1)\nprint(x['k'])\ny = await x\n[0, y['k'], 2, 3, 4]",
}


@pytest.mark.parametrize("code", SEQUENTIAL.values(), ids=SEQUENTIAL.keys())
def test_a_call_whose_value_is_used_gives_its_value(code: str) -> None:
    ended = slowly(code)

    assert ended.status == "completed", ended.message
    assert ended.value == [0, 1, 2, 3, 4]


def test_a_call_that_is_put_away_and_never_looked_at_is_still_made() -> None:
    ended = slowly(
        "import asyncio\nlog = []\nfor i in range(3):\n    log.append(ns.op(a=i))\nawait asyncio.sleep(0)\n1"
    )

    assert len(ended.calls) == 3


def test_a_deferred_call_that_is_used_says_that_it_was_not_awaited() -> None:
    ended = slowly("import asyncio\ncalls = [ns.op(a=1)]\nfor c in calls:\n    await c\ngetattr(calls[0], 'k')")

    assert ended.status == "completed" or "await" in ended.message


def test_cancelling_a_task_in_a_plain_call_raises_there_and_tells_the_host() -> None:
    ended = slowly(
        "import asyncio\nasync def f():\n    try:\n        ns.op(a=1)\n    except asyncio.CancelledError:\n        print('cancelled')\n"
        "        raise\nasync def main():\n    t = asyncio.create_task(f())\n    other = asyncio.create_task(asyncio.sleep(0.001))\n"
        "    await other\n    t.cancel()\n    try:\n        await t\n    except asyncio.CancelledError:\n        print('seen')\n"
        "asyncio.run(main())"
    )

    assert ended.output == "cancelled\nseen\n"
    assert ended.cancelled == [1]


def test_a_time_out_ends_an_awaited_call() -> None:
    ended = slowly(
        "import asyncio\ntry:\n    await asyncio.wait_for(ns.op(a=1), 0.005)\nexcept TimeoutError:\n    print('late')\n"
        "import time\ntime.perf_counter()"
    )

    assert ended.output == "late\n"
    assert ended.value == pytest.approx(0.005, abs=0.001)
    assert ended.cancelled == [1]


def test_a_time_out_counts_from_when_the_host_reads_of_it() -> None:
    """The guest's clock stands still while it computes: a short time-out is not used up by that."""
    ended = slowly("import asyncio\nx = await asyncio.wait_for(ns.op(a=1), 0.021)\nx['k']")

    assert ended.value == 1


_HELD = "import threading\na, b = threading.Lock(), threading.Lock()\n"
_OBJECT = "import threading\nclass Box:\n    def __init__(self): self.lock = threading.Lock()\n"


@pytest.mark.parametrize(
    ("code", "waits"),
    [
        ("import asyncio\nasync def main():\n    await asyncio.Event().wait()\nasyncio.run(main())", "Event (line 3)"),
        ("import asyncio\nqueue = asyncio.Queue()\nawait queue.get()", "Queue (line 3)"),
        (
            "import asyncio\nlock = asyncio.Lock()\nasync def f():\n    async with lock:\n        async with lock:\n"
            "            pass\nawait f()",
            "Lock (line 5)",
        ),
        (
            "import asyncio\ne = asyncio.Event()\nawait asyncio.gather(e.wait(), e.wait())",
            "waits: await (line 3); Event",
        ),
        (_HELD + "a.acquire()\na.acquire()", "waits: lock (line 4)"),
        (
            _HELD + "def f():\n    with a:\n        with b: pass\nb.acquire()\n"
            "t = threading.Thread(target=f)\nt.start()\nt.join()",
            "lock (line 5); Thread (line 9)",
        ),
        (
            _OBJECT + "    def go(self):\n        with self.lock, self.lock: pass\nBox().go()",
            "waits: lock (line 5)",
        ),
        ("import queue\nq = queue.Queue()\ndef f(rows): return rows.get()\nf(q)", "Queue (line 3)"),
    ],
)
def test_a_deadlock_names_what_is_waited_for_and_the_line(code: str, waits: str) -> None:
    ended = run_guest(code)

    assert ended.failure is not None
    assert ended.failure["type"] == "Deadlock"
    assert waits in ended.failure["message"]


def test_a_queue_that_nobody_fills_is_a_deadlock() -> None:
    ended = run_guest("import queue\nqueue.Queue().get()")

    assert "Queue (line 2)" in ended.message


def test_watching_the_clock_ends() -> None:
    ended = run_guest("import time\nend = time.time() + 0.05\nn = 0\nwhile time.time() < end:\n    n += 1\nn > 10")

    assert ended.value is True


def test_sleeping_moves_the_clock() -> None:
    ended = run_guest(
        "import time\nfrom datetime import datetime\na = datetime.now()\ntime.sleep(3600)\n(datetime.now() - a).seconds"
    )

    assert ended.value == 3600


LATER_TIMERS = {
    "tasks": (
        "import asyncio\nlate = asyncio.create_task(asyncio.sleep(0.05, 'late'))\nawait asyncio.sleep(0.001)\n"
        "await asyncio.sleep(0.002)\nr = await late\nr"
    ),
    "jobs": (
        "import time\nfrom concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    late = pool.submit(lambda: time.sleep(0.05) or 'late')\n    for delay in (0.001, 0.002):\n"
        "        pool.submit(time.sleep, delay).result()\n    r = late.result()\nr"
    ),
}


@pytest.mark.parametrize("code", LATER_TIMERS.values(), ids=LATER_TIMERS.keys())
def test_a_timer_still_rings_after_shorter_ones_that_were_set_later(code: str) -> None:
    assert run_guest(code).value == "late"


def test_recursion_of_900_works_in_parked_jobs() -> None:
    ended = slowly(
        "from concurrent.futures import ThreadPoolExecutor\ndef deep(n):\n    return ns.op(a=1)['k'] if n == 0 else deep(n - 1)\n"
        "with ThreadPoolExecutor(3) as pool:\n    r = list(pool.map(deep, [900] * 3))\nr"
    )

    assert ended.value == [1, 1, 1], ended.message


# --- identity and replay ---------------------------------------------------------------------------------------------

TREES = {
    "steps in tasks": (
        "import asyncio\nasync def f(i):\n    a = await ns.op(a=i)\n    b = ns.op(a=a['k'] + 10)\n    await asyncio.sleep(0.001 * i)\n"
        "    return (await ns.op(a=b['k']))['k']\nr = await asyncio.gather(*[f(i) for i in range(6)])\nprint(r)\nr"
    ),
    "jobs in tasks": (
        "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\ndef job(i):\n    return ns.op(a=i)['k'] + ns.op(a=i + 1)['k']\n"
        "async def f(i):\n    with ThreadPoolExecutor(2) as pool:\n        return list(pool.map(job, [i, i + 1]))\n"
        "await asyncio.gather(*[f(i) for i in range(4)])"
    ),
    "first completed": (
        "import asyncio\nts = [asyncio.create_task(ns.op(a=i)) for i in range(5)]\n"
        "done, rest = await asyncio.wait(ts, return_when=asyncio.FIRST_COMPLETED)\nprint([t.result()['k'] for t in done], len(rest))\n"
        "[(await t)['k'] for t in rest]"
    ),
    "workers on a queue": (
        "import asyncio\nasync def main():\n    q = asyncio.Queue()\n    for i in range(8):\n        q.put_nowait(i)\n    out = []\n"
        "    async def worker():\n        while not q.empty():\n            out.append((await ns.op(a=q.get_nowait()))['k'])\n"
        "    await asyncio.gather(*[worker() for _ in range(3)])\n    return out\nasyncio.run(main())"
    ),
    "time-outs": (
        "import asyncio\nasync def f(i):\n    try:\n        return (await asyncio.wait_for(ns.op(a=i), 0.01))['k']\n"
        "    except TimeoutError:\n        print('late', i)\n        return ns.op(a=100 + i)['k']\n"
        "await asyncio.gather(*[f(i) for i in range(6)])"
    ),
    "random and uuid": (
        "import random, uuid, secrets, asyncio\nclass A: pass\nprint([id(A()) > 0, len({A() for _ in range(5)})])\n"
        "print(random.random(), uuid.uuid4(), secrets.token_hex(4), [type(x).__name__ for x in {A(), 1}])\nns.op(a=random.randint(1, 9))['k']"
    ),
}


def timed(seed: int) -> HostDouble:
    generator = random.Random(seed)
    return HostDouble({"ns.op": answer}, delays=lambda call_id: generator.randint(1_000, 20_000))


@pytest.mark.parametrize("name", ["steps in tasks", "jobs in tasks", "first completed"])
def test_the_same_tree_of_tasks_has_the_same_paths_whatever_the_timing(name: str) -> None:
    seen = set()
    for seed in range(5):
        ended = run_guest(TREES[name], names=["ns"], host=timed(seed))
        assert ended.status == "completed", ended.message
        seen.add(tuple(sorted(f"{path} {tool} {arguments}" for path, tool, arguments in ended.calls)))

    assert len(seen) == 1


@pytest.mark.parametrize("code", TREES.values(), ids=TREES.keys())
@pytest.mark.parametrize("seed", range(4))
def test_the_frames_of_a_run_replay_it(code: str, seed: int) -> None:
    live = run_guest(code, names=["ns"], host=timed(seed))

    again = run_guest(code, names=["ns"], host=HostDouble({}, recorded=live.frames))

    assert live.status == "completed", live.message
    assert (again.value, again.output, again.calls, again.cancelled) == (
        live.value,
        live.output,
        live.calls,
        live.cancelled,
    )


def test_the_end_of_one_asyncio_run_leaves_the_tasks_of_another_alone() -> None:
    code = (
        "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "async def step(i):\n    return (await ns.op(a=i))['k'] + (await ns.op(a=i))['k']\n"
        "async def main(i):\n    async with asyncio.TaskGroup() as group:\n"
        "        tasks = [group.create_task(step(i)) for _ in range(i + 1)]\n    return [t.result() for t in tasks]\n"
        "def job(i):\n    for _ in range(i):\n        ns.op(a=i)\n    return asyncio.run(main(i))\n"
        "with ThreadPoolExecutor(4) as pool:\n    r = list(pool.map(job, range(3)))\nr"
    )
    assert slowly(code).value == [[0], [2, 2], [4, 4, 4]]


ENDINGS = """
import asyncio, sys, threading
from concurrent.futures import ThreadPoolExecutor
told = []
def ends():
    raise {error}
async def main():
    asyncio.get_running_loop().call_soon(ends)
    await asyncio.sleep(0.01)
    return "went on"
for _ in range(2):
    try:
        told.append(asyncio.run(main()))
    except {error} as error:
        told.append(type(error).__name__)
    with ThreadPoolExecutor() as executor:
        for future in [executor.submit(ends), executor.submit(len, "ab")]:
            try:
                told.append(future.result())
            except {error} as error:
                told.append(type(error).__name__)
    thread = threading.Thread(target=ends)
    thread.start()
    thread.join()
told
"""


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        ("SystemExit", "SystemExit"),
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        ("BaseException", "went on"),
        ("GeneratorExit", "went on"),
        ("ValueError", "went on"),
    ],
)
def test_an_exit_of_a_callback_is_raised_where_the_program_waits_and_that_of_a_job_with_its_result(
    error: str, seen: str
) -> None:
    ended = run_guest(ENDINGS.format(error=error))

    assert ended.value == [seen, error, 2] * 2


def test_what_runs_while_garbage_is_collected_neither_waits_nor_calls() -> None:
    ended = run_guest(
        "import asyncio, time\n"
        "told = []\n"
        "def later(): return ns.op(a=1)\n"
        "def waits():\n"
        "    try:\n        yield\n"
        "    finally:\n"
        "        for way in (lambda: time.sleep(1), lambda: asyncio.ensure_future(later())):\n"
        "            try:\n                way()\n"
        "            except RuntimeError as error:\n                told.append(str(error))\n"
        "walk = waits()\nbox = [walk]\nbox.append(box)\nnext(walk)\ndel walk, box\n"
        "kept = [[] for _ in range(30_000)]\n"
        "told",
        {"ns.op": answer},
    )

    assert ended.value == ["what runs while garbage is collected can neither wait nor call"] * 2


def test_a_context_without_variables_calls_and_starts() -> None:
    ended = run_guest(
        "import asyncio, contextvars\n"
        "async def main():\n    return ns.op(a=2)\n"
        "[contextvars.Context().run(ns.op, a=1), contextvars.Context().run(asyncio.run, main())]",
        {"ns.op": lambda a: a},
    )

    assert ended.value == [1, 2]


def test_remarks_of_any_text_are_sent() -> None:
    ended = run_guest(
        "import asyncio\n"
        "class Text(str):\n    def __getitem__(self, part):\n        return {1}\n"
        "for message in (Text('a'), 'b\\ud800'):\n"
        "    asyncio.get_event_loop().call_exception_handler({'message': message})\n"
    )

    assert ended.notes == ["a", "b?"]


@pytest.mark.parametrize(
    "handler",
    ["except BaseException", "except", "except (ValueError, BaseException)", "except (BaseException, OSError)"],
)
def test_all_that_a_program_raises_is_caught(handler: str) -> None:
    assert run_guest(f"try:\n    raise BaseException\n{handler}:\n    x = 1\nx").value == 1


UNJOINED = {
    "a thread": "import threading\nthreading.Thread(target=work).start()",
    "a thread that starts another": (
        "import threading\nthreading.Thread(target=lambda: threading.Thread(target=work).start()).start()"
    ),
    "a job": "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(2).submit(work)",
    "a timer": "import threading\nthreading.Timer(0.01, work).start()",
    "a job of asyncio": (
        "import asyncio\nasync def main():\n    asyncio.get_running_loop().run_in_executor(None, work)\nasyncio.run(main())"
    ),
}


@pytest.mark.parametrize("start", UNJOINED.values(), ids=UNJOINED)
def test_what_a_program_leaves_running_comes_to_its_end(start: str) -> None:
    ended = slowly(
        f"done = []\ndef work():\n    done.append(ns.op(a=1)['k'])\n    done.append(ns.op(a=2)['k'])\n{start}\ndone"
    )

    assert (ended.status, ended.value, len(ended.calls)) == ("completed", [1, 2], 2)


def test_what_a_program_leaves_running_comes_to_its_end_after_exit_too() -> None:
    ended = slowly(
        "import sys, threading\nthreading.Thread(target=lambda: print(ns.op(a=1)['k'], ns.op(a=2)['k'])).start()\nsys.exit(0)"
    )

    assert (ended.status, ended.output, len(ended.calls)) == ("completed", "1 2\n", 2)


@pytest.mark.parametrize("rest", ["daemon=True).start()", "daemon=False).start()"])
def test_what_waits_for_ever_does_not_keep_a_program_from_its_end(rest: str) -> None:
    ended = slowly(f"import queue, threading\nthreading.Thread(target=queue.Queue().get, {rest}\n5")

    assert (ended.status, ended.value) == ("completed", 5)


def test_a_daemon_does_not_keep_a_program_from_its_end() -> None:
    ended = slowly(
        "import threading, time\ndef for_ever():\n    while True: time.sleep(1)\n"
        "threading.Thread(target=for_ever, daemon=True).start()\ntime.sleep(3)\n5"
    )

    assert (ended.status, ended.value) == ("completed", 5)


def test_an_event_that_is_set_and_cleared_lets_go_who_waited() -> None:
    ended = slowly(
        "import threading, time\nevent, seen = threading.Event(), []\n"
        "thread = threading.Thread(target=lambda: seen.append(event.wait()))\nthread.start()\ntime.sleep(1)\n"
        "event.set()\nevent.clear()\nthread.join()\nseen"
    )

    assert ended.value == [True]


def test_a_task_that_is_cancelled_in_a_plain_call_counts_how_often() -> None:
    ended = slowly(
        "import asyncio\nseen = []\nasync def main():\n    me = asyncio.current_task()\n    for _ in range(2):\n"
        "        try:\n            ns.op(a=1)\n        except asyncio.CancelledError:\n            seen.append(me.cancelling())\n"
        "    seen.append([me.uncancel(), me.uncancel(), me.uncancel(), me.cancelling()])\n"
        "task = asyncio.create_task(main())\nfor _ in range(2):\n    await asyncio.sleep(0.001)\n    task.cancel()\n"
        "await task\nseen"
    )

    assert ended.value == [1, 2, [1, 0, 0, 0]]


@pytest.mark.parametrize("wait", ["event.wait(1e300)", "event.wait(float('inf'))", "lock.acquire(timeout=1e12)"])
def test_the_host_is_asked_for_no_moment_that_it_does_not_know(wait: str) -> None:
    ended = slowly(
        "import threading, time\nevent, lock = threading.Event(), threading.Lock()\nlock.acquire()\n"
        f"thread = threading.Thread(target=lambda: {wait})\nthread.start()\ntime.sleep(1)\nevent.set()\nlock.release()\n"
        "thread.join()\n5"
    )

    assert (ended.status, ended.value) == ("completed", 5)


@pytest.mark.parametrize("call", ["getattr(ns, 'a' * 600)(x=1)", f"ns.{'a' * 600}(x=1)"], ids=["told", "written"])
def test_a_name_that_is_longer_than_any_tools_is_not_sent(call: str) -> None:
    ended = slowly(call)

    assert ended.failure is not None
    assert (ended.failure["type"], ended.calls, ended.sites) == ("ToolError", [], [])


def test_a_refused_name_is_not_told_at_length() -> None:
    ended = slowly(f"x.__{'a' * 70_000}__")

    assert (ended.status, len(ended.message) < 2_000) == ("refused", True)
