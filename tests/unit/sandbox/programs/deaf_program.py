"""A program module like `bare_program` that ignores the request for a last word."""

from __future__ import annotations

import signal

from bare_program import practise, rehearse, serve  # noqa: F401 - a program module has these names
from bare_program import warm_up as warm_up_bare


def warm_up() -> None:
    """Ignore the signal: the lockdown allows no change later."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    warm_up_bare()
