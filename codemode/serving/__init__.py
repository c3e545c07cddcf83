"""Interfaces to the service: HTTP API, MCP server, command line and agent."""
