"""MCP servers that do what no server should: programs are told, nothing hangs, nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.settings import Settings
from codemode.transports.mcp import transport as mcp
from tests.integration.codemode.sources.mcp.misbehaving import settings

if TYPE_CHECKING:
    from codemode.executions.types.ledger import LedgerEntry


def heard(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


async def until_heard(folder: Path, beginning: str, times: int = 1) -> str:
    async with asyncio.timeout(200):
        while True:
            found = [line for line in heard(folder) if line.startswith(beginning)]
            if len(found) >= times:
                return found[-1]
            await asyncio.sleep(0.02)


async def until_there(service: CodeMode) -> None:
    """Wait for a server that took longer to start than one call of it may take."""
    async with asyncio.timeout(200):
        while not len(service.catalog):  # noqa: ASYNC110 -- nothing else tells of it
            await asyncio.sleep(0.02)


async def test_garbage_and_wrong_ids_do_not_keep_answers_away(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute("[bad.garbage(), bad.wrong_id(), bad.plain()]")
        assert ended.value == ["after garbage", "for you", "plain"], ended.failure


@pytest.mark.parametrize("tool", ["huge", "no_result"])
async def test_an_answer_that_cannot_be_used_is_an_error_and_the_next_call_works(tmp_path: Path, tool: str) -> None:
    async with CodeMode.from_settings(settings(tmp_path, response_limit_bytes=100_000)) as service:
        ended = await service.execute(f"""
try:
    bad.{tool}()
except Exception as error:
    print(type(error).__name__, error)
bad.plain()
""")
        assert ended.value == "plain", ended.failure
        assert ("3,000,0" in ended.output and "more than the limit of 100,000" in ended.output) or tool != "huge"
        assert ended.calls[0].state == "committed", ended.calls  # nothing says that these only read


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("digits", "the answer is unreadable"),
        ("half", "the answer is unreadable"),
        ("deep", "the answer is unreadable"),
        ("many", "more than 1,000,000 lists and objects"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_one_and_not_awaited_for_ever(
    tmp_path: Path, tool: str, says: str
) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute(f"bad.{tool}()")
        assert ended.failure is not None
        assert says in ended.failure.message
        assert ended.calls[0].state == "committed"


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("error_text", "bad: an unreadable error: out of paper"),
        ("error_without_code", "bad: an unreadable error: out of paper"),
        ("error_null", "bad: an unreadable error"),
        ("error_digits", "bad: an unreadable error"),
    ],
)
async def test_an_error_that_cannot_be_read_is_one_at_once(tmp_path: Path, tool: str, says: str) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute(f"bad.{tool}()")
        assert ended.failure is not None
        assert ended.failure.message == says
        assert ended.calls[0].state == "failed"


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("nan", {"a": "NaN", "b": "Infinity"}),
        ("deep_text", "[" * 600 + "]" * 600),
        ("half_text", ["\ufffd"]),
    ],
)
async def test_what_json_or_a_program_cannot_hold_is_as_in_answers_over_http(
    tmp_path: Path, tool: str, value: object
) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute(f"bad.{tool}()")
        assert (ended.value, ended.calls[0].state) == (value, "committed"), ended.failure


async def test_of_an_error_without_end_the_message_has_the_begin_and_the_body_all(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute(
            "try:\n    bad.rambles()\nexcept ToolError as error:\n    print(len(error.body))\n    raise"
        )
        assert ended.output.strip() == "1000000"
        assert ended.failure is not None
        assert len(ended.calls[0].error) < 3_000


async def test_a_server_that_says_without_end_that_it_has_changed_is_asked_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each list was followed by two more, and these by four."""
    monkeypatch.setattr(mcp, "RELISTED_EVERY_S", 3600.0)
    async with CodeMode.from_settings(settings(tmp_path, "storm")) as service:
        await until_heard(tmp_path, "listed", 2)
        for _ in range(3):
            assert (await service.execute("bad.plain()")).value == "plain"
        assert heard(tmp_path).count("listed") == 2


