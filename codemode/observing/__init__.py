"""What is told of executions: logs, audit, traces, metrics."""
