"""The bundled example services, each in its own process on a loopback port."""

from __future__ import annotations

import asyncio
import secrets
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from codemode.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

#: The bundled sources, each with the module of its service.
SURFACES = {"gym": "api_specs.gym", "outbox": "api_specs.outbox"}

#: Seconds within which an example service must report its address. The gym seeds its database first.
START_S = 60


@asynccontextmanager
async def example_sources(names: Collection[str] = tuple(SURFACES)) -> AsyncIterator[dict[str, Any]]:
    """Start these services afresh and yield them as `sources` of a configuration. They end with the block.

    Raises SourceError if a service does not start.
    """
    token = secrets.token_hex(24)
    with NamedTemporaryFile("w", suffix=".token") as kept:
        kept.write(token)
        kept.flush()
        async with AsyncExitStack() as services:
            started = (services.enter_async_context(_served(SURFACES[name], token)) for name in names)
            addresses = dict(zip(names, await asyncio.gather(*started), strict=True))
            yield {name: _source(name, address, kept.name) for name, address in addresses.items()}


def _source(name: str, address: str, token_file: str) -> dict[str, object]:
    return {
        "location": str(files(SURFACES[name]) / "openapi.yaml"),
        "base_url": address,
        "keep_names": False,  # a demo leaves no files behind
        "credentials": [{"kind": "bearer", "token": {"file": token_file}}],
    }


@asynccontextmanager
async def _served(module: str, token: str) -> AsyncIterator[str]:
    """Run an example service in its own process, and yield its base URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, "--host", "127.0.0.1", "--port", "0", "--token", token),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield await asyncio.wait_for(_ready(process, module), START_S)
    except TimeoutError:
        message = f"the example service did not start within {START_S} s"
        raise SourceError(message, location=module) from None
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(process: asyncio.subprocess.Process, module: str) -> str:
    assert process.stdout is not None  # noqa: S101 -- stdout is a pipe
    while line := (await process.stdout.readline()).decode():
        word, _, address = line.strip().partition(" ")
        if word == "READY":
            return address
    message = f"the example service ended with exit code {await process.wait()} before it was ready"
    raise SourceError(message, location=module)
