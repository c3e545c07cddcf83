"""What the tests of the host side need: a sandbox around a program module without language policy."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox import Limits, Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

PROGRAMS = str(Path(__file__).parents[1] / "programs")


@pytest.fixture
def limits() -> Limits:
    """Small limits, so that hitting them takes no time; but that of time is only hit by what does not end."""
    return Limits(wall_s=40.0, cpu_s=1.0, memory_bytes=64 * 1024 * 1024, output_bytes=10_000, calls=10)


@pytest.fixture
def make_bare(limits: Limits) -> Callable[..., Sandbox]:
    """Make a sandbox whose guest is plain `exec`: the process wall alone."""
    return partial(Sandbox, limits=limits, program="bare_program", folders=(PROGRAMS,))


@pytest.fixture
async def bare(make_bare: Callable[..., Sandbox]) -> AsyncIterator[Sandbox]:
    """Such a sandbox, started."""
    async with make_bare() as sandbox:
        yield sandbox
