"""Each test of an engine runs on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import Limits
from tests.integration.sandbox.engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sandbox import Engine


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def engine(engine_name: str) -> AsyncIterator[Engine]:
    engine: Engine = ENGINES[engine_name](limits=Limits(wall_s=60.0))
    await engine.start()
    yield engine
    await engine.aclose()
