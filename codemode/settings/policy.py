"""The `policy` section."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from codemode.settings.section import Section
from codemode.settings.sources import EffectName

#: The role of callers without another role. It is always known.
DEFAULT_ROLE = "default"

#: The default role for approvals.
APPROVER_ROLE = "approver"

DecisionName = Literal["allow", "deny", "ask"]


def _several(value: Any) -> Any:
    """Return one value as a list."""
    return [value] if isinstance(value, (str, bool, int, float)) else value


Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
Names = Annotated[tuple[Name, ...], BeforeValidator(_several, json_schema_input_type=tuple[Name, ...] | Name)]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
Patterns = Annotated[
    tuple[Pattern, ...], BeforeValidator(_several, json_schema_input_type=tuple[Pattern, ...] | Pattern)
]
Effects = Annotated[
    tuple[EffectName, ...], BeforeValidator(_several, json_schema_input_type=tuple[EffectName, ...] | EffectName)
]
Value = Annotated[str, Field(max_length=500)] | bool | int | float
Values = Annotated[
    tuple[Value, ...],
    Field(min_length=1),
    BeforeValidator(_several, json_schema_input_type=Annotated[tuple[Value, ...], Field(min_length=1)] | Value),
]
Path = Annotated[str, Field(pattern=r"^[^.?]+(\.[^.?]+)*\??$", max_length=200)]


class RuleSettings(Section):
    """One rule. Keys that are left out match everything."""

    name: str = Field(
        default="", max_length=80, description="Name in explanations and errors.", examples=["mail stays inside"]
    )
    tools: Patterns = Field(default=(), description="Patterns of tool ids.", examples=["outbox.messages.send_*"])
    effects: Effects = Field(default=(), description="Effects of tools.", examples=[["write", "destructive"]])
    sources: Names = Field(default=(), description="Names of sources.", examples=["outbox"])
    tiers: Names = Field(default=(), description="Tiers of tools, as `tier` of a source sets them.", examples=["money"])
    roles: Names = Field(default=(), description="Roles of callers.", examples=["support"])
    where: dict[Path, Values] = Field(
        default={},
        description="Conditions on arguments: a path and the patterns of its values. All of them must match. A path "
        "that ends in `?` may be absent.",
        examples=[{"to": "*@own.org", "cc?": "*@own.org"}],
    )
    decision: DecisionName = Field(
        description="`allow`: send the call. `deny`: reject it. `ask`: pause until a person decides."
    )
    reason: str = Field(
        default="",
        max_length=300,
        description="Reason for the caller or the approver.",
        examples=["mail to others is read by a person first"],
    )
    low_risk: bool = Field(
        default=False,
        examples=[True],
        description="With `ask`: a plugin may approve the call in the place of a person. Rejecting needs no such mark.",
    )

    @model_validator(mode="after")
    def _only_asked_calls_are_low_risk(self) -> RuleSettings:
        if self.low_risk and self.decision != "ask":
            message = f"low_risk: only a rule with `decision: ask` can be low-risk, not `{self.decision}`"
            raise ValueError(message)
        return self


class QuotaSettings(Section):
    """A maximum number of calls in one execution."""

    tools: Patterns = Field(
        default=(), description="Patterns of tool ids, counted together.", examples=["outbox.messages.send_*"]
    )
    roles: Names = Field(default=(), description="Roles of callers. Empty: all.", examples=["support"])
    calls: int = Field(ge=1, description="Maximum number of calls in one execution.", examples=[20])


class DefaultDecisions(Section):
    """Decisions by effect, for calls that no rule matches."""

    read: DecisionName = Field(default="allow", description="Decision on reads.")
    write: DecisionName = Field(default="allow", description="Decision on writes.")
    destructive: DecisionName = Field(default="ask", description="Decision on destructive calls.")


class PolicySettings(Section):
    """Who may call what: ordered rules, quotas and default decisions."""

    roles: Names = Field(
        default=(), description="Roles besides `default`, the role of callers without another.", examples=[["support"]]
    )
    approvers: Names = Field(default=(APPROVER_ROLE,), description="Roles that may approve calls.")
    rules: tuple[RuleSettings, ...] = Field(
        default=(),
        description="Ordered rules. The first that matches decides.",
        examples=[[{"tools": "gym.salary.*", "roles": "support", "decision": "deny"}]],
    )
    quotas: tuple[QuotaSettings, ...] = Field(
        default=(),
        description="Limits on the number of calls in one execution.",
        examples=[[{"tools": "outbox.messages.send_*", "calls": 20}]],
    )
    default: DefaultDecisions = Field(
        default=DefaultDecisions(), description="Decisions by effect, for calls that no rule matches."
    )
    read_only: bool = Field(
        default=False,
        description="Deny every call that is not a read, before the rules and for all callers. A key can have its own "
        "`read_only`.",
        examples=[True],
    )

    def known_roles(self) -> tuple[str, ...]:
        """Return all roles that a caller may have."""
        return tuple(dict.fromkeys((DEFAULT_ROLE, *self.roles, *self.approvers)))
