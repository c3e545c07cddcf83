"""The MCP face."""
