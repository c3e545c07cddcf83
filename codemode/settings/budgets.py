"""The `budgets` section: what one caller, one role or all callers may do in a day."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codemode.settings.policy import Effects, Name, Names, Path, Patterns
from codemode.settings.section import Section


class BudgetSettings(Section):
    """A number of calls, or a sum of money, for each day in UTC."""

    name: Name = Field(description="Name in errors and lists.", examples=["refunds"])
    tools: Patterns = Field(
        default=(), description="Patterns of tool ids, counted together. Empty: all.", examples=["bank.refunds.*"]
    )
    effects: Effects = Field(default=(), description="Effects of tools that count. Empty: all.", examples=["write"])
    roles: Names = Field(default=(), description="Roles of callers. Empty: all.", examples=["support"])
    per: Literal["caller", "role", "all"] = Field(
        default="caller", description="Whose calls are counted together: those of a key or person, of a role, or all."
    )
    calls: int | None = Field(default=None, ge=1, description="Maximum number of calls. null: any.", examples=[20])
    amount: Path | None = Field(
        default=None,
        description="Path of the argument that holds the amount of a call, as in `where` of the policy. It must be a "
        "number, unless the path ends in `?` and it is absent.",
        examples=["amount"],
    )
    most: float | None = Field(default=None, gt=0, description="Maximum sum of these amounts.", examples=[500])

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if (self.amount is None) != (self.most is None):
            message = f"budget {self.name!r}: `amount` and `most` belong together"
            raise ValueError(message)
        if self.calls is None and self.most is None:
            message = f"budget {self.name!r}: write `calls`, or `amount` and `most`"
            raise ValueError(message)
        return self


def _named_once(budgets: tuple[BudgetSettings, ...]) -> tuple[BudgetSettings, ...]:
    names = [one.name for one in budgets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        message = f"the budget {twice!r} is named twice"
        raise ValueError(message)
    return budgets


Budgets = Annotated[tuple[BudgetSettings, ...], AfterValidator(_named_once)]
