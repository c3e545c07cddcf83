"""Executions: run programs against a catalog, record their calls, and continue them after a pause or a crash."""
