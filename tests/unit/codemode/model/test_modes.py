"""The mode of a request: rules in order, a default, and what the request asks for."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from codemode.catalog.catalog import Catalog
from codemode.gateway.caller_view import Visible
from codemode.model.modes import ModeRejected, mode_of, mode_of_agent, native_tools
from codemode.settings import Settings
from codemode.testing import make_tool

RULES = Settings.model_validate(
    {
        "modes": [
            {"roles": "kiosk", "mode": "menu", "enforced": True},
            {"clients": ["Cursor*", "*windsurf*"], "mode": "hybrid"},
            {"models": "gpt-4*", "mode": "native"},
        ]
    }
).modes


@pytest.mark.parametrize(
    ("request_", "mode"),
    [
        ({}, "code"),
        ({"clients": ("cursor-vscode", "")}, "hybrid"),
        ({"clients": ("", "Mozilla Windsurf/2")}, "hybrid"),
        ({"clients": ("cursor",), "wanted": "off"}, "off"),
        ({"wanted": "menu"}, "menu"),
        ({"role": "kiosk", "clients": ("cursor",)}, "menu"),
        ({"role": "kiosk", "wanted": "menu"}, "menu"),
    ],
)
def test_the_first_rule_that_matches_decides_unless_the_request_asks(request_: dict[str, Any], mode: str) -> None:
    assert mode_of(RULES, "code", **{"role": "default", **request_}) == mode


def test_the_mode_of_an_agent_depends_on_its_model() -> None:
    found = [mode_of_agent(RULES, "auto", role="default", model=model) for model in ("GPT-4.1", "gpt-5")]
    assert found == ["native", "auto"]
    assert mode_of_agent(RULES, "code", role="default", model="gpt-4.1", wanted="auto") == "auto"


BY_TOOLS = Settings.model_validate(
    {"modes": [{"sources": ["shop", "mail"], "most_tools": 5, "mode": "menu"}, {"most_tools": 20, "mode": "native"}]}
).modes


@pytest.mark.parametrize(
    ("tools", "sources", "mode"),
    [
        (5, "shop", "menu"),
        (5, "shop mail", "menu"),
        (6, "shop", "native"),
        (5, "shop bank", "native"),
        (21, "shop", "code"),
    ],
)
def test_a_rule_may_match_by_the_tools_that_a_caller_may_use(tools: int, sources: str, mode: str) -> None:
    visible = {"clerk": Visible(tools, frozenset(sources.split()))}
    assert mode_of(BY_TOOLS, "code", role="clerk", sees=visible.get) == mode
    assert mode_of_agent(BY_TOOLS, "code", role="clerk", model="m", sees=visible.get) == mode
    assert mode_of(BY_TOOLS, "code", role="other", sees=visible.get) == "code"


def test_an_enforced_mode_and_an_unknown_one_are_rejected() -> None:
    with pytest.raises(ModeRejected, match="the mode code is not allowed here: the operator's configuration enforces"):
        mode_of(RULES, "code", role="kiosk", wanted="code")
    with pytest.raises(ModeRejected, match=r"no mode 'natve'; modes: code, .*native"):
        mode_of(RULES, "code", role="default", wanted="natve")


def test_off_is_read_from_yaml_without_quotes() -> None:
    settings = Settings.model_validate(yaml.safe_load("{modes: [{mode: off}], agent: {mode: off}, server: {mcp: off}}"))
    assert (settings.modes[0].mode, settings.agent.mode, settings.server.mcp) == ("off", "off", "off")


def test_native_lists_every_tool_up_to_a_limit() -> None:
    catalog = Catalog([make_tool("a.two"), make_tool("a.one")])
    assert [tool.id for tool in native_tools(catalog, 2)] == ["a.one", "a.two"]
    with pytest.raises(ModeRejected, match="the mode native would list 2 tools, and `native_tools` allows 1"):
        native_tools(catalog, 1)
