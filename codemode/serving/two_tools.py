"""Arguments of the two tools, `search` and `execute`, shared by every interface that a model calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from codemode.errors import SearchInvalid
from codemode.search.request import SearchRequest
from codemode.text.validation import described

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.search.result import SearchAnswer
    from codemode.service import CodeMode


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


async def answer_search(service: CodeMode, request: SearchRequest, caller: Caller) -> SearchAnswer:
    """Answer the search of a model. A filter that fits no tool is left out, and the first line says so."""
    try:
        return await service.search(**request.model_dump(), caller=caller)
    except SearchInvalid as error:
        if not error.filter:
            raise
        wider = request.model_copy(update={error.filter: None})
        answer = await answer_search(service, wider, caller)
        return replace(answer, text=f"# {error}. Searched without it:\n{answer.text}")