async def test_a_call_without_an_answer_is_unknown_and_the_server_is_told(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, timeout_s=5)) as service:
        await until_there(service)
        ended = await service.execute("bad.silent()")
        assert [str(call.state) for call in ended.calls] == ["unknown"]
        assert ended.failure is not None
        assert "bad did not answer within 5 s" in ended.failure.message
        await until_heard(tmp_path, "cancelled ")
        assert (await service.execute("bad.plain()")).value == "plain"


async def test_a_server_that_hangs_is_replaced_and_what_it_was_doing_is_unknown(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, timeout_s=5)) as service:
        await until_there(service)
        process = int((await until_heard(tmp_path, "began ")).split()[1])
        os.kill(process, signal.SIGSTOP)
        ended = await service.execute("bad.plain()")
        assert [str(call.state) for call in ended.calls] == ["unknown"]
        await until_heard(tmp_path, "began ", times=2)
        assert not is_alive(process)
        async with asyncio.timeout(200):
            while (await service.execute("bad.plain()")).value != "plain":
                pass


async def test_a_server_that_hangs_is_replaced_also_where_the_program_is_given_up_first(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, timeout_s=10)) as service:
        await until_there(service)
        os.kill(int((await until_heard(tmp_path, "began ")).split()[1]), signal.SIGSTOP)
        running = asyncio.create_task(service.execute("bad.plain()"))
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(running, 6)
        await until_heard(tmp_path, "began ", times=2)


async def test_a_program_that_is_cancelled_cancels_what_its_servers_do(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        running = asyncio.create_task(service.execute("bad.silent()"))
        await until_heard(tmp_path, "silent")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await until_heard(tmp_path, "cancelled ")


async def test_a_program_that_runs_out_of_time_cancels_what_its_servers_do(tmp_path: Path) -> None:
    limited = settings(tmp_path).model_copy(update={"limits": Settings().limits.model_copy(update={"wall_s": 5.0})})
    async with CodeMode.from_settings(limited) as service:
        ended = await service.execute("bad.silent()")
        assert ended.limit == "wall_s"
        await until_heard(tmp_path, "cancelled ")


async def test_what_a_server_says_of_its_progress_is_heard_and_stays_with_an_unknown_call(tmp_path: Path) -> None:
    said: list[str] = []

    def watch(entry: LedgerEntry) -> None:
        if entry.is_progress:
            said.append(f"{entry.tool} {entry.progress}")

    async with CodeMode.from_settings(settings(tmp_path, timeout_s=5)) as service:
        await until_there(service)
        ended = await service.execute("bad.progress()", watch=watch)
    assert said == ["bad.progress 1 of 2 step 1", "bad.progress 2 of 2 step 2"]
    assert ended.calls[0].progress == "2 of 2 step 2"


async def test_a_server_that_dies_in_the_middle_of_a_message_is_started_again(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        ended = await service.execute("""
try:
    bad.dies()
except Exception as error:
    print(error)
bad.plain()
""")
        assert ended.output == "bad closed the connection before it answered\n"
        assert ended.value == "plain"
        assert len([line for line in heard(tmp_path) if line.startswith("began")]) == 2


async def test_a_server_that_died_between_two_calls_is_there_again_for_the_next(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        process = int((await until_heard(tmp_path, "began ")).split()[1])
        os.kill(process, signal.SIGKILL)
        await until_heard(tmp_path, "began ", times=2)
        ended = await service.execute("bad.plain()")
        assert [str(call.state) for call in ended.calls] == ["committed"], ended.failure


@pytest.mark.parametrize(("mode", "tools"), [("endless", set()), ("circle", {"bad.one"})])
async def test_a_list_that_never_ends_is_ended(tmp_path: Path, mode: str, tools: set[str]) -> None:
    async with CodeMode.from_settings(settings(tmp_path, mode)) as service:
        assert {tool.id.removesuffix("_2") for tool in service.catalog} == tools


async def test_of_two_tools_with_one_name_the_first_is_there_and_a_warning_says_so(tmp_path: Path) -> None:
    for _ in range(2):
        async with CodeMode.from_settings(settings(tmp_path, "twice")) as service:
            assert {tool.id: tool.summary for tool in service.catalog} == {"bad.one": "The first", "bad.two": "Do it"}
            (warning,) = service.sources["bad"].warnings
            assert "twice" in warning.reason


async def test_a_server_that_says_something_else_each_time_is_not_offered_again(tmp_path: Path) -> None:
    for expected, warned in ((1, ""), (0, "description changed: left out until `codemode sources accept bad`")):
        async with CodeMode.from_settings(settings(tmp_path, "changing")) as service:
            assert len(service.catalog) == expected
            assert "".join(warning.reason for warning in service.sources["bad"].warnings) == warned


async def test_a_server_that_never_answers_costs_no_more_than_its_time(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, "deaf", timeout_s=2)) as service:
        (warning,) = service.sources["bad"].warnings
        assert "sent no tool list within 2 s" in warning.reason


async def test_a_server_that_takes_longer_to_start_than_a_call_may_is_there_later(tmp_path: Path) -> None:
    source = settings(tmp_path, timeout_s=5).sources["bad"]
    slow = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exec {' '.join(source.command)}"
    late = source.model_copy(update={"command": ("sh", "-c", slow)})
    async with CodeMode.from_settings(settings(tmp_path).model_copy(update={"sources": {"bad": late}})) as service:
        assert not len(service.catalog)
        (tmp_path / "go").touch()
        await until_there(service)
        assert (await service.execute("bad.plain()")).value == "plain"


async def test_what_a_server_said_before_it_went_away_is_told(tmp_path: Path) -> None:
    command = ("sh", "-c", "echo one >&2; echo 'no such option: the-secret' >&2; exit 3")
    source = settings(tmp_path).sources["bad"].model_copy(update={"command": command, "env": {"A": "the-secret"}})
    async with CodeMode.from_settings(settings(tmp_path).model_copy(update={"sources": {"bad": source}})) as service:
        (warning,) = service.sources["bad"].warnings
    assert "its last error output: 'no such option: " in warning.reason
    assert "the-secret" not in warning.reason
    assert "bad.stderr.log" in warning.reason


async def test_what_a_server_says_on_standard_error_is_kept_within_bounds(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path)) as service:
        assert (await service.execute("bad.talks()")).value == "talked"
    assert 0 < (tmp_path / "state" / "mcp" / "bad.stderr.log").stat().st_size <= 1024 * 1024


async def test_a_server_that_does_not_want_to_end_is_ended(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, "stubborn")) as service:
        assert (await service.execute("bad.plain()")).value == "plain"
        process = int((await until_heard(tmp_path, "began ")).split()[1])
    assert not is_alive(process)


