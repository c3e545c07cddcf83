"""A model asks for the state of a paused execution without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode import CodeMode
from codemode.executions.journal.records import Decision
from codemode.gateway.caller import Caller
from codemode.serving.executions import run_or_continue
from codemode.serving.model_text import native_text, outcome_text
from codemode.serving.two_tools import ExecuteArguments
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

MODEL, BOSS = Caller("model"), Caller("boss", "approver")


async def test_the_first_answer_has_the_ids_and_a_dry_run_of_an_execution_only_looks(tmp_path: Path) -> None:
    paid: list[int] = []

    def pay(amount: int) -> int:
        """Pay."""
        paid.append(amount)
        return amount

    asks = {"state_folder": str(tmp_path), "policy": {"default": {"write": "ask"}}}
    async with CodeMode.from_settings(Settings.model_validate(asks), functions={"desk": [pay]}) as service:
        program = ExecuteArguments(code="desk.pay(amount=5)")
        paused = await run_or_continue(service, program, MODEL)
        (call,) = paused.pending
        assert f"{call.id} desk.pay(amount=5)" in outcome_text(paused)
        assert "tell the user" in native_text(paused)
        assert "execute(" not in native_text(paused)

        look = ExecuteArguments(code="", resume_from=paused.id, dry_run=True)
        seen = await run_or_continue(service, look, MODEL)
        assert (seen.status, [one.id for one in seen.pending]) == ("paused", [call.id])
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], BOSS)
        seen = await run_or_continue(service, look, MODEL)
        assert (seen.status, seen.pending, seen.notes[-1]) == ("paused", (), "decided: it continues without dry_run")
        assert paid == []

        ended = await run_or_continue(service, ExecuteArguments(code="", resume_from=paused.id), MODEL)
        assert (ended.value, paid) == (5, [5])
        assert (await run_or_continue(service, look, MODEL)).value == 5
