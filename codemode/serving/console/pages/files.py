"""The person's own files: what programs and uploads of their key left, until it expires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.features.content.archive import JournalContents
from codemode.serving.console.session import caller_of
from codemode.serving.web.files import attachment
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def keeps_files(_: Request, service: CodeMode) -> bool:
    """Show the section where files are kept."""
    return service.runtime.features.find(JournalContents) is not None


def routes(console: Console) -> list[Route]:
    """Return the routes `/files`, and `/files/{id}` with the bytes."""

    async def list_(request: Request) -> Response:
        contents = await console.service.part(JournalContents).list(caller_of(request).id)
        rows = [
            {
                "id": one.id,
                "name": one.name,
                "media_type": one.media_type,
                "size_bytes": one.size_bytes,
                "kept": rfc3339(one.kept_us),
                "expires": rfc3339(one.expires_us),
            }
            for one in contents
        ]
        return console.page(request, "files/list.html", title="Files", data={"files": rows})

    async def download(request: Request) -> Response:
        return attachment(await console.service.content(request.path_params["id"], caller=caller_of(request)))

    return [Route("/files", list_), Route("/files/{id}", download)]