def test_servers_end_with_us_even_when_we_are_killed(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from codemode import CodeMode
from tests.integration.codemode.sources.mcp.misbehaving import settings
from pathlib import Path
async def main():
    async with CodeMode.from_settings(settings(Path({str(tmp_path)!r}), "stubborn")) as service:
        print("READY", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
    root = Path(__file__).parents[5]
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=root, text=True) as ours:
        assert ours.stdout is not None
        assert ours.stdout.readline() == "READY\n"
        server = int(heard(tmp_path)[0].split()[1])
        assert is_alive(server)
        ours.send_signal(signal.SIGKILL)
    while is_alive(server):
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_an_odd_definition_costs_itself_at_most(tmp_path: Path) -> None:
    async with CodeMode.from_settings(settings(tmp_path, "odd")) as service:
        outcome = await service.execute("[bad.odd(), bad.bare(), bad.one()]")
        assert outcome.value == ["odd", "bare", "one"]
        reasons = [warning.reason for warning in service.sources["bad"].warnings]
        assert "definition 2 is left out: it is not a mapping" in reasons
        assert "definition 4 is left out: it has no name" in reasons
        assert any("inputSchema is no mapping: the tool takes no arguments" in reason for reason in reasons)


@pytest.mark.parametrize(("mode", "names"), [("blank", ["bad.first", "bad.second"]), ("blank_end", ["bad.first"])])
async def test_an_empty_cursor_is_asked_with_once(tmp_path: Path, mode: str, names: list[str]) -> None:
    async with CodeMode.from_settings(settings(tmp_path, mode)) as service:
        assert sorted(tool.id for tool in service.catalog) == names
