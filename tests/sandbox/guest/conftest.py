"""Guests in this process need what the fork server imports."""

from __future__ import annotations

import http  # noqa: F401  # under CPython programs import it: its enumerations are made as the library makes them

import pytest

from sandbox.guest import program


@pytest.fixture(scope="session", autouse=True)
def warm_guest() -> None:
    program.warm_up()
