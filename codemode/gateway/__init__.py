"""The one door to every tool: resolve, validate, decide, record, send."""
