"""Arguments of the two tools, `search` and `execute`, shared by every interface that a model calls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator


def _listed(value: Any) -> Any:
    """Wrap a single query in a list: models often send a plain string."""
    return [value] if isinstance(value, str) else value


class SearchArguments(BaseModel):
    """Arguments of `search`."""

    model_config = ConfigDict(extra="forbid")

    queries: Annotated[
        list[Annotated[str, Field(max_length=1000)]], Field(min_length=1, max_length=20), BeforeValidator(_listed)
    ]
    namespace: str | None = None
    detail: Literal["auto", "full"] = "auto"


class ExecuteArguments(BaseModel):
    """Arguments of `execute`.

    `code` alone runs a program. `resume_from` alone continues an earlier execution. Both together repair it.
    """

    model_config = ConfigDict(extra="forbid")

    code: str = ""
    resume_from: str = ""

    @model_validator(mode="after")
    def _something_to_do(self) -> ExecuteArguments:
        if not self.code and not self.resume_from:
            message = "give code, a Python program"
            raise ValueError(message)
        return self


def problem_of(error: ValidationError) -> str:
    """Return a message that lists the invalid arguments and names the valid ones."""
    problems = []
    for one in error.errors(include_url=False):
        name = ".".join(map(str, one["loc"]))
        text = "unknown argument" if one["type"] == "extra_forbidden" else one["msg"].removeprefix("Value error, ")
        problems.append(f"{name}: {text}" if name else text)
    takes = ", ".join((SearchArguments if error.title == SearchArguments.__name__ else ExecuteArguments).model_fields)
    return f"{'; '.join(problems)}; valid: {takes}"
