"""A program that reads a part of a list is told, recorded or not, also when it is continued."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.service import CodeMode

if TYPE_CHECKING:
    from tests.conftest import Gym


CLIENTS = "gym.clients.get_clients_list"


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_page_of_a_longer_list_is_noted(gym: Gym, *, recorded: bool) -> None:
    async with CodeMode.from_settings(gym.settings(journal={"enabled": recorded})) as service:
        first = await service.execute(f"page = {CLIENTS}(limit=3)\nlen(page['items']), page['total']")
        count, total = first.value
        assert first.notes == (f"{CLIENTS} returned {count} of {total}; {CLIENTS}.items(…) returns all",)
        whole = await service.execute(f"len({CLIENTS}.items()), len({CLIENTS}.items(limit=5))")
        assert (whole.value, whole.notes) == ([total, 5], ())
