"""Waits for the limits of services do not use up the time of the program."""

from __future__ import annotations

import asyncio

from codemode.executions.run.service_waits import ServiceWaits


def given_up() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


async def test_waits_at_the_same_time_count_once_and_are_noted_by_service() -> None:
    waits = ServiceWaits(10, clock=lambda: 0.0)
    counted_s = waits.from_now()
    both = asyncio.gather(*[waits.wait("gitea", 0.02, asyncio.Event()) for _ in range(3)])
    assert await both == [True, True, True]
    assert counted_s() == 0.02
    assert waits.notes() == ("waited 0.02 s for gitea's limit",)
    assert waits.from_now()() == 0


async def test_a_wait_beyond_the_bound_is_refused_and_one_within_it_is_not() -> None:
    waits = ServiceWaits(1)
    assert not await waits.wait("gitea", 1.5, asyncio.Event())
    assert await waits.wait("gitea", 0.01, asyncio.Event())
    assert not await ServiceWaits().wait("gitea", 0.01, asyncio.Event())


async def test_a_call_that_was_given_up_waits_no_longer() -> None:
    assert not await ServiceWaits(1000).wait("gitea", 100, given_up())
    event = asyncio.Event()
    wait = asyncio.ensure_future(ServiceWaits(1000).wait("gitea", 100, event))
    await asyncio.sleep(0)
    event.set()
    assert not await wait
