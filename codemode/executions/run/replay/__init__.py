"""Replay: a run that continues from its record."""
