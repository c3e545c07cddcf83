"""What the two tools take, wherever a model calls them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator


def _listed(value: Any) -> Any:
    """Models give one query as a text as well."""
    return [value] if isinstance(value, str) else value


class SearchArguments(BaseModel):
    """What `search` takes."""

    model_config = ConfigDict(extra="forbid")

    queries: Annotated[
        list[Annotated[str, Field(max_length=1000)]], Field(min_length=1, max_length=20), BeforeValidator(_listed)
    ]
    namespace: str | None = None
    detail: Literal["auto", "full"] = "auto"


class ExecuteArguments(BaseModel):
    """What `execute` takes: a program, or the id of an execution to go on with, or both to repair that one."""

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
    """What is wrong with the arguments of either tool, and what it takes."""
    said = []
    for one in error.errors(include_url=False):
        name = ".".join(map(str, one["loc"]))
        text = (
            "there is no such argument"
            if one["type"] == "extra_forbidden"
            else one["msg"].removeprefix("Value error, ")
        )
        said.append(f"{name}: {text}" if name else text)
    takes = ", ".join((SearchArguments if error.title == SearchArguments.__name__ else ExecuteArguments).model_fields)
    return f"{'; '.join(said)}; it takes {takes}"
