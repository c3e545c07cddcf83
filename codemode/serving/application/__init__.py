"""The HTTP API, the MCP endpoint and the console as one application, and the server that runs it."""
