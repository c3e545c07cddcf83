"""Saved programs over HTTP: `/v1/saved[/{name}]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time
from pydantic import BaseModel, ConfigDict, Field

from codemode.catalog.saved import program_of
from codemode.catalog.tool import Effect  # noqa: TC001 -- pydantic reads it at run time
from codemode.executions.types.promotion import Promotion
from codemode.features.saved.saved import SavedPrograms, saved_json
from codemode.serving.http.interface import answers
from codemode.serving.http.requests import Name  # noqa: TC001 -- pydantic reads it at run time
from codemode.serving.web.outgoing import DataResponse

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode

_SAVE: Any = {
    "parameter": {
        "summary": "A program with one optional parameter",
        "value": {
            "execution": "ex_1",
            "name": "absent_members",
            "description": "Return the members who have not come for some days.",
            "parameters": {"days": {"default": 30}},
        },
    }
}


class SaveRequest(BaseModel):
    """Save the program of a completed execution as the tool `saved.NAME`.

    `parameters` are JSON Schemas by variable; each replaces the line `NAME = literal` of the program. A schema without
    `type` gets that of the literal, and one with a `default` is optional. `roles` see the program; by default all do.
    """

    model_config = ConfigDict(extra="forbid")

    execution: Name
    name: Name
    description: Annotated[str, Field(min_length=1, max_length=4000)]
    parameters: dict[Name, dict[str, Any]] = {}
    roles: list[Name] = []


class SavedProgram(BaseModel):
    """A saved program. `problem` says why it is broken, "" if it is not."""

    id: str = Field(examples=["saved.absent_members"])
    name: str
    description: str
    effect: Effect
    version: int
    tools: list[str] = Field(description="The tools that it calls.")
    parameters: dict[str, dict[str, Any]]
    returns: dict[str, Any]
    roles: list[str]
    saved_by: str
    saved_at: str
    execution: str
    problem: str


class SavedFile(SavedProgram):
    """A saved program with the text of its file."""

    code: str


class SavedList(BaseModel):
    """The saved programs that the caller sees."""

    saved: list[SavedProgram]


class Removed(BaseModel):
    """The name of the removed program."""

    name: str


def add_saved_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.get("/v1/saved", tags=["saved"], dependencies=[authenticated], responses=answers(SavedList))
    async def list_saved(request: Request) -> Response:
        """List the saved programs that the caller sees."""
        found = await service.part(SavedPrograms).list(request.state.caller)
        return DataResponse({"saved": [saved_json(tool) for tool in found]})

    @app.get("/v1/saved/{name}", tags=["saved"], dependencies=[authenticated], responses=answers(SavedFile, 404))
    async def get_saved(name: str, request: Request) -> Response:
        """Return a saved program with its code."""
        tool = await service.part(SavedPrograms).get(name, request.state.caller)
        program = program_of(tool)
        return DataResponse({**saved_json(tool), "code": program.code if program is not None else ""})

    @app.post(
        "/v1/saved",
        tags=["saved"],
        dependencies=[authenticated],
        responses=answers(SavedProgram, 403, 404, 409, 413),
    )
    async def save_program(body: Annotated[SaveRequest, Body(openapi_examples=_SAVE)], request: Request) -> Response:
        """Save the program of a completed execution. An existing program gets its next version."""
        promotion = Promotion(body.execution, body.name, body.description, body.parameters, tuple(body.roles))
        return DataResponse(saved_json(await service.part(SavedPrograms).promote(promotion, request.state.caller)))

    @app.delete(
        "/v1/saved/{name}", tags=["saved"], dependencies=[authenticated], responses=answers(Removed, 403, 404, 409)
    )
    async def remove_saved(name: str, request: Request) -> Response:
        """Remove a saved program."""
        await service.part(SavedPrograms).remove(name, request.state.caller)
        return DataResponse({"name": name})
