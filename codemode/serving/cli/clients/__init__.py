"""The configuration files of MCP clients: install codemode in them, and find the servers that they have."""
