"""The output stream to an MCP client, without a second answer to `initialize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from mcp_types import JSONRPCError, JSONRPCResponse

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import WriteStream
    from mcp.shared.message import SessionMessage

    from codemode.serving.mcp.greeting import Input


class Unrepeated:
    """A message stream that drops the first answer to the request that `input_` already answered."""

    def __init__(self, stream: WriteStream[SessionMessage], input_: Input) -> None:
        self._stream = stream
        self._input = input_
        self._is_left_out = False

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, unless it repeats the answer."""
        message = item.message
        if not self._is_left_out and isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._is_left_out = message.id is not None and message.id == self._input.answered
            if self._is_left_out:
                return
        await self._stream.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
