"""MCP as a client: one connection per server, over a process or HTTP."""
