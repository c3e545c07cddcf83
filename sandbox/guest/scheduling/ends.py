"""Exceptions that end a program from outside: the host is gone, or parked code is discarded. No program catches them."""

from __future__ import annotations

import sys

import greenlet

from sandbox.guest.process.channel import HostGone

ENDS: tuple[type[BaseException], ...] = (HostGone, greenlet.GreenletExit)
#: Exceptions that callbacks of asyncio let through.
LEFT_ALONE: tuple[type[BaseException], ...] = (*ENDS, SystemExit, KeyboardInterrupt)


class Nothing(Exception):
    """Never raised."""


def catchable() -> type[BaseException]:
    """Return the class that `except:` and `except BaseException:` catch for the error that is being handled."""
    return Nothing if isinstance(sys.exception(), ENDS) else BaseException
