"""The `approvals` section: where people decide on pending calls, besides the inbox."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codemode.settings.section import Section


def _off(value: Any) -> Any:
    """Return "off" for False, as which YAML reads a bare `off`."""
    return "off" if value is False else value


class ApprovalSettings(Section):
    """Where people decide on pending calls. They can always decide by the command line and over HTTP."""

    in_client: Annotated[Literal["off", "approver", "single_user"], BeforeValidator(_off)] = Field(
        default="off",
        description="Who is asked in an MCP client. `off`: nobody. `approver`: an approver who continues the execution "
        "of another key. `single_user`: also the person whose own client started the execution; a server key needs the "
        "role of an approver for that.",
        examples=["single_user"],
    )
    remember: bool = Field(
        default=True,
        description="Whether approvers may have an approval remembered, for the same call in the conversation or for "
        "an hour. false: none holds, also of those made before.",
        examples=[False],
    )
    wait_s: float = Field(
        default=300.0,
        gt=0,
        le=3600,
        description="Time for an answer in an MCP client, in seconds. Afterwards the call stays pending.",
    )
