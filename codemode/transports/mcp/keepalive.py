"""Liveness check of an MCP server: a stuck server does not end by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, EmptyResult, PingRequest

if TYPE_CHECKING:
    from mcp import Client

#: The last protocol version with pings. Later servers are asked for their tools.
_LAST_WITH_PING = "2025-11-25"

#: Seconds within which a server must answer a ping after a call timed out.
PATIENCE_S = 5.0


async def answers(client: Client, patience_s: float) -> bool:
    """Return whether the server answers within `patience_s`. An error counts as an answer."""
    try:
        async with asyncio.timeout(patience_s):
            if client.protocol_version > _LAST_WITH_PING:  # versions are dates
                await client.session.list_tools()
            else:
                await client.session.send_request(PingRequest(), EmptyResult)
    except TimeoutError:
        return False
    except MCPError as error:
        return error.code not in (REQUEST_TIMEOUT, CONNECTION_CLOSED)
    except (ValueError, RuntimeError):  # an unreadable answer
        return True
    return True
