"""Observers of executions: logs, audit, traces, metrics."""
