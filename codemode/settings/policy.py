"""The section on who may do what."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codemode.settings.section import Section
from codemode.settings.sources import EffectName

#: The role of a caller that has no other. It need not be listed.
DEFAULT_ROLE = "default"

#: The role of who may approve calls, where the configuration names no other.
APPROVER_ROLE = "approver"

DecisionName = Literal["allow", "deny", "ask"]


def _several(value: Any) -> Any:
    """One value stands for a list of one."""
    return [value] if isinstance(value, (str, bool, int, float)) else value


Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
Names = Annotated[tuple[Name, ...], BeforeValidator(_several)]
Patterns = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], BeforeValidator(_several)]
Values = Annotated[
    tuple[Annotated[str, Field(max_length=500)] | bool | int | float, ...],
    Field(min_length=1),
    BeforeValidator(_several),
]
Path = Annotated[str, Field(pattern=r"^[^.?]+(\.[^.?]+)*\??$", max_length=200)]


class RuleSettings(Section):
    """One rule. What is left out holds for all; `where` are conditions on arguments, all of which must hold."""

    name: str = Field(default="", max_length=80)
    tools: Patterns = ()
    effects: Annotated[tuple[EffectName, ...], BeforeValidator(_several)] = ()
    sources: Names = ()
    tiers: Names = ()
    roles: Names = ()
    where: dict[Path, Values] = Field(default_factory=dict)
    decision: DecisionName
    reason: str = Field(default="", max_length=300)


class QuotaSettings(Section):
    """At most `calls` of these tools together in one execution."""

    tools: Patterns = ()
    roles: Names = ()
    calls: int = Field(ge=1)


class DefaultDecisions(Section):
    """What holds where no rule does, by effect."""

    read: DecisionName = "allow"
    write: DecisionName = "allow"
    destructive: DecisionName = "ask"


class PolicySettings(Section):
    """Rules in order: the first that fits decides. Who has one of the roles `approvers` answers what they ask."""

    roles: Names = ()
    approvers: Names = (APPROVER_ROLE,)
    rules: tuple[RuleSettings, ...] = ()
    quotas: tuple[QuotaSettings, ...] = ()
    default: DefaultDecisions = DefaultDecisions()

    def known_roles(self) -> tuple[str, ...]:
        """The roles that a caller may have."""
        return tuple(dict.fromkeys((DEFAULT_ROLE, *self.roles, *self.approvers)))
