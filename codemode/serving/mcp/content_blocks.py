"""Images and files of an outcome as content blocks of `tools/call`."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import mcp_types

from codemode.serving.shown_content import shown_content

if TYPE_CHECKING:
    from codemode.executions.execution import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.transports.content import Content


async def content_blocks(service: CodeMode, ended: ExecutionOutcome, caller: Caller) -> list[mcp_types.ContentBlock]:
    """Return the images, sounds and files that a result refers to, within `content.inline_bytes`."""
    return [_block(content) for content in await shown_content(service, ended, caller)]


def _block(content: Content) -> mcp_types.ContentBlock:
    data = base64.b64encode(content.data).decode()
    match content.media_type.partition("/")[0]:
        case "image":
            return mcp_types.ImageContent(type="image", data=data, mime_type=content.media_type)
        case "audio":
            return mcp_types.AudioContent(type="audio", data=data, mime_type=content.media_type)
    uri = f"codemode://content/{content.id}"
    resource = mcp_types.BlobResourceContents(uri=uri, mime_type=content.media_type, blob=data)
    return mcp_types.EmbeddedResource(type="resource", resource=resource)
