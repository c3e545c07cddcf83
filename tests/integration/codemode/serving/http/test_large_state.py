"""No request answers with, or keeps, what paused programs hold. `benchmarks.longest_turn` measures the seconds."""

from __future__ import annotations

import pytest

from benchmarks.longest_turn import longest_turn_s
from benchmarks.longest_turn_inputs import around, constants
from benchmarks.longest_turn_routes import TEXTS, resident_bytes, served

#: Memory that may stay with the process after all requests: pools of the allocator, and what is imported once.
MOST_LEFT = 64 << 20


def test_the_inputs_come_from_the_constants_of_the_parsers() -> None:
    assert {4_300, 65_536, 131_072, 200} <= constants().keys()
    texts = dict(around(4_300, 50_000))
    assert {f"numbers of {digits:,} digits" for digits in (4_299, 4_300, 4_301)} <= texts.keys()


async def test_lists_and_pages_are_small_beside_large_paused_programs() -> None:
    async with served(6, 1_900_000) as app:
        for path in app.lists():  # what is imported and compiled once
            await app.client.get(path)
        before = resident_bytes()
        for path in app.lists():
            answer = await app.client.get(path)
            assert answer.status_code < 400, path
            assert len(answer.content) < 1 << 17, path
        assert resident_bytes() - before < MOST_LEFT


async def test_hard_requests_are_answered_or_refused() -> None:
    async with served(0, 0) as app:
        for name, request in app.hard_requests().items():
            assert (await app.send(request)).status_code in (200, 422), name
        for name, text in TEXTS.items():
            assert (await app.save(await app.ran(text))).status_code == 200, name


@pytest.mark.parametrize("program", ["[10**4200] * 3900", "[10**199] * 70_000"])
async def test_long_numbers_are_refused_at_once(program: str) -> None:
    with pytest.raises(RuntimeError, match="more than 100,000 digits in long numbers: return text"):
        await longest_turn_s(program)
