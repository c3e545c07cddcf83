"""`codemode demo`: the example services on loopback ports, and six programs of the kind that a model writes."""

from __future__ import annotations

import asyncio
import secrets
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from rich.rule import Rule

from codemode.errors import SourceError
from codemode.service import CodeMode
from codemode.serving import console as show
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Surfaces that ship with the project, each with the service that answers it.
SURFACES = {"gym": "api_specs.gym", "outbox": "api_specs.outbox"}

#: Seconds until an example service must have said where it listens. The gym seeds its database first.
START_S = 60

QUERIES = ["freeze a membership", "who owes salry"]

#: Programs in `api_specs/*/programs`: the file, the user's wish, and how it is meant to end.
PROGRAMS = (
    (
        "gym/programs/trainer_load.py",
        "Which trainers have the most active clients, and what do those clients pay?",
        "completed",
    ),
    (
        "gym/programs/expiring_members.py",
        "Look up the next members whose membership runs out, in parallel.",
        "completed",
    ),
    ("gym/programs/pending_salaries.py", "What are the pending salaries worth in euro?", "completed"),
    ("gym/programs/freeze_member.py", "Freeze the membership of a member found by name for two weeks.", "completed"),
    (
        "outbox/programs/remind_expiring.py",
        "Remind the members whose membership ends this month by e-mail.",
        "completed",
    ),
    (
        "gym/programs/mistake.py",
        "Delete the clients who left, with guessed names: refused before it does harm.",
        "refused",
    ),
)


async def run_demo(*, as_json: bool = False) -> int:
    """Run it; returns the exit code: 0 when every program ended as it is meant to."""
    token = secrets.token_hex(24)
    with NamedTemporaryFile("w", suffix=".token") as kept:
        kept.write(token)
        kept.flush()
        async with AsyncExitStack() as services:
            started = (services.enter_async_context(_served(module, token)) for module in SURFACES.values())
            addresses = dict(zip(SURFACES, await asyncio.gather(*started), strict=True))
            settings = Settings.model_validate({"sources": _sources(addresses, kept.name)})
            return await (_outcomes(settings) if as_json else _tour(settings))


def _sources(addresses: dict[str, str], token_file: str) -> dict[str, object]:
    return {
        name: {
            "location": str(files(SURFACES[name]) / "openapi.yaml"),
            "base_url": address,
            "keep_names": False,  # what is tried here leaves nothing behind
            "credentials": [{"kind": "bearer", "token": {"file": token_file}}],
        }
        for name, address in addresses.items()
    }


async def _outcomes(settings: Settings) -> int:
    """The programs and how they ended, as JSON."""
    async with CodeMode.from_settings(settings) as service:
        ended = [await service.execute(_code(name)) for name, _, _ in PROGRAMS]
    rows = [
        {"program": name, "wish": wish, "meant": meant, "outcome": outcome.to_json()}
        for (name, wish, meant), outcome in zip(PROGRAMS, ended, strict=True)
    ]
    show.print_json(rows)
    return 0 if all(row["meant"] == outcome.status for row, outcome in zip(rows, ended, strict=True)) else 1


async def _tour(settings: Settings) -> int:
    async with CodeMode.from_settings(settings) as service:
        sources = ", ".join(f"{name} at {source.base_url}" for name, source in settings.sources.items())
        show.console.print(Rule(f"{len(service.catalog)} operations: {sources}"))
        show.console.print(show.cost(service.cost()))
        show.console.print(Rule(f"search({QUERIES!r})"))
        show.console.print((await service.search(QUERIES)).text, markup=False)
        as_meant = [await _run(service, *program) for program in PROGRAMS]
    return 0 if all(as_meant) else 1


def _code(name: str) -> str:
    return files("api_specs").joinpath(name).read_text(encoding="utf-8")


async def _run(service: CodeMode, name: str, wish: str, meant: str) -> bool:
    code = _code(name)
    show.console.print(Rule(wish))
    show.console.print(show.program(code))
    ended = await service.execute(code)
    show.console.print(show.outcome(ended))
    if ended.status != meant:
        show.errors.print(f"{name} was meant to be {meant}", style="red")
    return ended.status == meant


@asynccontextmanager
async def _served(module: str, token: str) -> AsyncIterator[str]:
    """An example service in a process of its own; gives its base URL and ends it on the way out."""
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
    assert process.stdout is not None  # noqa: S101 -- a pipe was asked for
    while line := (await process.stdout.readline()).decode():
        word, _, address = line.strip().partition(" ")
        if word == "READY":
            return address
    message = f"the example service ended with exit code {await process.wait()} before it was ready"
    raise SourceError(message, location=module)
