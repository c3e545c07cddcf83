"""The process that reads sources: it survives a source that ends it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from sandbox import CallSite, Failure, Limits
from sandbox.monty import reader
from sandbox.monty.reader import Reading, SourceReader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def sources() -> AsyncIterator[SourceReader]:
    found = SourceReader()
    yield found
    await found.aclose()


async def read(sources: SourceReader, code: str) -> Reading | Failure:
    return await sources.read(code, ("gym",), Limits())


async def test_it_reads_call_sites(sources: SourceReader) -> None:
    found = await read(sources, "gym.a(n=1)")
    assert isinstance(found, Reading)
    assert found.sites == (CallSite("gym.a", ("n",), 0, open_ended=False, line=1, column=0),)


async def test_a_source_that_ends_the_process_is_a_failure_and_the_next_one_is_read(
    sources: SourceReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(reader, "_START", "import os; input(); os.abort()")
        failure = await read(sources, "1")
    assert isinstance(failure, Failure)
    assert (failure.type, failure.message) == ("WorkerCrashed", "the program's source could not be read")
    assert isinstance(await read(sources, "1"), Reading)


async def test_a_source_that_takes_too_long_is_a_failure(
    sources: SourceReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(reader, "_START", "import time; time.sleep(1000)")
        patched.setattr(reader, "_TIMEOUT_S", 0.01)
        assert isinstance(await read(sources, "1"), Failure)
    assert isinstance(await read(sources, "1"), Reading)


async def test_a_reading_that_is_given_up_does_not_answer_the_next_one(sources: SourceReader) -> None:
    await read(sources, "1")
    for steps in range(12):
        first = asyncio.create_task(read(sources, f"gym.a(n={steps})"))
        for _ in range(steps):
            await asyncio.sleep(0)
        first.cancel()
        found = await read(sources, "gym.b()")
        assert isinstance(found, Reading)
        assert [site.name for site in found.sites] == ["gym.b"]
