"""A server that stops in the midst of an execution."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

    from tests.integration.codemode.executions.upstream import Place


MODULE = "tests.integration.codemode.executions.one_process"


@asynccontextmanager
async def running(here: Place, code: str, *, conversation: str = "", **sections: Any) -> AsyncIterator[Process]:
    """Start a program on a server in its own process."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", MODULE, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    given = {"folder": str(here.folder), "port": here.port, "sections": sections, "code": code}
    given |= {"conversation": conversation}
    process.stdin.write(json.dumps(given).encode() + b"\n")
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def lease_has_run_out(here: Place) -> None:
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3", timeout=60)) as file, file:
        file.execute("UPDATE executions SET lease_until_us = 1")
