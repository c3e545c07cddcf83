"""Changes that a description names beyond the summary."""

from __future__ import annotations

import pytest

from codemode.catalog import stubs
from codemode.catalog.side_effects import side_effects
from codemode.catalog.tool import Effect, Tool


@pytest.mark.parametrize(
    ("summary", "description", "expected"),
    [
        (
            "Renew a membership",
            "Renews (extends) the membership, takes an offer off the price, and records the payment.",
            "also takes an offer off the price, records the payment",
        ),
        (
            "Convert a lead",
            "Makes the lead a member: creates the client and ends the lead as won.",
            "also creates the client, ends the lead as won",
        ),
        ("Delete a client", "Deletes a client. This cannot be undone.", "cannot be undone"),
        ("Send a message", "Sends a message. Sends an e-mail if nothing else is known.", ""),
        ("Create a note", "Creates a note. A note has a text, a title and a colour.", ""),
        ("Create a note", "", ""),
    ],
)
def test_further_changes_are_found(summary: str, description: str, expected: str) -> None:
    tool = Tool("gym.x", source="gym", summary=summary, description=description, effect=Effect.WRITE)
    assert side_effects(tool) == expected


def test_a_read_has_none_and_a_stub_says_it() -> None:
    description = "Gets a report, and sends it by e-mail."
    read, write = (
        Tool("gym.x", source="gym", summary="Get a report", description=description, effect=effect)
        for effect in (Effect.READ, Effect.WRITE)
    )
    assert side_effects(read) == ""
    assert stubs.stub(write) == "gym.x() -> Any  # Get a report; also sends it by e-mail"
