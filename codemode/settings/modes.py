"""The `modes` section: which tools a model gets, by role, client and model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codemode.settings.policy import Names, Patterns
from codemode.settings.section import Section

#: What a model gets. `code`: search and execute. `hybrid`: these and native tools. `menu`: a menu of native tools.
#: `native`: every tool. `deferred`: a search that adds native tools. `off`: nothing.
ModeName = Literal["code", "hybrid", "menu", "native", "deferred", "off"]

#: What an agent's model gets. `auto`: native or code by size, and menus once the model has shown that it writes no
#: usable programs.
AgentMode = Literal["code", "hybrid", "menu", "native", "deferred", "off", "auto"]


def _off(value: Any) -> Any:
    """Read `off` in YAML 1.1, where it means false."""
    return "off" if value is False else value


Mode = Annotated[ModeName, BeforeValidator(_off, json_schema_input_type=ModeName | Literal[False])]
AgentModeOrOff = Annotated[AgentMode, BeforeValidator(_off, json_schema_input_type=AgentMode | Literal[False])]


class ModeRuleSettings(Section):
    """One rule. Keys that are left out match everything."""

    roles: Names = Field(default=(), description="Roles of callers.", examples=["support"])
    clients: Patterns = Field(
        default=(),
        description="Patterns of client names, without regard to case: an MCP client's own name, or its `User-Agent`. "
        "Clients may lie.",
        examples=["cursor*"],
    )
    models: Patterns = Field(
        default=(), description="Patterns of the model names of agents, without regard to case.", examples=["gpt-4*"]
    )
    most_tools: int | None = Field(
        default=None, ge=0, description="Callers who may use at most this number of tools.", examples=[20]
    )
    sources: Names = Field(
        default=(), description="Callers who may use tools of these sources and of no others.", examples=["helpdesk"]
    )
    mode: Mode = Field(
        description="`code`: search and execute. `hybrid`: these and native tools. `menu`: a menu of native tools. "
        "`native`: every tool. `deferred`: a search that adds native tools. `off`: no tools."
    )
    enforced: bool = Field(
        default=False, description="Reject requests that ask for another mode. false: they get it.", examples=[True]
    )
