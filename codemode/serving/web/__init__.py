"""What the HTTP API, the MCP endpoint and the console share: paths, turns, answers and problems."""
