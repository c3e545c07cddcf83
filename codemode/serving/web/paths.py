"""Paths of the parts of a server below its own address."""

from __future__ import annotations

#: The MCP endpoint.
MCP = "/mcp"

#: The console.
CONSOLE = "/console"
