"""Introductions of namespaces: what a model has to know before its first program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.catalog.catalog import Catalog
from codemode.catalog.tokens import estimate
from codemode.search.introduction import condensed, introductions, with_full_names
from codemode.search.result import SearchAnswer
from codemode.testing import make_tool

if TYPE_CHECKING:
    from tests.conftest import Gym


def test_the_operators_instructions_come_before_the_documents_description() -> None:
    instructions, descriptions = {"gym": "Ask first.\n", "shop": ""}, {"gym": "A gym.", "shop": "", "mail": "Mail."}
    assert introductions(instructions, descriptions) == {"gym": "Ask first.\nA gym.", "mail": "Mail."}


def test_a_short_text_is_kept_on_one_line_without_markup() -> None:
    assert condensed("# The API\n\nAmounts are in **cents**.\u200b\n", 120) == "The API Amounts are in cents.\\u200b"


def test_of_a_long_text_sentences_about_conventions_are_kept_in_order() -> None:
    praise = "We love our customers and they love us. " * 40
    text = f"Welcome. {praise}Amounts are in cents. {praise}Times are in UTC."
    shown = condensed(text, 40)
    assert estimate(shown) <= 40
    assert shown.endswith("Amounts are in cents. Times are in UTC.") or (
        "Amounts are in cents." in shown and shown.endswith("Times are in UTC.")
    )


def test_a_sentence_longer_than_the_budget_is_left_out() -> None:
    assert condensed("All dates are " + "very " * 200 + "short. Ids are integers.", 20) == "Ids are integers."


def test_operations_are_called_by_the_names_that_programs_call() -> None:
    catalog = Catalog(
        [make_tool("gym.core.get_gym_info", aliases=("getGymInfo", "get_gym_info")), make_tool("gym.today")]
    )
    text = "Today is in getGymInfo (get_gym_info), see other_get_gym_info, get_gym_info.name, `today` and get_it_all."
    assert with_full_names(text, "gym", catalog) == (
        "Today is in gym.core.get_gym_info (gym.core.get_gym_info), see other_get_gym_info, get_gym_info.name, `today` "
        "and get_it_all."
    )
    hidden = catalog.restricted(lambda tool: tool.id == "gym.today")
    assert with_full_names(text, "gym", hidden) == text


def test_a_conversation_is_told_each_introduction_once() -> None:
    told: set[str] = set()
    answers = [
        SearchAnswer("hits", (), 0, introductions=texts)
        for texts in ({"gym": "In cents."}, {"gym": "In cents.", "mail": "In UTC."}, {"mail": "In UTC."})
    ]
    assert [answer.introduced(told) for answer in answers] == [
        "# gym: In cents.\nhits",
        "# mail: In UTC.\nhits",
        "hits",
    ]


@pytest.mark.parametrize("introduce", [True, False])
async def test_search_introduces_the_namespaces_of_its_hits_on_request(gym: Gym, introduce: bool) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        answer = await service.search("freeze a membership", introduce=introduce)
        first, *_ = answer.text.splitlines()
        assert first.startswith("# gym: Money is in minor units (cents)") is introduce
        assert ("gym" in answer.introductions) is not introduce
        assert '"today" is the today of gym.core.get_gym_info' in await service.describe("gym")
        nothing = await service.search("zzqqxx", introduce=introduce)
        assert not nothing.text.startswith("# gym:")
