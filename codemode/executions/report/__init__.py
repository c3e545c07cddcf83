"""Pages and pictures of executions."""
