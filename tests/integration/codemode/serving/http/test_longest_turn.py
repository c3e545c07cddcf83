"""No request holds the event loop, or keeps memory: a small version of `benchmarks.longest_turn`.

A turn is processor time of this process, so that what else the machine does plays no part.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from benchmarks.longest_turn import GOAL_S, longest_turn_of_an_answer_s, longest_turn_s, turns
from benchmarks.longest_turn_inputs import around, constants, items
from benchmarks.longest_turn_routes import TEXTS, resident_bytes, served
from codemode import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Memory that may stay with the process after all requests: pools of the allocator, and what is imported once.
MOST_LEFT = 64 << 20


def test_the_inputs_come_from_the_constants_of_the_parsers() -> None:
    found = constants()
    assert {4_300, 65_536, 131_072, 200} <= found.keys()
    texts = dict(around(4_300, 50_000))
    assert {f"numbers of {digits:,} digits" for digits in (4_299, 4_300, 4_301)} <= texts.keys()


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    """Leave what is loaded out of collections, as `codemode serve` does: the test process has loaded far more."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


async def test_no_list_or_page_holds_the_loop_beside_large_paused_programs() -> None:
    async with served(6, 1_900_000) as app:
        for path in app.lists():  # what is imported, compiled and measured once
            await app.client.get(path)
        before = resident_bytes()
        for path in app.lists():
            async with turns() as measured:
                answer = await app.client.get(path)
            assert (answer.status_code < 400, measured.longest_s < GOAL_S) == (True, True), (path, measured.longest_s)
            assert len(answer.content) < 1 << 17, path
        assert resident_bytes() - before < MOST_LEFT


async def test_no_hard_request_holds_the_loop() -> None:
    async with served(0, 0) as app:
        for name, request in app.hard_requests().items():
            await app.send(request)
            async with turns() as measured:
                answer = await app.send(request)
            assert (answer.status_code in (200, 422), measured.longest_s < GOAL_S) == (True, True), name
        for name, text in TEXTS.items():
            execution = await app.ran(text)
            async with turns() as measured:
                answer = await app.save(execution)
            assert (answer.status_code, measured.longest_s < GOAL_S) == (200, True), name


@pytest.mark.parametrize(("name", "body"), list(items(2_000_000)), ids=lambda one: one if isinstance(one, str) else "")
async def test_no_answer_of_a_service_holds_the_loop(name: str, body: bytes) -> None:
    assert await longest_turn_of_an_answer_s(body) < GOAL_S, name


@pytest.mark.parametrize("program", ["[10**4200] * 3900", "[10**199] * 70_000", "[1e308] * 300_000"])
async def test_no_result_holds_the_loop(program: str) -> None:
    try:
        assert await longest_turn_s(program) < GOAL_S
    except RuntimeError as refused:
        assert "more than 100,000 digits in long numbers: return text" in str(refused)


def numbers() -> list[float]:
    """Return numbers near infinity."""
    return [1e308] * 300_000


def rows() -> list[dict[str, object]]:
    """Return small objects."""
    return [{"id": number, "name": "x", "parts": []} for number in range(60_000)]


async def test_no_answer_of_a_function_holds_the_loop(tmp_path: Path) -> None:
    settings = Settings.model_validate({"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"})
    async with CodeMode.from_settings(settings, functions={"ns": [numbers, rows]}) as service:
        for code in ("len(ns.numbers())", "len(ns.rows())"):
            async with turns() as measured:
                outcome = await service.execute(code)
            assert (outcome.ok, measured.longest_s < GOAL_S) == (True, True), (code, measured.longest_s)
