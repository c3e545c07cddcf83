"""Answers of services: selected fields, and notes on differences from their schemas and on their clocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from codemode.service import CodeMode
from codemode.settings.sources import ClockSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Gym

CLIENTS = "gym.clients.get_clients_list"
INFO = "gym.core.get_gym_info"


@pytest.mark.parametrize("recorded", [True, False])
async def test_only_the_selected_fields_reach_the_program_its_ledger_and_the_signature(
    gym: Gym, *, recorded: bool
) -> None:
    settings = gym.settings(journal={"enabled": recorded})
    selected = {"clients.*": ("items[].id", "items[].fullName")}
    source = settings.sources["gym"].model_copy(update={"fields": selected})
    settings = settings.model_copy(update={"sources": {"gym": source}})
    async with CodeMode.from_settings(settings) as service:
        program = (
            f"page = {CLIENTS}(limit=3)\n[sorted(page), page['items'][0], {CLIENTS}.items(limit=2), page['total']]"
        )
        outcome = await service.execute(program)
        envelope, first, items, total = outcome.value
        assert envelope == ["items", "limit", "offset", "total"]
        assert set(first) <= {"id", "fullName"}
        assert "id" in first
        assert [set(item) <= {"id", "fullName"} for item in items] == [True, True]
        assert total > 3
        assert all("phone" not in call.preview for call in outcome.calls)
        answer = await service.search(CLIENTS, detail="full")
        assert '"id": ' in answer.text
        assert '"phone"' not in answer.text.partition("->")[2]


async def test_one_note_for_each_tool_whose_answers_differ(gym: Gym, tmp_path: Path) -> None:
    document = gym.document.read_text(encoding="utf-8")
    wrong = tmp_path / "gym.yaml"
    wrong.write_text(
        re.sub(r"\btoday: \{type: string, format: date", "today: {type: integer", document), encoding="utf-8"
    )
    settings = gym.settings(state_folder=tmp_path, journal={"enabled": True})
    source = settings.sources["gym"].model_copy(update={"location": str(wrong)})
    settings = settings.model_copy(update={"sources": {"gym": source}})
    note = f"{INFO} returned a field `today` of type str where the document says integer"
    async with CodeMode.from_settings(settings) as service:
        outcome = await service.execute(f"[{INFO}()['today'][:2], {INFO}(branchId=1)['today'][:2]]")
        assert outcome.value == ["20", "20"]
        assert {str(call.state) for call in outcome.calls} == {"read"}
        assert outcome.notes == (note,)
    async with CodeMode.from_settings(settings) as service:
        assert service.knowledge.answer_checks.differences[INFO].number == 2


async def test_a_clock_in_the_description_is_noted_and_a_configured_one_is_described(gym: Gym) -> None:
    program = f"import datetime\n{INFO}()['name']\ndatetime.date.today() and None"
    own = f"gym has another clock: today is the `today` of {INFO}"
    async with CodeMode.from_settings(gym.settings(journal={"enabled": True})) as service:
        (note,) = (await service.execute(program)).notes
        assert note.endswith(own)
        assert (await service.execute(f"{INFO}()['name']")).notes == ()
    settings = gym.settings(journal={"enabled": False})
    source = settings.sources["gym"].model_copy(update={"clock": ClockSettings(today="2026-01-15")})
    async with CodeMode.from_settings(settings.model_copy(update={"sources": {"gym": source}})) as service:
        assert (await service.describe("gym")).startswith("Clock: today is 2026-01-15.")
        (note,) = (await service.execute(program)).notes
        assert note.endswith("gym has another clock: today is 2026-01-15")
