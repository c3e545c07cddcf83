"""The signatures that a search for a message finds: for the first in the prompt, for later ones beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import codemode
from codemode import Caller, CodeMode
from codemode.model.fitting_tools import first_message, later_message
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ANN = Caller("ann")
GUEST = Caller("guest", "guest")
FEW = {"definitions": {"inline_tokens": 20}}


@codemode.tool(effect="read")
def find_order(number: int) -> dict[str, Any]:
    """Find an order of the shop by its number."""
    return {"number": number}


@codemode.tool(effect="write")
def refund_order(number: int) -> int:
    """Refund an order."""
    return number


@codemode.tool(effect="read")
def list_shifts(day: str) -> list[str]:
    """List the shifts of the staff on a day."""
    return [day]


def service(folder: Path, **settings: Any) -> CodeMode:
    made = Settings.model_validate({"state_folder": folder / "state", "cache_folder": folder / "cache", **settings})
    return CodeMode.from_settings(made, functions={"shop": [find_order, refund_order], "staff": [list_shifts]})


async def test_the_first_message_is_searched_for_where_the_definition_lacks_signatures(tmp_path: Path) -> None:
    async with service(tmp_path, **FEW) as cm:
        prompt = (await cm.tools(ANN).offer("Which shifts does the staff have on Monday?")).prompt
    assert prompt.startswith("Tools that a search for the first message finds.")
    assert "staff.list_shifts(*, day: str) -> list[str]" in prompt


@pytest.mark.parametrize("definitions", [{"inline_tokens": 2_000}, {"inline_tokens": 0}])
async def test_a_definition_with_all_signatures_needs_no_search_and_a_bound_of_0_means_none(
    tmp_path: Path, definitions: dict[str, int]
) -> None:
    async with service(tmp_path, definitions=definitions) as cm:
        assert (await cm.tools(ANN).offer("Refund order 7")).prompt == ""


@pytest.mark.parametrize("mode", ["menu", "native", "off"])
async def test_a_model_that_runs_no_programs_gets_no_signatures(tmp_path: Path, mode: Any) -> None:
    async with service(tmp_path, **FEW) as cm:
        assert "Tools that a search" not in (await cm.tools(ANN, mode=mode).offer("Refund order 7")).prompt


async def test_a_message_that_no_tool_fits_adds_nothing_to_the_prompt(tmp_path: Path) -> None:
    async with service(tmp_path, **FEW) as cm:
        for message in ("", "  ", "2 + 2"):
            assert (await cm.tools(ANN).offer(message)).prompt == ""


async def test_the_prompt_stays_the_same_for_the_whole_conversation(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Refund order 7"}]},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Which shifts does the staff have on Monday?"},
    ]
    async with service(tmp_path, **FEW) as cm:
        tools = cm.tools(ANN)
        first = (await tools.offer("Refund order 7")).prompt
        assert "shop.refund_order(*, number: int) -> int" in first
        assert (await tools.offer("Which shifts does the staff have on Monday?", history)).prompt == first
        assert (await cm.tools(ANN).offer("", history)).prompt == first


async def test_the_prompt_has_only_tools_that_the_caller_may_use(tmp_path: Path) -> None:
    rules = [{"roles": "guest", "tools": "shop.refund_order", "decision": "deny"}]
    async with service(tmp_path, policy={"rules": rules}, **FEW) as cm:
        assert "shop.refund_order" in (await cm.tools(ANN).offer("Refund order 7")).prompt
        assert "refund_order" not in (await cm.tools(GUEST).offer("Refund order 7")).prompt


SAID = [
    {"role": "user", "content": "Refund order 7"},
    {"role": "assistant", "content": "Done."},
]
SHIFTS = "Which shifts does the staff have on Monday?"


def with_message(text: str) -> list[dict[str, Any]]:
    return [*SAID, {"role": "user", "content": text}]


async def test_a_later_message_is_sent_with_tools_that_the_model_has_not_seen(tmp_path: Path) -> None:
    async with service(tmp_path, **FEW) as cm:
        offer = await cm.tools(ANN).offer(SHIFTS, with_message(SHIFTS))
    assert "staff.list_shifts" not in offer.prompt
    assert offer.addition.startswith("(Further tools that a search for this message finds:\n")
    assert "staff.list_shifts(*, day: str) -> list[str]" in offer.addition
    assert "shop.refund_order(" not in offer.addition


@pytest.mark.parametrize(
    ("message", "answered"),
    [
        ("Refund order 8 too", []),  # was in the prompt
        ("yes", []),  # the search is not sure
        (SHIFTS, [{"role": "tool", "content": "staff.list_shifts(*, day: str) -> list[str]"}]),  # a search showed it
    ],
)
async def test_nothing_is_added_to_a_later_message_where_nothing_new_fits(
    tmp_path: Path, message: str, answered: list[dict[str, Any]]
) -> None:
    async with service(tmp_path, **FEW) as cm:
        history = [*SAID[:1], *answered, *with_message(message)[1:]]
        assert (await cm.tools(ANN).offer(message, history)).addition == ""


async def test_a_tool_that_is_new_since_the_message_before_is_added(tmp_path: Path) -> None:
    history = [*SAID, *with_message(SHIFTS)[2:], SAID[1]]
    async with service(tmp_path, **FEW) as cm:
        added = (await cm.tools(ANN).offer("You can call more functions now.", history)).addition
    assert "staff.list_shifts(" in added


async def test_a_message_is_searched_for_once_and_what_was_added_is_no_query(tmp_path: Path) -> None:
    async with service(tmp_path, **FEW) as cm:
        tools = cm.tools(ANN)
        sent = f"{SHIFTS}\n\n{(await tools.offer(SHIFTS, with_message(SHIFTS))).addition}"
        answered = [*with_message(sent), {"role": "assistant", "content": "None."}]
        assert (await tools.offer(SHIFTS, with_message(sent))).addition == ""
        assert (await tools.offer(SHIFTS, answered)).addition == ""
    later = later_message("Find order 3", answered)
    assert later is not None
    assert (later.message, later.before) == ("Find order 3", SHIFTS)


async def test_tools_of_the_definition_are_not_repeated_in_the_prompt(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "state_folder": tmp_path / "state",
            "cache_folder": tmp_path / "cache",
            "definitions": {"inline_tokens": 150, "inline": ["staff.list_shifts"]},
        }
    )
    shops = {f"shop_{number}": [find_order, refund_order] for number in range(5)}
    async with CodeMode.from_settings(settings, functions={**shops, "staff": [list_shifts]}) as cm:
        offer = await cm.tools(ANN).offer(SHIFTS)
    assert "staff.list_shifts(*" in str(offer.definitions)
    assert "staff.list_shifts(*" not in offer.prompt


def test_a_long_first_message_is_cut_to_the_length_of_a_query() -> None:
    assert first_message("word " * 1_000, ()) == "word " * 200
    assert first_message("new", ["", ("human", "first"), {"role": "user", "content": "second"}]) == "first"
