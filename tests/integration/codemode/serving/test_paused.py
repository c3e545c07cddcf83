"""A model asks for the state of a paused execution without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode import CodeMode
from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller
from codemode.model.outcome_text import Audience, outcome_text
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
        paused = await service.execute("desk.pay(amount=5)", caller=MODEL)
        (call,) = paused.pending
        assert f"{call.id} desk.pay(amount=5)" in outcome_text(paused)
        of_a_call = outcome_text(paused, to=Audience(made_a_call=True))
        assert "tell the user" in of_a_call
        assert "execute(" not in of_a_call

        seen = await service.execute("", resume_from=paused.id, dry_run=True, caller=MODEL)
        assert (seen.status, [one.id for one in seen.pending]) == ("paused", [call.id])
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], BOSS)
        seen = await service.execute("", resume_from=paused.id, dry_run=True, caller=MODEL)
        assert (seen.status, seen.pending, seen.notes[-1]) == ("paused", (), "decided: it continues without dry_run")
        assert paid == []

        ended = await service.execute("", resume_from=paused.id, caller=MODEL)
        assert (ended.value, paid) == (5, [5])
        assert (await service.execute("", resume_from=paused.id, dry_run=True, caller=MODEL)).value == 5
