"""Whole results: a later program of the same caller loads them, recorded or not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode, tool
from codemode.errors import ResultNotFound
from codemode.executions.life.results import Results
from codemode.executions.types.handles import handle_of
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.gateway.caller import Caller
from codemode.settings import Settings
from sandbox import JsonText, Usage

if TYPE_CHECKING:
    from pathlib import Path

OWNER, OTHER = Caller("one", "admin"), Caller("two", "admin")


@tool(effect="read")
def nothing() -> None:
    """Return nothing."""


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_later_program_of_the_caller_loads_a_result(tmp_path: Path, *, recorded: bool) -> None:
    settings = Settings.model_validate({"state_folder": tmp_path, "journal": {"enabled": recorded}})
    async with CodeMode.from_settings(settings, functions={"some": [nothing]}) as service:
        handle = handle_of((await service.execute("list(range(100_000))", caller=OWNER)).id)
        program = f"sum(load({handle!r}))"
        assert (await service.execute(program, caller=OWNER)).value == sum(range(100_000))
        caught = f"try:\n    load({handle!r})\nexcept ToolError as error:\n    told = str(error)\ntold"
        others = await service.execute(caught, caller=OTHER)
        assert others.value.startswith(f"there is no result {handle!r}")
        assert await service.result(handle, caller=OWNER) == list(range(100_000))
        failed = await service.execute("1 / 0", caller=OWNER)
        for unknown in (handle_of(failed.id), "h_0", "", failed.id):
            with pytest.raises(ResultNotFound):
                await service.result(unknown, caller=OWNER)


async def test_an_outcome_notes_that_its_output_was_cut(tmp_path: Path) -> None:
    settings = Settings.model_validate({"state_folder": tmp_path, "limits": {"output_bytes": 1024}})
    async with CodeMode.from_settings(settings, functions={"some": [nothing]}) as service:
        ended = await service.execute("print('x' * 5000)")
        whole = await service.execute("print('x')")
    assert (ended.status, ended.output_truncated, len(ended.output)) == ("completed", True, 1024)
    assert ended.notes[0].startswith("the program printed more than limits.output_bytes")
    assert whole.notes == ()


async def test_the_oldest_results_in_memory_give_way() -> None:
    results = Results()
    data = json.dumps("x" * (30 * 1024 * 1024)).encode()
    ids = [f"ex_{number}" for number in range(3)]
    for id_ in ids:
        results.keep(outcome(id_, JsonText(data)), OWNER)
    assert len(await results.load("h_2", OWNER, None)) == len(await results.load("h_1", OWNER, None))
    with pytest.raises(ResultNotFound):
        await results.load("h_0", OWNER, None)


def outcome(id_: str, result: JsonText) -> ExecutionOutcome:
    return ExecutionOutcome(id_, "completed", result, True, "", False, None, (), Usage(), (), None, ())
