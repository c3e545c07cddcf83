"""The contract of an engine, on every engine. Where one cannot do something, its test asserts the refusal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import CallFailed, CallSite, Failure, Limits, ProgramRefused, ProgramStopped, Refusal, Sandbox
from sandbox.testing import Script, Tools
from tests.integration.sandbox.engines import run, tools

if TYPE_CHECKING:
    from sandbox import Engine

# --- values, output, calls -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1 + 1", 2),
        ("x = [1, 2]\nx.append(3)\nx", [1, 2, 3]),
        ("if True:\n    return {'a': None}\nreturn 2", {"a": None}),
        ("result = sorted({'b', 'a'})", ["a", "b"]),
        ("import datetime\ndatetime.date(2031, 5, 6)", "2031-05-06"),
        ("async def main():\n    return 5\nawait main()", 5),
        ("next(n for n in (1, 2) if n > 1) + next((n for n in ()), 5)", 7),
        ("```python\n6\n```", 6),
        ("x = '\\u00e9\u20ac'\r\nx", "\u00e9\u20ac"),
    ],
)
async def test_the_result_is_the_last_expression_or_a_return(engine: Engine, code: str, value: object) -> None:
    outcome = await run(engine, code)
    assert (outcome.failure, outcome.value, outcome.has_value) == (None, value, True)


async def test_a_program_without_a_result_has_no_value(engine: Engine) -> None:
    outcome = await run(engine, "x = 1")
    assert (outcome.ok, outcome.has_value, outcome.value) == (True, False, None)


async def test_printed_text_is_the_output(engine: Engine) -> None:
    outcome = await run(engine, "print('a', 1)\nprint('b', end='')\n3")
    assert (outcome.output, outcome.value) == ("a 1\nb", 3)


@pytest.mark.parametrize(
    "code",
    [
        "gym.members.list(limit=1)[0]['name']",
        "(await gym.members.list(limit=1))[0]['name']",
        "tools.gym.members.list(limit=1)[0]['name']",
        "members = gym.members\nlisted = members.list\nlisted(limit=1)[0]['name']",
        "def first():\n    return gym.members.list(limit=1)[0]\nfirst()['name']",
        "[each['name'] for n in (1, 1) for each in gym.members.list(limit=n)][0]",
    ],
)
async def test_a_tool_is_called_by_its_dotted_name(engine: Engine, code: str) -> None:
    answers = tools()
    outcome = await run(engine, code, answers)
    assert (outcome.failure, outcome.value) == (None, "m0")
    assert answers.calls[0].tool == "gym.members.list"
    assert answers.calls[0].arguments == {"limit": 1}


VALUES = ("load(name)", "last=load")


@pytest.mark.parametrize(
    "code",
    [
        "last['n']",
        "'''Doc.'''\nif last:\n    return last['n']\nreturn 0",
        "def read():\n    return last['n']\n[read() for _ in 'ab'][1]",
        "import asyncio\nawait asyncio.sleep(0)\nlast['n']",
    ],
)
async def test_a_value_is_loaded_if_the_program_reads_its_name(engine: Engine, code: str) -> None:
    answers = Tools({"load": {"n": 5}})
    outcome = await engine.run(code, names=VALUES, call=answers)
    assert (outcome.failure, outcome.value) == (None, 5)
    assert {(call.tool, call.arguments["name"]) for call in answers.calls} == {("load", "last")}


@pytest.mark.parametrize(
    "code", ["5", "last = 5\nlast", "def f(last):\n    return last\nf(5)", "'last'; {'last': 5}['last']"]
)
async def test_a_value_is_not_loaded_if_the_program_does_not_read_its_name(engine: Engine, code: str) -> None:
    answers = Tools({"load": 0})
    outcome = await engine.run(code, names=VALUES, call=answers)
    assert (outcome.failure, outcome.value, answers.calls) == (None, 5, [])


async def test_a_value_that_cannot_be_loaded_fails_at_its_first_use(engine: Engine) -> None:
    answers = Tools({"load": CallFailed("there is no `last`")})
    outcome = await engine.run("x = 1\ny = last", names=VALUES, call=answers)
    assert outcome.failure is not None
    assert (outcome.failure.line, outcome.failure.message) == (2, "there is no `last`")


async def test_functions_take_positional_arguments_and_tools_do_not(engine: Engine) -> None:
    outcome = await run(engine, "search('members', limit=3)")
    assert outcome.value == "found {'queries': 'members', 'limit': 3}"
    outcome = await engine.run("gym.members.list(1)", names=["gym.members.list(limit)"], call=tools())
    assert outcome.value == [{"id": 0, "name": "m0"}]
    outcome = await run(engine, "gym.members.list(3)")
    assert outcome.failure is not None
    assert outcome.failure.type == "TypeError"
    assert "gym.members.list() takes keyword arguments only: name each of them" in outcome.failure.message


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nawait asyncio.gather(*[gym.members.list(limit=n) for n in range(3)])",
        "import asyncio\ncalls = [gym.members.list(limit=n) for n in range(3)]\nawait asyncio.gather(*calls)",
        "import asyncio\nasync def one(n):\n    return await gym.members.list(limit=n)\n"
        "await asyncio.gather(*map(one, range(3)))",
        "import asyncio\nasync def main():\n    a = gym.members.list(limit=0)\n    return await asyncio.gather("
        "a, gym.members.list(limit=1), gym.members.list(limit=2))\nasyncio.run(main())",
    ],
)
async def test_gathered_calls_run_at_the_same_time(engine: Engine, code: str) -> None:
    answers = tools()
    answers.hold("gym.members.list")
    running = asyncio.create_task(run(engine, code, answers))
    await answers.wait_for(3)
    assert answers.under_way == 3
    answers.release("gym.members.list")
    outcome = await running
    assert (outcome.failure, [len(each) for each in outcome.value]) == (None, [0, 1, 2])


async def test_arguments_that_are_not_data_are_an_error_of_the_call(engine: Engine) -> None:
    answers = tools()
    outcome = await run(engine, "gym.members.add(tags={1, 2})", answers)
    assert outcome.failure is not None
    assert (outcome.failure.type, answers.calls) == ("TypeError", [])
    assert "tags must be JSON data" in outcome.failure.message


# --- errors ----------------------------------------------------------------------------------------------------------


async def test_a_program_can_catch_the_error_of_a_tool(engine: Engine) -> None:
    code = "try:\n    gym.broken()\nexcept ToolError as error:\n    caught = str(error)\ncaught"
    outcome = await run(engine, code)
    assert (outcome.failure, outcome.value) == (None, "503: the service is broken")


async def test_an_uncaught_error_names_its_line(engine: Engine) -> None:
    outcome = await run(engine, "x = 1\ngym.broken()")
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.type, outcome.failure.line) == ("failed", "ToolError", 2)
    outcome = await run(engine, "x = 1\n\nx / 0")
    assert outcome.failure is not None
    assert (outcome.failure.type, outcome.failure.message, outcome.failure.line) == (
        "ZeroDivisionError",
        "division by zero",
        3,
    )


async def test_an_internal_error_of_a_handler_stays_in_the_host(engine: Engine) -> None:
    answers = tools()
    answers.answers["gym.broken"] = ValueError("password is hunter2")
    outcome = await run(engine, "try:\n    gym.broken()\nexcept ToolError as error:\n    print(error)", answers)
    assert outcome.output == "gym.broken failed inside the host\n"


async def test_what_is_not_python_is_refused(engine: Engine) -> None:
    outcome = await run(engine, "x = \nx")
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.type, outcome.failure.line) == ("refused", "SyntaxError", 1)


async def test_preflight_sees_the_call_sites_and_can_refuse(engine: Engine) -> None:
    seen: list[CallSite] = []

    async def refuse(sites: tuple[CallSite, ...]) -> None:
        seen.extend(sites)
        raise ProgramRefused([Refusal("unknown_tool", "there is no tool", 2, hint="nearest: gym.members.list")])

    answers = tools()
    outcome = await run(engine, "print(1)\ngym.members.lst(limit=3)", answers, preflight=refuse)
    assert seen == [CallSite("gym.members.lst", ("limit",), 0, open_ended=False, line=2, column=0)]
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.type, outcome.output) == ("refused", "ProgramRefused", "")
    assert answers.calls == []


async def test_a_handler_can_end_the_program(engine: Engine) -> None:
    failure = Failure("ApprovalRequired", "a person must decide")
    answers = tools()
    answers.answers["gym.broken"] = ProgramStopped(failure)
    code = "try:\n    gym.broken()\nexcept BaseException:\n    pass\nfinally:\n    gym.members.list()"
    outcome = await run(engine, code, answers)
    assert outcome.failure is failure
    assert [call.tool for call in answers.calls] == ["gym.broken"]


@pytest.mark.parametrize(
    "code",
    ["type(gym)()", "type(gym).x", "type(gym).list(n=1)", "gym.members.add(x=gym)", "gym + 1", "gym[0]", "[gym]"],
)
async def test_tools_are_no_other_objects(engine: Engine, code: str) -> None:
    answers = tools()
    outcome = await run(engine, code, answers)
    assert outcome.failure is not None
    assert (outcome.status in ("failed", "refused"), answers.calls) == (True, [])


async def test_a_name_that_is_too_long_is_no_tool(engine: Engine) -> None:
    answers = tools()
    outcome = await run(engine, "getattr(gym, 'a' * 10_000)(n=1)", answers)
    assert (outcome.status, answers.calls) == ("failed", [])


async def test_the_message_of_an_error_is_cut(engine: Engine) -> None:
    outcome = await run(engine, "raise ValueError('a' * 1_000_000)")
    assert outcome.failure is not None
    assert len(outcome.failure.message) + len(outcome.failure.traceback) < 20_000


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "limits", "status", "limit"),
    [
        ("while True: pass", {"cpu_s": 0.5}, "timed_out", "cpu_s"),
        ("while True: pass", {"wall_s": 0.5}, "timed_out", "wall_s"),
        ("import time\ntime.sleep(50)", {"wall_s": 0.5}, "timed_out", "wall_s"),
        ("x = []\nwhile True: x.append('a' * 1_000_000)", {"memory_bytes": 64 << 20}, "out_of_memory", "memory_bytes"),
        ("x = 1" + " " * 2000, {"source_bytes": 1000}, "refused", "source_bytes"),
    ],
)
async def test_a_limit_ends_the_program(
    engine: Engine, code: str, limits: dict[str, Any], status: str, limit: str
) -> None:
    outcome = await run(engine, code, limits=Limits(**{"wall_s": 30, **limits}))
    assert (outcome.status, outcome.limit) == (status, limit)
    assert (await run(engine, "1")).value == 1


async def test_output_is_cut(engine: Engine) -> None:
    outcome = await run(engine, "for n in range(100): print('\u00e9' * 100)", limits=Limits(output_bytes=1001))
    assert (outcome.ok, outcome.output_truncated) == (True, True)
    assert 900 < len(outcome.output.encode()) <= 1001


async def test_a_result_that_is_too_large_or_too_deep_is_an_error(engine: Engine) -> None:
    outcome = await run(engine, "'a' * 2000", limits=Limits(result_bytes=1000))
    assert outcome.failure is not None
    assert "the result has 2,002 bytes as JSON, 1,000 are allowed" in outcome.failure.message
    outcome = await run(engine, "x = []\nfor n in range(100): x = [x]\nx")
    assert outcome.failure is not None
    assert "nested more than 64 deep" in outcome.failure.message


async def test_calls_are_counted(engine: Engine) -> None:
    answers = tools()
    outcome = await run(engine, "while True: gym.members.list()", answers, limits=Limits(calls=3))
    assert outcome.failure is not None
    assert "the program made 3 calls, more are not allowed" in outcome.failure.message
    assert (outcome.failure.type, outcome.limit) == ("CallLimitExceeded", "calls")
    assert len(answers.calls) == outcome.usage.calls == 3


async def test_answers_together_have_a_limit(engine: Engine) -> None:
    outcome = await run(engine, "while True: gym.members.list(limit=100)", limits=Limits(replies_bytes=10_000))
    assert outcome.failure is not None
    assert (outcome.failure.type, outcome.ok) == ("ToolError", False)
    assert "10000 are allowed" in outcome.failure.message


async def test_answers_that_are_not_read_hold_back_further_calls(engine: Engine) -> None:
    answers = tools()
    answers.answers["gym.members.list"] = "a" * 1000
    code = "import asyncio\nfound = await asyncio.gather(*[gym.members.list(limit=n) for n in range(50)])\nlen(found)"
    outcome = await run(engine, code, answers, limits=Limits(reply_bytes=2000))
    assert (outcome.failure, outcome.value) == (None, 50)


# --- cancellation ----------------------------------------------------------------------------------------------------


async def test_cancellation_ends_the_program_and_its_calls(engine: Engine) -> None:
    answers = tools()
    answers.hold("gym.members.list")
    running = asyncio.create_task(run(engine, "gym.members.list()\ngym.broken()", answers))
    await answers.wait_for(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [call.tool for call in answers.cancelled] == ["gym.members.list"]
    busy = asyncio.create_task(run(engine, "gym.members.list(limit=1)\nwhile True: pass", answers := tools()))
    await answers.wait_for(1)
    busy.cancel()
    with pytest.raises(asyncio.CancelledError):
        await busy
    assert (await run(engine, "1")).value == 1


async def test_programs_share_nothing(engine: Engine) -> None:
    await run(engine, "import json\nx = 1\njson.x = 2" if isinstance(engine, Sandbox) else "import json\nx = 1")
    outcome = await run(engine, "x")
    assert outcome.failure is not None
    assert "name 'x' is not defined" in outcome.failure.message


@pytest.mark.parametrize("code", ["open('/etc/passwd').read()", "import os\nos.listdir('/')", "import os\nos.environ"])
async def test_a_program_reaches_nothing_of_the_machine(engine: Engine, code: str) -> None:
    assert (await run(engine, code)).status in ("failed", "refused")


# --- what one engine has and the other refuses -----------------------------------------------------------------------

#: Programs that the process engine completes, and why Monty does not.
DIFFERENCES = {
    "import statistics\nstatistics.mean([1, 3])": "this engine has no module statistics",
    "import asyncio\nasync def f(): return 1\nawait asyncio.wait_for(f(), 1)": "this engine has no asyncio.wait_for",
    "from asyncio import create_task\n1": "this engine has no asyncio.create_task",
    "try:\n    gym.broken()\nexcept ToolError as error:\n    x = error.status\nx": "a ToolError has no .status",
    "try:\n    gym.members.list()\nexcept ToolRejected:\n    pass\n1": "this engine has no ToolRejected",
    "import gym\n1": "this engine does not import gym, which is bound already",
    "class A(Exception): pass\n1": "this engine does not support class inheritance",
    "def f():\n    yield 1\nlist(f())": "this engine does not support yield expressions",
    "list(map(lambda n: gym.members.list(limit=n), [1]))": "'Tool' object has no attribute 'members'",
    "gym.members.list(limit=1)[0].name": "'dict' object has no attribute 'name'",
}


@pytest.mark.parametrize(("code", "message"), DIFFERENCES.items())
async def test_what_monty_does_not_have_is_refused_with_the_nearest_way(
    engine: Engine, engine_name: str, code: str, message: str
) -> None:
    outcome = await run(engine, code)
    if engine_name == "process":
        assert (outcome.failure, outcome.ok) == (None, True)
        return
    assert outcome.failure is not None
    assert message in outcome.failure.message
    assert outcome.failure.hint
    assert outcome.status == ("refused" if "this engine" in message or "a ToolError" in message else "failed")


async def test_an_answer_may_follow_another(engine: Engine) -> None:
    answers = tools()
    answers.answers["gym.members.list"] = Script([1], CallFailed("gone", status=410), [3])
    code = (
        "found = []\nfor n in range(3):\n    try:\n        found += gym.members.list(limit=n)\n"
        "    except ToolError as error:\n        found.append(str(error))\nfound"
    )
    assert (await run(engine, code, answers)).value == [1, "410: gone", 3]


@pytest.mark.parametrize(
    "code", ["import time\nprint('a')\ntime.sleep(3600)", "import time\nslow.wait()\ntime.sleep(500)"]
)
async def test_a_sleep_that_cannot_end_in_time_ends_the_program_at_once(engine: Engine, code: str) -> None:
    async def wait(_: object) -> None:
        return None

    outcome = await engine.run(code, names=["slow"], call=wait, limits=Limits(wall_s=400.0))
    assert (outcome.status, outcome.limit) == ("timed_out", "wall_s")
    assert outcome.failure is not None
    assert "of its 400 s are left: it was ended at once" in outcome.failure.message
    assert outcome.failure.hint.startswith("a program cannot wait for something later")
    assert outcome.usage.wall_s < 300


async def test_time_that_does_not_count_is_added_to_the_limit(engine: Engine) -> None:
    async def wait(_: object) -> int:
        await asyncio.sleep(1.5)
        return 5

    limits = Limits(wall_s=1.0)
    outcome = await engine.run("slow.wait()", names=["slow"], call=wait, limits=limits, uncounted_s=lambda: 60.0)
    assert (outcome.failure, outcome.value) == (None, 5)
    outcome = await engine.run("slow.wait()", names=["slow"], call=wait, limits=limits)
    assert (outcome.status, outcome.limit) == ("timed_out", "wall_s")
