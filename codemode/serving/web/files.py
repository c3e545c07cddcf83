"""Files that somebody else has made, as attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response

if TYPE_CHECKING:
    from codemode.transports.content import Content

#: Headers with which a browser neither shows nor runs such a file.
_HARMLESS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


class FileResponse(Response):
    """The bytes of a file, with its own media type."""

    media_type = None


def attachment(content: Content) -> FileResponse:
    """Return a file as an attachment with its name, its id if it has none."""
    disposition = f"attachment; filename*=UTF-8''{quote(content.name or content.id, safe='')}"  # RFC 6266, 5
    headers = {**_HARMLESS, "Content-Disposition": disposition, "Content-Type": content.media_type}
    return FileResponse(content.data, headers=headers)
