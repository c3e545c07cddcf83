"""Answers as results of `tools/call`."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import mcp_types

if TYPE_CHECKING:
    from codemode.model.answer import Answer
    from codemode.transports.content import Content

#: Key of a result's `_meta` with the continuation of a paused execution. Clients do not show it to their model.
CONTINUATION = "codemode/continuation"


def result_of(answer: Answer) -> mcp_types.CallToolResult:
    """Return an answer as text, as data, and with its images and files."""
    content = [text_block(answer.text), *map(_block, answer.content)]
    continuation = answer.outcome.continuation if answer.outcome is not None else ""
    meta = {CONTINUATION: continuation} if continuation else None
    return mcp_types.CallToolResult(
        content=content, structured_content=answer.data or None, is_error=not answer.ok, _meta=meta
    )


def error_result(message: str) -> mcp_types.CallToolResult:
    """Return a message as an error that the model reads."""
    return mcp_types.CallToolResult(content=[text_block(message)], is_error=True)


def text_block(text: str) -> mcp_types.ContentBlock:
    """Return a text."""
    return mcp_types.TextContent(type="text", text=text)


def _block(content: Content) -> mcp_types.ContentBlock:
    """Return an image, a sound or a file."""
    data = base64.b64encode(content.data).decode()
    match content.media_type.partition("/")[0]:
        case "image":
            return mcp_types.ImageContent(type="image", data=data, mime_type=content.media_type)
        case "audio":
            return mcp_types.AudioContent(type="audio", data=data, mime_type=content.media_type)
    uri = f"codemode://content/{content.id}"
    resource = mcp_types.BlobResourceContents(uri=uri, mime_type=content.media_type, blob=data)
    return mcp_types.EmbeddedResource(type="resource", resource=resource)
