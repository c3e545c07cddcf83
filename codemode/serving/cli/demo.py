"""`codemode demo`: run six programs, as a model writes them, against the example services."""

from __future__ import annotations

from importlib.resources import files

from rich.rule import Rule

from codemode.service import CodeMode
from codemode.serving.cli import terminal as show
from codemode.serving.cli.example_services import example_sources
from codemode.settings import Settings

QUERIES = ["freeze a membership", "who owes salry"]

#: Programs in `api_specs/*/programs`: file, user's request, and expected status.
PROGRAMS = (
    (
        "gym/programs/trainer_load.py",
        "Which trainers have the most active clients, and what do those clients pay?",
        "completed",
    ),
    (
        "gym/programs/expiring_members.py",
        "Look up the next members whose membership expires, in parallel.",
        "completed",
    ),
    ("gym/programs/pending_salaries.py", "How much are the pending salaries in euros?", "completed"),
    ("gym/programs/freeze_member.py", "Freeze the membership of a member found by name for two weeks.", "completed"),
    (
        "outbox/programs/remind_expiring.py",
        "Remind members whose membership ends within a week by e-mail.",
        "completed",
    ),
    (
        "gym/programs/mistake.py",
        "Delete the clients who left, with guessed names: refused before it does harm.",
        "refused",
    ),
)


async def run_demo(*, as_json: bool = False) -> int:
    """Run the demo. Return exit code 0 if every program ended as expected."""
    async with example_sources() as sources:
        settings = Settings.model_validate({"sources": sources})
        return await (_outcomes(settings) if as_json else _tour(settings))


async def _outcomes(settings: Settings) -> int:
    """Print the programs and their outcomes as JSON."""
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
        show.errors.print(f"{name} should have been {meant}", style="red")
    return ended.status == meant
