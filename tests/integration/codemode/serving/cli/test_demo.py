"""`codemode demo`: its screen, and what it shows."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console

from codemode.catalog.cost import CostReport, ModeCost
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import PendingCall
from codemode.gateway.call import CallState
from codemode.serving.cli.demo import PROGRAM
from codemode.serving.cli.demo_screen import DemoResult, next_commands, screen
from codemode.serving.cli.demo_tour import PROGRAMS
from sandbox import Usage
from tests.command_line import codemode, script

if TYPE_CHECKING:
    from pathlib import Path


def outcome(*calls: LedgerEntry) -> ExecutionOutcome:
    return ExecutionOutcome(
        id="ex_1",
        status="completed",
        result={"Ann": 10},
        has_value=True,
        output="",
        output_truncated=False,
        failure=None,
        calls=calls,
        usage=Usage(wall_s=0.1),
        isolation=(),
        limit=None,
        notes=(),
    )


def cost(*, exact: bool) -> CostReport:
    modes = (
        ModeCost("native", "native tools", 153, 30_523, fits=False, reason=""),
        ModeCost("code", "two tools (code mode)", 2, 246, fits=True, reason=""),
    )
    method = "with o200k_base" if exact else "by estimate"
    return CostReport(tools=153, median_tokens=200, modes=modes, verdict="", pays="", exact=exact, method=method)


def drawn(*, exact: bool, width: int) -> list[str]:
    listed = [
        LedgerEntry(str(n), "gym.clients.get_clients_list", {"id": n}, CallState.COMMITTED, n, 1) for n in range(4)
    ]
    deleted = LedgerEntry("1", "gym.leads.delete_lead", {"leadId": 1}, CallState.COMMITTED, 0, 1)
    denied = LedgerEntry("1", "outbox.send", {"text": "x" * 200}, CallState.DENIED, 0, 0, rule="rule 1 (a name)")
    asked = PendingCall("ap_1", "ex_1", "1", "gym.leads.delete_lead", {"leadId": 1}, "", "default for destructive")
    shown = DemoResult(PROGRAM, cost(exact=exact), outcome(*listed), asked, "ann", outcome(deleted), outcome(denied))
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(screen(shown))
        console.print(next_commands(everything=False))
    return captured.get().splitlines()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("width", [80, 100])
def test_the_screen_and_a_prompt_fit_24_lines_of_80_columns(width: int, exact: bool) -> None:
    lines = drawn(exact=exact, width=width)
    assert len(lines) <= 23
    assert all(cell_len(line) <= width for line in lines)
    assert not any("…" in line for line in lines[:3])


def test_counted_tokens_are_shown_as_they_are() -> None:
    _, native, two, *_ = drawn(exact=True, width=80)
    assert "native tools        30,523 tokens" in native
    assert "246 tokens" in two
    assert "124 times fewer (with o200k_base)" in two


def test_estimated_tokens_are_rounded_and_called_an_estimate() -> None:
    _, native, two, *_ = drawn(exact=False, width=80)
    assert "about 31,000 tokens" in native
    assert "about 250 tokens" in two
    assert "about 120 times fewer (an estimate)" in two


def test_the_demo_shows_a_program_an_approval_a_refusal_and_what_comes_next(tmp_path: Path) -> None:
    ended = script("demo", folder=tmp_path, COLUMNS="80")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(ended.stdout.splitlines()) <= 23
    assert "found = await asyncio.gather(*calls)" in ended.stdout
    assert re.findall(r" (read|committed) ", ended.stdout) == [*["read"] * 4, "committed"]
    assert "asked  default for destructive; approved by ann; committed" in ended.stdout
    assert "denied  by rule 1 (nothing to rivals)" in ended.stdout
    assert "next:  codemode init" in ended.stdout
    assert ended.stderr == ""


def test_all_adds_the_search_and_the_programs(tmp_path: Path) -> None:
    ended = script("demo", "--all", folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "gym.memberships.freeze_membership(" in ended.stdout
    assert all(wish in ended.stdout for _, wish, _ in PROGRAMS)
    assert (ended.stdout.count("─ completed "), ended.stdout.count("─ refused ")) == (5, 1)
    *_, first, second = ended.stdout.splitlines()
    assert first.startswith("next:  codemode init")
    assert second.strip().startswith("codemode mcp install")


def test_the_outcomes_as_json(tmp_path: Path) -> None:
    shown = json.loads(codemode("demo", "--json", "--all", folder=tmp_path).stdout)
    assert shown["cost"]["tools"] == 137
    assert [shown[name]["status"] for name in ("program", "approved", "denied")] == ["completed", "completed", "failed"]
    assert [row["outcome"]["status"] for row in shown["programs"]] == [row["meant"] for row in shown["programs"]]
