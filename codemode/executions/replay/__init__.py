"""Replay: the recorded run of a program, and how another run repeats it."""
