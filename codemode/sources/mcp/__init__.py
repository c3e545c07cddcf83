"""MCP servers as sources."""
