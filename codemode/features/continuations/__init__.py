"""Continuations: paused executions that their callers keep, sealed, in the place of a journal."""
