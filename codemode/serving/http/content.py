"""Images and files over HTTP: `/v1/content[/{id}]`. Content belongs to the key that uploaded or downloaded it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.serving.http.intake import UPLOADS
from codemode.serving.http.interface import answers, problem_answers
from codemode.serving.http.models import ContentReference
from codemode.serving.web.files import FileResponse, attachment
from codemode.serving.web.outgoing import DataResponse

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode

#: Any type of file. Generators of clients do not know `*/*`.
_BYTES: dict[str, Any] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_UPLOAD = {"requestBody": {"required": True, "content": _BYTES}}
_FILE: dict[int | str, dict[str, Any]] = {200: {"description": "The file, with its own type.", "content": _BYTES}}


def add_content_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.post(
        UPLOADS,
        tags=["content"],
        dependencies=[authenticated],
        responses=answers(ContentReference, 413),
        openapi_extra=_UPLOAD,
    )
    async def upload_content(request: Request, name: Annotated[str, Query(max_length=200)] = "") -> Response:
        """Upload a file: its bytes are the body, its media type the Content-Type. Returns its reference.

        A program gets the reference in `inputs` of `/v1/execute`, and passes it to a tool that takes a file.
        """
        media_type = request.headers.get("content-type", "")
        data = await request.body()
        return DataResponse(await service.keep_content(data, media_type, name, caller=request.state.caller))

    @app.get(
        f"{UPLOADS}/{{content}}",
        tags=["content"],
        dependencies=[authenticated],
        response_class=FileResponse,
        responses=_FILE | problem_answers(401, 404, 429, "default"),
    )
    async def get_content(content: str, request: Request) -> Response:
        """Return the bytes of an image or file of this key, as an attachment with its media type."""
        return attachment(await service.content(content, caller=request.state.caller))
