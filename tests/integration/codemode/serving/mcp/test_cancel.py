"""A client that gives up ends its program: over stdio and over HTTP, in both eras."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.codemode.serving.mcp.processes import WAYS

if TYPE_CHECKING:
    from pathlib import Path

CONFIGURATION = """
sources: {shop: {location: shop.py}}
limits: {wall_s: 600, cpu_s: 600}
observe: {audit_file: audit.jsonl}
server: {port: 0}
state_folder: state
cache_folder: cache
"""
SHOP = '''
def price_of(name: str) -> int:
    """What a thing costs."""
    return 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    return tmp_path


def ended(folder: Path) -> list[Any]:
    """How executions ended, as the audit log has them."""
    file = folder / "audit.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    return [event["status"] for event in events if event["event"] == "ended"]


@WAYS
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_request_that_is_cancelled_ends_its_program_and_the_next_is_answered(
    folder: Path, connected: Any, era: str
) -> None:
    runs = asyncio.Event()

    async def heard(_progress: float, _total: float | None, _message: str | None) -> None:
        runs.set()

    async with connected(folder, mode=era) as client:
        call = asyncio.create_task(client.call_tool("execute", {"code": "while True: pass"}, progress_callback=heard))
        await runs.wait()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        while not ended(folder):  # noqa: ASYNC110 -- another process writes it
            await asyncio.sleep(0.05)
        assert ended(folder) == ["cancelled"]
        answer = await client.call_tool("execute", {"code": "shop.price_of(name='bolt')"})
        assert answer.structured_content["value"] == 3
