"""Replay: the record of a run, and how another run repeats it."""
