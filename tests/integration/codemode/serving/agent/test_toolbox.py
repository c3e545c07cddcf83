"""The tools of one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode import CodeMode
from codemode.gateway.caller import LOCAL
from codemode.serving.agent.toolbox import Offer, Toolbox
from codemode.settings import AgentSettings

if TYPE_CHECKING:
    from tests.conftest import Gym


async def test_the_first_search_of_a_conversation_introduces_the_api(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        for _ in range(2):
            toolbox = Toolbox(service, AgentSettings(), LOCAL, {})
            answers = [
                (await toolbox.call("search", {"queries": [query]}, Offer(()))).text
                for query in ("freeze a membership", "list trainers")
            ]
            assert [answer.startswith("# gym: Money is in minor units") for answer in answers] == [True, False]


async def test_the_programs_of_a_conversation_share_state(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        first, second = (Toolbox(service, AgentSettings(), LOCAL, {}, name) for name in ("one", "two"))
        await first.call("execute", {"code": "store('n', 1)\n'first'"}, Offer(()))
        shared = await first.call("execute", {"code": "[load('n'), last]"}, Offer(()))
        others = await second.call("execute", {"code": "load('n')"}, Offer(()))
    assert shared.text == '[1, "first"]'
    assert "has no stored value 'n'" in others.text
