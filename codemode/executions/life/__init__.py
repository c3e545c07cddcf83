"""The life of executions: start, pause, resume, recover, cancel, read."""
