"""Whether an MCP server still answers: one that is stuck does not die by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, EmptyResult, PingRequest

if TYPE_CHECKING:
    from mcp import Client

#: The last version of the protocol with pings; who speaks a later one is asked for tools.
_LAST_WITH_PING = "2025-11-25"

#: Seconds in which a server that has let a call time out must answer a ping.
PATIENCE_S = 5.0


async def answers(client: Client, patience_s: float) -> bool:
    """Whether the server answers anything within `patience_s`; an error is an answer too."""
    try:
        async with asyncio.timeout(patience_s):
            if client.protocol_version > _LAST_WITH_PING:  # dates
                await client.session.list_tools()
            else:
                await client.session.send_request(PingRequest(), EmptyResult)
    except TimeoutError:
        return False
    except MCPError as error:
        return error.code not in (REQUEST_TIMEOUT, CONNECTION_CLOSED)
    except (ValueError, RuntimeError):  # an answer that cannot be read
        return True
    return True
