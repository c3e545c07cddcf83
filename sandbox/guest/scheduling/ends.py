"""Exceptions that end a program from outside, and that no program catches: the host is gone, or parked code is."""

from __future__ import annotations

import sys

import greenlet

from sandbox.guest.base.channel import HostGone

ENDS: tuple[type[BaseException], ...] = (HostGone, greenlet.GreenletExit)


class Nothing(Exception):
    """Never raised."""


def catchable() -> type[BaseException]:
    """Return the class that `except:` and `except BaseException:` catch for the error that is being handled."""
    return Nothing if isinstance(sys.exception(), ENDS) else BaseException
