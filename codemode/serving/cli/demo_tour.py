"""`codemode demo --all`: a cost table, a search, and six programs as a model writes them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rich.rule import Rule

from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from codemode.service import CodeMode

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


async def tour(service: CodeMode) -> bool:
    """Print the cost table, a search, and the programs with their outcomes. Return whether all ended as expected."""
    sources = ", ".join(f"{name} at {source.base_url}" for name, source in service.settings.sources.items())
    show.console.print(Rule(f"{len(service.catalog)} operations: {sources}"))
    show.console.print(show.cost(service.discovery.cost()))
    show.console.print(Rule(f"search({QUERIES!r})"))
    show.console.print((await service.search(QUERIES)).text, markup=False)
    as_meant = [await _run(service, *program) for program in PROGRAMS]
    return all(as_meant)


async def outcomes(service: CodeMode) -> list[dict[str, Any]]:
    """Run the programs. Return each with its wish, expected status and outcome, as JSON data."""
    return [
        {"program": name, "wish": wish, "meant": meant, "outcome": (await service.execute(_code(name))).to_json()}
        for name, wish, meant in PROGRAMS
    ]


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
