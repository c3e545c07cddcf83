"""What both generations of MCP tasks have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from codemode.errors import CodeModeError

if TYPE_CHECKING:
    from collections.abc import Awaitable

_T = TypeVar("_T")

#: Milliseconds between two status requests of a client.
POLL_MS = 1_000


async def known(asked: Awaitable[_T]) -> _T:
    """Await a result. Convert CodeModeError to an MCP error."""
    try:
        return await asked
    except CodeModeError as error:
        raise MCPError(INVALID_PARAMS, error.for_model()) from None
