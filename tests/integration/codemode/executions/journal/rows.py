"""Rows of a journal, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.executions.types.records import JournalEntry, PendingCall
from tests.integration.codemode.executions.journal.conftest import new

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal


def question(identity: str = "ap_1", **fields: Any) -> PendingCall:
    asked = {"execution": "ex_1", "path": "3", "tool": "gym.x", "arguments": {"id": 7}, "digest": "d1", "reason": "ask"}
    return PendingCall(**(asked | fields), id=identity)


async def ended(journal: Journal, identity: str, size: int = 100_000, **given: Any) -> None:
    lease = await journal.create(new(identity, **given))
    await journal.append(lease, [JournalEntry("ended", value=b"x" * size)])
    await journal.finish(lease, "completed", {})


async def waiting(journal: Journal, identity: str, size: int = 100_000, **given: Any) -> None:
    lease = await journal.create(new(identity, **given))
    await journal.append(lease, [JournalEntry("ended", value=b"x" * size)])
    await journal.pause(lease, [question(f"ap_{identity}", execution=identity)], {"status": "paused"})


async def kept(journal: Journal) -> list[str]:
    return [one.request.id for one in await journal.list()]
