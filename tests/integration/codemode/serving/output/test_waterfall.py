"""The ledger as a table of bars, while a program runs and after its end."""

from __future__ import annotations

import asyncio
import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from codemode.executions.types.ledger import LedgerEntry
from codemode.gateway.call import CallState
from codemode.serving.cli.watching import LiveWaterfall, watching
from codemode.serving.output.waterfall import Waterfall

TIMES = "\N{MULTIPLICATION SIGN}"


def call(path: int, tool: str = "gym.a", state: CallState = CallState.COMMITTED, **facts: float | str) -> LedgerEntry:
    given = {"start_s": path / 10, "duration_s": 0.1, **facts}
    return LedgerEntry(str(path), tool, {"id": path, "limit": 5}, state, **given)  # type: ignore[arg-type]


def drawn(calls: list[LedgerEntry], *, width: int = 100, rows: int = 24, now_s: float | None = None) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(Waterfall(calls, rows=rows, now_s=now_s))
    return captured.get().splitlines()


def columns(row: str) -> set[int]:
    """Return the columns of the bars in a row."""
    return {column for column, character in enumerate(row) if character == "█"}


@pytest.mark.parametrize("width", [30, 60, 80, 100, 130, 200])
def test_it_is_never_wider_than_the_terminal(width: int) -> None:
    calls = [call(0, "gym.memberships.get_memberships", preview="x" * 300), call(1, "名前空間.道具")]
    lines = drawn(calls, width=width)
    assert len(lines) == 3
    assert all(cell_len(line) <= width for line in lines)


def test_bars_share_one_clock() -> None:
    _, first, second = drawn([call(0), call(1)], width=80)
    assert first.rstrip().endswith("█" * 10)
    assert second.index("█") == first.rindex("█") + 1


def test_a_short_ledger_has_one_row_for_each_call() -> None:
    assert len(drawn([call(number) for number in range(5)], rows=5)) == 6


def test_a_long_ledger_shows_repeated_calls_once_with_their_number() -> None:
    """Also if two tools alternate. The milliseconds are those in which at least one of them ran."""
    calls = [call(number, "gym.a" if number % 2 else "gym.b") for number in range(10)]
    _, first, second = drawn(calls, rows=4, width=80)
    assert f"5{TIMES} gym.b(id=…, limit=5)" in first
    assert f"5{TIMES} gym.a(id=…, limit=5)" in second
    assert "500.0" in first
    assert not columns(first) & columns(second)


def test_parallel_calls_are_not_added_up() -> None:
    _, row = drawn([call(number, start_s=0.0) for number in range(10)], rows=4)
    assert "100.0" in row


def test_a_failed_call_keeps_a_row_of_its_own() -> None:
    calls = [call(number) for number in range(10)]
    calls[7] = call(7, state=CallState.FAILED, error="it is full")
    _, first, second = drawn(calls, rows=4, width=130)
    assert f"9{TIMES} gym.a" in first
    assert "failed" in second
    assert "it is full" in second


def test_rows_beyond_the_limit_are_counted() -> None:
    lines = drawn([call(number, f"gym.tool_{number}") for number in range(10)], rows=4)
    assert len(lines) == 1 + 3 + 1
    assert "… and 7 more" in lines[-1]


def test_a_failed_call_is_shown_before_answered_ones() -> None:
    calls = [call(number, f"gym.tool_{number}") for number in range(10)]
    calls[8] = call(8, "gym.tool_8", CallState.FAILED)
    shown = "\n".join(drawn(calls, rows=4))
    assert [name for name in ("tool_0", "tool_1", "tool_2", "tool_8") if name in shown] == [
        "tool_0",
        "tool_1",
        "tool_8",
    ]


def test_a_call_in_flight_grows_with_the_clock() -> None:
    calls = [call(0), call(1, state=CallState.RUNNING, duration_s=0.0)]
    assert "running" in drawn(calls, now_s=1.1)[2]
    assert "1,000.0" in drawn(calls, now_s=1.1)[2]


async def test_on_a_terminal_the_calls_are_drawn_while_the_program_runs_and_then_removed() -> None:
    console = Console(width=100, file=io.StringIO(), force_terminal=True, color_system=None)
    with watching(console, appears_s=0.0) as watcher:
        watcher.called(call(0, "gym.\x1b[2Jslow", state=CallState.RUNNING, duration_s=0.0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "gym.\\x1b[2Jslow(id=0, limit=5)" in shown
    assert "1 call, 1 in flight" in shown
    assert shown.endswith("\x1b[2K")  # the last line is erased


async def test_a_program_that_ends_at_once_draws_nothing() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    with watching(console) as watcher:
        watcher.called(call(0))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""


def test_the_picture_fits_a_low_terminal() -> None:
    console = Console(width=100, height=12, file=io.StringIO())
    waterfall = LiveWaterfall(console)
    for number in range(40):
        waterfall.called(call(number, f"gym.tool_{number}"))
    with console.capture() as captured:
        console.print(waterfall.render())
    assert len(captured.get().splitlines()) < 12


async def test_elsewhere_each_call_is_one_line_when_it_ends() -> None:
    console = Console(width=40, file=io.StringIO())
    pending = call(2, state=CallState.NOT_STARTED, duration_s=0.0)
    with watching(console) as watcher:
        watcher.called(call(0, state=CallState.RUNNING, duration_s=0.0))
        watcher.called(call(0, state=CallState.FAILED, error="it is\nfull \u202e"))
        watcher.called(call(1))
        watcher.ended([call(0), call(1), pending])
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "   0.000 s      failed      100.0 ms  gym.a(id=0, limit=5): it is full \\u202e",
        "   0.100 s   committed      100.0 ms  gym.a(id=1, limit=5)",
        "   0.200 s not started        0.0 ms  gym.a(id=2, limit=5)",
    ]
