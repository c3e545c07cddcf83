"""What is done again and again beside the attempts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.executions.attempts import again_and_again

if TYPE_CHECKING:
    import pytest


async def test_a_chore_that_fails_is_done_again(caplog: pytest.LogCaptureFixture) -> None:
    times = 0
    done = asyncio.Event()

    async def chore() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise ZeroDivisionError
        done.set()

    doing = asyncio.create_task(again_and_again(chore, 0, "it could not be done"))
    await done.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    assert [record.getMessage() for record in caplog.records] == ["it could not be done"]
