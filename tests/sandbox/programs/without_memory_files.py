"""The program module of the guest on a Python that was built for a C library without memfd_create."""

from __future__ import annotations

import os

from sandbox.guest import program

practise, rehearse, serve = program.practise, program.rehearse, program.serve


def warm_up() -> None:
    """Import everything, and do without one function."""
    program.warm_up()
    del os.memfd_create
