"""What the two tools take, wherever a model calls them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from codemode.search.request import SearchRequest
from codemode.text.validation import described


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
    """Return what is wrong with the arguments of either tool, and the names of its arguments."""
    model = SearchRequest if error.title == SearchRequest.__name__ else ExecuteArguments
    return f"{described(error, model.model_fields)}; it takes {', '.join(model.model_fields)}"
