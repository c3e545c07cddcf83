"""The results of MCP tools as JSON data."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

import mcp_types
import orjson

from codemode.transports.content import Content
from codemode.transports.http.answers import json_or_text, loaded
from codemode.transports.mcp.repairs import structured_of

if TYPE_CHECKING:
    from codemode.transports.content import OwnedContents

_ENCODER = json.JSONEncoder()


def value_of(result: mcp_types.CallToolResult, contents: OwnedContents) -> Any:
    """Return the structured result, else the text or its JSON data, else the list of contents.

    Images and files beside a structured object are added to it as `content`.
    """
    if (data := structured_of(result)) is not None:
        structured = loaded(_text_of(data))
        files = [_block(block, contents) for block in result.content if _is_file(block)]
        is_object = isinstance(structured, dict) and "content" not in structured
        return {**structured, "content": files} if files and is_object else structured
    values = [_block(block, contents) for block in result.content]
    if len(values) == 1:
        return _data(values[0])
    return values or None


def error_text(result: mcp_types.CallToolResult, value: Any) -> str:
    """Return the message of an error: its texts, else its value. Structured content often only repeats the request."""
    texts = [block.text for block in result.content if isinstance(block, mcp_types.TextContent) and block.text.strip()]
    return "\n".join(texts) or (value if isinstance(value, str) else json.dumps(value))


def _block(block: mcp_types.ContentBlock, contents: OwnedContents) -> Any:
    match block:
        case mcp_types.TextContent():
            return block.text
        case mcp_types.ImageContent() | mcp_types.AudioContent():
            return contents.put(Content(_bytes(block.data), block.mime_type))
        case mcp_types.EmbeddedResource(resource=mcp_types.BlobResourceContents() as blob):
            media_type = blob.mime_type or "application/octet-stream"
            return contents.put(Content(_bytes(blob.blob), media_type, str(blob.uri)))
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as text):
            return {"uri": str(text.uri), "text": text.text}
        case _:
            return block.model_dump(mode="json", by_alias=True, exclude_none=True)


def _text_of(data: Any) -> str | bytes:
    """Return structured data as JSON. Called in a thread, it never holds the interpreter for long."""
    try:
        text = orjson.dumps(data)
    except TypeError:  # integers beyond 64 bits
        return "".join(_ENCODER.iterencode(data))
    if b"null" in text:  # it may have been NaN or an infinity
        return "".join(_ENCODER.iterencode(data))
    return text


def _is_file(block: mcp_types.ContentBlock) -> bool:
    if isinstance(block, mcp_types.EmbeddedResource):
        return isinstance(block.resource, mcp_types.BlobResourceContents)
    return isinstance(block, (mcp_types.ImageContent, mcp_types.AudioContent))


def _data(value: Any) -> Any:
    """Return a JSON object or array in a text as data, and any other value unchanged."""
    return json_or_text(value) if isinstance(value, str) and value[:1] in ("{", "[") else value


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""
