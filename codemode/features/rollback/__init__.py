"""Rollback: executions that undo what others did, as far as their tools name an inverse."""
