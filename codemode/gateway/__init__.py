"""The gateway for every tool call: resolve, validate, decide, record, send."""
