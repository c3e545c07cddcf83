"""The `reviewers` section: second opinions on calls that need a person."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codemode.settings.model import ModelSettings
from codemode.settings.policy import Effects, Name, Patterns
from codemode.settings.section import Section

ReviewMode = Literal["veto", "approve"]


class ReviewModelSettings(ModelSettings):
    """A model that reviews calls, on any service that speaks chat completions."""

    instructions: str = Field(
        default="",
        max_length=20_000,
        description="What the model checks, in your words.",
        examples=["Reject payments above 1,000 euros and payments to new accounts."],
    )


class ReviewerSettings(Section):
    """One reviewer: a Python function or a model. It never decides more than its mode allows."""

    name: Name = Field(description="Name in the ledger and in audit records.", examples=["fraud"])
    mode: ReviewMode = Field(
        default="veto",
        description="`veto`: the reviewer can only reject; a person still decides on the rest. `approve`: it can also "
        "approve calls whose policy rule has `low_risk: true`, but never destructive ones.",
    )
    tools: Patterns = Field(
        default=(), description="Patterns of tool ids to review. Empty: all.", examples=["bank.payments.*"]
    )
    effects: Effects = Field(default=(), description="Effects of tools to review. Empty: all.", examples=[["write"]])
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = Field(
        default=None,
        description="Function as `module:name`. It receives a `PluginCall` and returns `Approved`, `Rejected` or None.",
        examples=["our_company.reviews:limits"],
    )
    model: ReviewModelSettings | None = Field(
        default=None, description="Model that reviews the calls.", examples=[{"model": "gpt-5-mini"}]
    )
    timeout_s: float = Field(
        default=20.0, gt=0, le=600, description="Maximum time of a review in seconds. After that, a person decides."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.function is None) == (self.model is None):
            message = f"reviewer {self.name!r}: write exactly one of `function` and `model`"
            raise ValueError(message)
        if self.mode == "approve" and "destructive" in self.effects:
            message = f"reviewer {self.name!r}: `mode: approve` never approves destructive calls; use `mode: veto`"
            raise ValueError(message)
        return self


def _named_once(reviewers: tuple[ReviewerSettings, ...]) -> tuple[ReviewerSettings, ...]:
    names = [one.name for one in reviewers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        message = f"the reviewer {twice!r} is named twice"
        raise ValueError(message)
    return reviewers


Reviewers = Annotated[tuple[ReviewerSettings, ...], AfterValidator(_named_once)]
