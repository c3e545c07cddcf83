"""The tools of one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.gateway.caller import LOCAL, Caller
from codemode.model.definitions import Offer
from codemode.model.modes import ModeRejected
from codemode.serving.agent import Agent
from codemode.serving.agent.toolbox import Toolbox
from codemode.settings import AgentMode, AgentSettings, Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.serving.agent import ModelAnswer, ModelRequest
    from tests.conftest import Gym
    from tests.integration.codemode.serving.agent.conftest import Shop


class Silent:
    """A model that is never asked."""

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        raise AssertionError(request)
        yield ""


async def test_the_first_search_of_a_conversation_introduces_the_api(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        for _ in range(2):
            toolbox = Toolbox(service, AgentSettings(), LOCAL, {})
            answers = [
                (await toolbox.call("search", {"queries": [query]}, Offer())).text
                for query in ("freeze a membership", "list trainers")
            ]
            assert [answer.startswith("# gym: Money is in minor units") for answer in answers] == [True, False]


async def test_the_programs_of_a_conversation_share_state(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        first, second = (Toolbox(service, AgentSettings(), LOCAL, {}, name) for name in ("one", "two"))
        await first.call("execute", {"code": "store('n', 1)\n'first'"}, Offer())
        shared = await first.call("execute", {"code": "[load('n'), last]"}, Offer())
        others = await second.call("execute", {"code": "load('n')"}, Offer())
    assert shared.text == '[1, "first"]'
    assert "has no stored value 'n'" in others.text


async def test_a_rule_chooses_the_mode_by_role_and_model(shop: Shop, tmp_path: Path) -> None:
    rules = [{"roles": "kiosk", "mode": "off", "enforced": True}, {"models": "small*", "mode": "native"}]
    settings = Settings.model_validate({"modes": rules, "state_folder": tmp_path, "cache_folder": tmp_path})
    async with CodeMode.from_settings(settings, functions={"shop": [shop.find_order]}) as service:

        def mode(model: str, role: str = "default", wanted: AgentMode | None = None) -> str:
            given = AgentSettings(model=model)
            return Agent(service, given, model=Silent(), caller=Caller("ann", role), mode=wanted).settings.mode

        assert (mode("large"), mode("Small-1"), mode("small-1", wanted="code")) == ("code", "native", "code")
        assert mode("large", "kiosk") == "off"
        with pytest.raises(ModeRejected, match="enforces off"):
            mode("large", "kiosk", "code")
        nothing = Toolbox(service, AgentSettings(mode="off"), LOCAL, {})
        offer = await nothing.offer("hello", ())
        assert offer.definitions == ()
        assert not (await nothing.call("shop.find_order", {"number": 1}, offer)).ok
    assert shop.asked == []
