"""Budgets: what one caller, one role or all callers may do in a day, on all servers together."""
