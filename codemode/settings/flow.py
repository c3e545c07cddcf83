"""The `flow` section: what text from outsiders, and private text, may be used for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from codemode.settings.model import ModelSettings
from codemode.settings.policy import DecisionName, Effects, Names, Path, Patterns, Values
from codemode.settings.section import Section

#: The namespace of the tool that `extract` configures, and the tool's id.
QUARANTINE = "quarantine"
EXTRACT = f"{QUARANTINE}.extract"


class FromMark(Section):
    """Text that outsiders wrote, as a value of a condition."""

    from_: Literal["untrusted"] = Field(alias="from", description="Text that an answer of an untrusted tool holds.")


class SecrecyMark(Section):
    """Private text, as a value of a condition."""

    secrecy: Literal["private"] = Field(description="Text that an answer of a private tool holds.")


class WhenSettings(Section):
    """The state of the conversation."""

    conversation: Literal["untrusted"] = Field(
        description="Text that outsiders wrote has reached the model in this conversation."
    )


class FlowRuleSettings(Section):
    """One rule. Keys that are left out match everything."""

    name: str = Field(default="", max_length=80, description="Name in explanations.", examples=["payees"])
    tools: Patterns = Field(default=(), description="Patterns of tool ids.", examples=["bank.pay"])
    effects: Effects = Field(default=(), description="Effects of tools.", examples=[["write", "destructive"]])
    sources: Names = Field(default=(), description="Names of sources.", examples=["bank"])
    roles: Names = Field(default=(), description="Roles of callers.", examples=["support"])
    where: dict[Path, FromMark | SecrecyMark | Values] = Field(
        default={},
        description="Conditions on arguments: where their text comes from, or patterns as in `policy.rules`. All of "
        "them must match. `*` is any argument.",
        examples=[{"to": {"from": "untrusted"}}, {"body": {"secrecy": "private"}, "to": "*@other.example"}],
    )
    when: WhenSettings | None = Field(
        default=None, description="Condition on the conversation.", examples=[{"conversation": "untrusted"}]
    )
    decision: DecisionName = Field(
        description="`allow`: as the policy decides. `deny`: reject it. `ask`: ask a person."
    )
    reason: str = Field(
        default="",
        max_length=300,
        description="Reason for the caller or the approver.",
        examples=["payees are chosen by people"],
    )

    @model_validator(mode="after")
    def _has_a_condition(self) -> FlowRuleSettings:
        if self.decision != "allow" and not self.where and self.when is None:
            message = "a rule on the flow of text needs `where` or `when`; without them, write it below policy.rules"
            raise ValueError(message)
        return self


def _mode(value: object) -> object:
    """Return the mode for `on` and `off`, which YAML reads as booleans."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


class FlowSettings(Section):
    """Rules on the flow of text inside programs."""

    mode: Annotated[
        Literal["off", "on", "strict"],
        BeforeValidator(_mode, json_schema_input_type=Literal["off", "on", "strict"] | bool),
    ] = Field(
        default="off",
        description="`on`: the rules below, then the built-in ones. `strict`: a person is also asked about every write "
        "after a program has read text that outsiders wrote.",
        examples=["on"],
    )
    untrusted: Patterns = Field(
        default=(),
        description="Tools whose answers hold text that outsiders write: patterns of ids, or `PATTERN: FIELD`. Others "
        "are known by words in their ids.",
        examples=[["crm.notes.*", "shop.orders.get: comment"]],
    )
    trusted: Patterns = Field(
        default=(),
        description="Tools whose answers are trusted after all, such as one that checks or cleans a text: patterns as "
        "in `untrusted`, and stronger.",
        examples=[["directory.*", "tickets.list: [].id"]],
    )
    private: Patterns = Field(
        default=(),
        description="Tools whose answers may go to their own source only: patterns as in `untrusted`.",
        examples=[["payroll.*"]],
    )
    extract: ModelSettings | None = Field(
        default=None,
        description="Model that reads texts for programs, without tools: `quarantine.extract(text, schema)`. null: "
        "programs have no such tool.",
        examples=[{"model": "gpt-5-mini"}],
    )
    rules: tuple[FlowRuleSettings, ...] = Field(
        default=(),
        description="Rules, before the built-in ones. The first that matches decides; what the policy denies stays "
        "denied.",
        examples=[[{"where": {"payee": {"from": "untrusted"}}, "decision": "deny"}]],
    )
