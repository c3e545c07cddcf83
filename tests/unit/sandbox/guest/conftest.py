"""Guests in this process need what the fork server imports."""

from __future__ import annotations

import atexit
import http  # noqa: F401  # under CPython programs import it: its enumerations are made as the library makes them
from weakref import finalize

import pytest

from sandbox.guest import program


@pytest.fixture(scope="session", autouse=True)
def warm_guest() -> None:
    program.warm_up()
    # What is left to do at the end of this process notes on its class that it is done, and that cannot be changed now.
    atexit.unregister(finalize._exitfunc)
    atexit.register(lambda: [left() for left in finalize._select_for_exit()])
