"""Hints with the full id for tools called without their namespace."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.executions.run.advice import advised, clock_notes
from codemode.testing import make_tool
from codemode.text.clock import Clock
from sandbox import Failure

CATALOG = Catalog(
    Tool(f"gym.clients.{name}", source="gym", effect=Effect.READ) for name in ("get_clients_list", "get_client_details")
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("get_clients_list", "call tools by their full id: write gym.clients.get_clients_list"),
        ("get_client_list", "did you mean gym.clients.get_clients_list"),
        ("clients", "write gym.clients: clients is a group of tools"),
    ],
)
def test_a_missing_name_that_ends_the_id_of_a_tool_is_given_in_full(name: str, said: str) -> None:
    failure = Failure("NameError", f"name '{name}' is not defined", hint="make it")
    assert advised(failure, CATALOG).hint.startswith(said)


@pytest.mark.parametrize("failure", [Failure("NameError", "name 'rows' is not defined", hint="a"), Failure("E", "x")])
def test_other_failures_stay_as_they_are(failure: Failure) -> None:
    assert advised(failure, CATALOG) is failure


NOON = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
EVENING = datetime(2026, 11, 26, 23, 30, tzinfo=UTC)
TOOL = make_tool("gym.clients.list", {})
BERLIN = Clock(zone="Europe/Berlin")
NOTE = "date.today() is 2026-11-26 (UTC) in programs; fake has another clock: time zone Europe/Berlin"


def _notes(code: str, clock: Clock = BERLIN, moment: datetime = EVENING) -> tuple[str, ...]:
    calls = (TOOL.id, TOOL.id, "gym.unknown")
    return clock_notes(code, calls, Catalog((TOOL,), clocks={TOOL.source: clock}), moment)


def test_a_program_that_takes_its_own_date_gets_one_note_for_a_source_on_another_day() -> None:
    assert _notes("import datetime\nday = datetime.date.today()") == (NOTE,)
    assert _notes("day = datetime.now().date()")[0].startswith("datetime.now() is 2026-11-26 (UTC)")


@pytest.mark.parametrize("code", ["gym.clients.list()", "datetime.now(ZoneInfo('Europe/Berlin'))", "update.today()"])
def test_a_program_without_its_own_date_or_with_the_zone_gets_none(code: str) -> None:
    assert _notes(code) == ()


def test_the_same_day_needs_no_note_and_a_date_that_only_the_service_knows_does() -> None:
    assert _notes("date.today()", moment=NOON) == ()
    told = _notes("date.today()", Clock(today="the `today` of get_gym_info"), NOON)
    assert told[0].endswith("fake has another clock: today is the `today` of get_gym_info")


def test_a_view_keeps_the_clocks() -> None:
    catalog = Catalog((TOOL,), clocks={"fake": BERLIN})
    assert catalog.restricted(lambda _: True).clocks == catalog.merged(Catalog()).clocks == {"fake": BERLIN}
