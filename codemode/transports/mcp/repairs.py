"""Repairs of what MCP servers send, before the SDK reads it: an odd result costs a note, never the answer.

The SDK rejects results that break the protocol's schema or the tool's own. A write has happened by then, so its answer
must reach the program. Differences from the tool's schema are noted by the gateway, as for every source.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_types import JSONRPCResponse

from codemode.transports.mcp.definition_repairs import repaired_list

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Self

    import mcp_types
    from mcp.shared._stream_protocols import ReadStream
    from mcp.shared.message import SessionMessage

    from codemode.transports.mcp.connections import Connect

#: Keys of `_meta` that carry what the SDK would reject.
STRUCTURED, OUTPUT_SCHEMA = "codemode/structuredContent", "codemode/outputSchema"

_RESULT_FIELDS = frozenset(("content", "structuredContent", "isError"))
_LISTS = frozenset(("tools", "prompts", "resources", "messages", "contents"))
_BLOCK_TYPES = frozenset(("text", "image", "audio", "resource", "resource_link"))


def repaired(connect: Connect) -> Connect:
    """Return a factory of connections that repairs the messages of the server."""

    @asynccontextmanager
    async def connected(ended: Callable[[], None]) -> AsyncIterator[Any]:
        async with connect(ended) as (reading, writing):
            yield _RepairedStream(reading), writing

    return connected


class _RepairedStream:
    """A stream of messages from a server. Implements the SDK's `ReadStream`."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception]) -> None:
        self._stream = stream

    @property
    def last_context(self) -> Any:
        """The sender's context, where the stream has one."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return _repaired_message(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _repaired_message(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> bool | None:
        return await self._stream.__aexit__(*failure)


def _repaired_message(message: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(message, Exception) or not isinstance(message.message, JSONRPCResponse):
        return message
    result = message.message.result
    if isinstance(result.get("tools"), list):
        result = repaired_list({**result, "tools": [_without_output_schema(tool) for tool in result["tools"]]})
    elif result.keys() & _RESULT_FIELDS and not result.keys() & _LISTS:
        result = repaired_result(result)
    else:
        return message
    return replace(message, message=message.message.model_copy(update={"result": result}))


def repaired_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's result in the form of the protocol. Structured content of any type moves to `_meta`."""
    is_error = result.get("isError") in (True, "true")
    repairs: dict[str, Any] = {"content": _blocks(result.get("content")), "isError": is_error}
    meta = result.get("_meta")
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        repairs["_meta"] = {**(meta if isinstance(meta, dict) else {}), STRUCTURED: structured}
    elif meta is not None and not isinstance(meta, dict):
        repairs["_meta"] = {}
    whole = {**result, **repairs}
    if not isinstance(structured, dict):
        whole.pop("structuredContent", None)
    return whole


def structured_of(result: mcp_types.CallToolResult) -> Any:
    """Return the structured content of a result, None if it has none."""
    carried = (result.meta or {}).get(STRUCTURED)
    return result.structured_content if carried is None else carried


def with_output_schema(tool: mcp_types.Tool) -> mcp_types.Tool:
    """Return a definition with the output schema that the server sent. The SDK has not seen it."""
    if not tool.meta or OUTPUT_SCHEMA not in tool.meta:
        return tool
    meta = {key: value for key, value in tool.meta.items() if key != OUTPUT_SCHEMA}
    return tool.model_copy(update={"meta": meta or None, "output_schema": tool.meta[OUTPUT_SCHEMA]})


def _without_output_schema(tool: Any) -> Any:
    """Move the output schema to `_meta`. The gateway checks results against it, and only notes differences."""
    if not isinstance(tool, dict) or "outputSchema" not in tool:
        return tool
    others = {key: value for key, value in tool.items() if key != "outputSchema"}
    if not isinstance(tool["outputSchema"], dict):
        return others
    meta = tool.get("_meta")
    return {**others, "_meta": {**(meta if isinstance(meta, dict) else {}), OUTPUT_SCHEMA: tool["outputSchema"]}}


def _blocks(content: Any) -> list[Any]:
    """Return content as a list of blocks. Whatever is no block becomes a text."""
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    return [block if _is_block(block) else _as_text(block) for block in blocks]


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") not in _BLOCK_TYPES:
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


def _as_text(block: Any) -> dict[str, Any]:
    data = block.get("text", block) if isinstance(block, dict) else block
    return {"type": "text", "text": data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}
