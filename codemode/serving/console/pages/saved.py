"""Saved programs: what became a tool, by whom, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.catalog.saved import program_of
from codemode.features.saved.saved import SavedPrograms, saved_json
from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


#: The last line of the header of a program's file.
_HEADER_END = "\n# ///\n"


def has_programs(_: Request, service: CodeMode) -> bool:
    """Show the section where programs can be saved."""
    return service.settings.saves_programs and service.runtime.features.find(SavedPrograms) is not None


def routes(console: Console) -> list[Route]:
    """Return the routes below `/saved`."""
    service = console.service

    async def list_(request: Request) -> Response:
        tools = await service.part(SavedPrograms).list(caller_of(request))
        data = {"programs": [saved_json(tool) for tool in tools]}
        return console.page(request, "saved/list.html", title="Saved programs", data=data)

    async def show(request: Request) -> Response:
        tool = await service.part(SavedPrograms).get(request.path_params["name"], caller_of(request))
        program = program_of(tool)
        code = program.code if program is not None else ""
        header, _, body = code.partition(_HEADER_END) if code.startswith("# ///") else ("", "", code)
        return console.page(
            request,
            "saved/program.html",
            title=tool.id,
            data={**saved_json(tool), "code": code},
            header=[(line, "") for line in header.splitlines()],
            lines=[(line, "") for line in body.splitlines()],
        )

    return [Route("/saved", list_), Route("/saved/{name}", show)]
