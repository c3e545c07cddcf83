"""Tasks and approvals in the client, over standard input and output and over HTTP, in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import ElicitResult

from tests.integration.codemode.serving.mcp.processes import WAYS
from tests.integration.codemode.serving.mcp.task_client import Tasks, ended

if TYPE_CHECKING:
    from pathlib import Path

CONFIGURATION = """
sources: {bank: {location: bank.py}}
approvals: {in_client: single_user}
server: {port: 0}
state_folder: state
cache_folder: cache
"""
BANK = '''
from codemode import tool


@tool(effect="destructive")
def pay(amount: int) -> int:
    """Pay an amount."""
    return amount
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "bank.py").write_text(BANK, encoding="utf-8")
    return tmp_path


@WAYS
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_person_at_the_client_approves(folder: Path, connected: Any, era: str) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"decision": "approve"})

    async with connected(folder, mode=era, elicitation_callback=person) as client:
        answer = await client.call_tool("execute", {"code": "bank.pay(amount=3)"})
        assert answer.structured_content["value"] == 3


@WAYS
async def test_a_long_program_is_a_task(folder: Path, connected: Any) -> None:
    declared = Tasks()
    async with connected(folder, extensions=[declared]) as client:
        await client.call_tool("execute", {"code": "import time\ntime.sleep(6)\n'slept'"})
        state = await ended(client, declared.created[0].task_id)
        assert state["result"]["structuredContent"]["value"] == "slept"
