"""Saved programs: their files, their promotion from executions, and their runs within other programs."""
