"""A server that is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import yaml

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


COMMAND = str(Path(sys.executable).parent / "codemode")


TOOLS = """
def order(sku: str, password: str) -> str:
    "Order."
    return f"ordered {sku} with {password}"


def refuse() -> None:
    "Refuse."
    raise ValueError("no")
"""


@asynccontextmanager
async def serving(folder: Path, environment: dict[str, str], **sections: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """A server of its own, told to stop at the end; it ends of itself."""
    folders = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache")}
    (folder / "codemode.yaml").write_text(yaml.safe_dump({**folders, **sections}))
    (folder / "tools.py").write_text(TOOLS)
    given = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder), **environment}  # noqa: TID251
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "serve", "--config", "codemode.yaml", "--port", "0"),
        cwd=folder,
        env=given,
        stderr=PIPE,
        limit=1_000_000,
    )
    assert process.stderr is not None
    try:
        while b"http://" not in (line := await process.stderr.readline()):
            assert line, "the server ended before it listened"
        reading = asyncio.create_task(process.stderr.read())
        url = "http://" + line.decode().partition("http://")[2].strip()
        async with httpx2.AsyncClient(base_url=url, timeout=200) as http:
            yield http
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0, (await reading).decode()
    finally:
        if process.returncode is None:
            process.kill()
