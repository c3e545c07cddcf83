"""Faces of the service: HTTP, command line, console."""
