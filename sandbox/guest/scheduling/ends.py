"""What ends a program from outside, whatever it catches: the host is gone, or nobody holds the code that is parked."""

from __future__ import annotations

import sys

import greenlet

from sandbox.guest.process.channel import HostGone

ENDS: tuple[type[BaseException], ...] = (HostGone, greenlet.GreenletExit)
#: What callbacks of asyncio do not swallow either.
LEFT_ALONE: tuple[type[BaseException], ...] = (*ENDS, SystemExit, KeyboardInterrupt)


class Nothing(Exception):
    """Nobody raises this."""


def catchable() -> type[BaseException]:
    """Return what `except:` and `except BaseException:` catch of what is being handled."""
    return Nothing if isinstance(sys.exception(), ENDS) else BaseException
