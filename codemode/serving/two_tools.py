"""Arguments of the two tools, `search` and `execute`, shared by every interface that a model calls."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from codemode.search.request import SearchRequest
from codemode.text.validation import described


class ExecuteArguments(BaseModel):
    """Arguments of `execute`.

    `code` alone runs a program, with `dry_run` without its writes. `resume_from` alone continues an earlier execution.
    Both together repair it. `resume_from` with `dry_run` returns its state, and nothing runs.
    `resume_from` with the id of an approved plan runs the plan.
    """

    model_config = ConfigDict(extra="forbid")

    code: str = ""
    resume_from: str = ""
    dry_run: bool = False

    @model_validator(mode="after")
    def _something_to_do(self) -> ExecuteArguments:
        if not self.code and not self.resume_from:
            message = "give code, a Python program"
            raise ValueError(message)
        if self.dry_run and self.resume_from and self.code:
            message = "dry_run and resume_from exclude each other: leave one of them out"
            raise ValueError(message)
        return self


def problem_of(error: ValidationError) -> str:
    """Return a message that lists the invalid arguments and names the valid ones."""
    model = SearchRequest if error.title == SearchRequest.__name__ else ExecuteArguments
    return f"{described(error, model.model_fields)}; valid: {', '.join(model.model_fields)}"
