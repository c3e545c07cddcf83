"""`codemode demo`: the example service on a loopback port, and five programs of the kind that a model writes."""

from __future__ import annotations

import asyncio
import secrets
import sys
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from rich.rule import Rule

from codemode.errors import SourceError
from codemode.service import CodeMode
from codemode.serving import console as show
from codemode.settings import SecretReference, settings_for_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GYM = "api_specs.gym"

#: Seconds until the example service must have said where it listens. It seeds its database first.
START_S = 60

QUERIES = ["freeze a membership", "who owes salry"]

#: Programs in `api_specs/gym/programs`: the file, the user's wish, and how it is meant to end.
PROGRAMS = (
    ("trainer_load.py", "Which trainers have the most active clients, and what do those clients pay?", "completed"),
    ("expiring_members.py", "Look up the next members whose membership runs out, in parallel.", "completed"),
    ("pending_salaries.py", "What are the pending salaries worth in euro?", "completed"),
    ("freeze_member.py", "Freeze the membership of a member found by name for two weeks.", "completed"),
    ("mistake.py", "Delete the clients who left, with guessed names: refused before it does harm.", "refused"),
)


async def run_demo() -> int:
    """Run it; returns the exit code: 0 when every program ended as it is meant to."""
    token = secrets.token_hex(24)
    with NamedTemporaryFile("w", suffix=".token") as kept:
        kept.write(token)
        kept.flush()
        return await _tour(token, SecretReference(file=Path(kept.name)))


async def _tour(token: str, bearer: SecretReference) -> int:
    async with _gym(token) as base_url:
        document = str(files(GYM) / "openapi.yaml")
        settings = settings_for_document(document, base_url=base_url, name="gym", bearer=bearer)
        async with CodeMode.from_settings(settings) as service:
            show.console.print(Rule(f"the gym: {len(service.catalog)} operations at {base_url}"))
            show.console.print(show.cost(service.cost()))
            show.console.print(Rule(f"search({QUERIES!r})"))
            show.console.print((await service.search(QUERIES)).text, markup=False)
            as_meant = [await _run(service, *program) for program in PROGRAMS]
    return 0 if all(as_meant) else 1


async def _run(service: CodeMode, name: str, wish: str, meant: str) -> bool:
    code = (files(GYM) / "programs" / name).read_text(encoding="utf-8")
    show.console.print(Rule(wish))
    show.console.print(show.program(code))
    ended = await service.execute(code)
    show.console.print(show.outcome(ended))
    if ended.status != meant:
        show.errors.print(f"{name} was meant to be {meant}", style="red")
    return ended.status == meant


@asynccontextmanager
async def _gym(token: str) -> AsyncIterator[str]:
    """The example service in a process of its own; gives its base URL and ends it on the way out."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", GYM, "--host", "127.0.0.1", "--port", "0", "--token", token),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield await asyncio.wait_for(_ready(process), START_S)
    except TimeoutError:
        message = f"the example service did not start within {START_S} s"
        raise SourceError(message, location=GYM) from None
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None  # noqa: S101 -- a pipe was asked for
    while line := (await process.stdout.readline()).decode():
        word, _, address = line.strip().partition(" ")
        if word == "READY":
            return address
    message = f"the example service ended with exit code {await process.wait()} before it was ready"
    raise SourceError(message, location=GYM)
