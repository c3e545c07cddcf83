"""Allowances: slots in time, from memory or from a store that several servers share."""

from __future__ import annotations

import asyncio

import pytest

from codemode.errors import JournalUnavailable
from codemode.transports.allowances import KEPT_S, Allowance, LocalSlots, Rate, RateUnknown, SlotGrant


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class SharedSlots(LocalSlots):
    """Counts as a database would, with the number of slots of each lease. `is_away` makes it unreachable."""

    def __init__(self, clock: Clock, ahead_s: float = 0.5) -> None:
        super().__init__(clock)
        self.ahead_s = ahead_s
        self.leases: list[int] = []
        self.is_away = False

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        await asyncio.sleep(0)
        if self.is_away:
            raise JournalUnavailable("it is away")
        granted = await super().lease(rate, most, due_only=due_only)
        self.leases.append(granted.slots)
        return granted


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_calls_are_spaced_evenly_and_an_idle_time_is_no_burst(clock: Clock) -> None:
    slots = LocalSlots(clock)
    allowance = Allowance(Rate("api", 4.0), lambda: slots, clock)
    assert [await allowance.reserve() for _ in range(3)] == [0.0, 0.25, 0.5]
    clock.now += 60
    assert [await allowance.reserve() for _ in range(2)] == [0.0, 0.25]


async def test_a_burst_is_authorized_and_then_the_next_call_is_told_when_to_come(clock: Clock) -> None:
    slots = LocalSlots(clock)
    allowance = Allowance(Rate("key", 2.0, burst_s=1.0), lambda: slots, clock)
    assert [await allowance.take() for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert allowance.wait_s() == 0.5
    clock.now += 0.5
    assert allowance.wait_s() == 0.0
    assert await allowance.take() == 0.0


async def test_rates_of_one_name_share_their_slots(clock: Clock) -> None:
    slots = LocalSlots(clock)
    first, second, other = (Allowance(Rate(name, 4.0), lambda: slots, clock) for name in ("api", "api", "other"))
    assert [await first.reserve(), await second.reserve(), await other.reserve()] == [0.0, 0.25, 0.0]


async def test_a_busy_server_leases_more_at_once_and_an_idle_one_less(clock: Clock) -> None:
    slots = SharedSlots(clock)
    allowance = Allowance(Rate("api", 40.0), lambda: slots, clock)
    for _ in range(60):
        clock.now += await allowance.reserve()
    assert slots.leases == [1, 2, 4, 8, 16, 20, 20]
    for _ in range(3):
        clock.now += 10
        await allowance.reserve()
    assert slots.leases[-3:] == [10, 5, 2]


async def test_calls_that_wait_together_lease_together(clock: Clock) -> None:
    slots = SharedSlots(clock)
    allowance = Allowance(Rate("api", 40.0), lambda: slots, clock)
    waits = await asyncio.gather(*(allowance.reserve() for _ in range(10)))
    assert sorted(waits) == pytest.approx([number / 40 for number in range(10)])
    assert len(slots.leases) < 5


async def test_a_slot_is_lost_soon_after_its_time(clock: Clock) -> None:
    slots = SharedSlots(clock)
    allowance = Allowance(Rate("api", 40.0), lambda: slots, clock)
    await asyncio.gather(*(allowance.reserve() for _ in range(3)))
    held = len(slots.leases)
    clock.now += 60 + KEPT_S
    assert await allowance.reserve() == 0.0
    assert len(slots.leases) == held + 1


async def test_without_the_store_the_share_held_is_used_and_then_calls_are_rejected(clock: Clock) -> None:
    slots = SharedSlots(clock)
    allowance = Allowance(Rate("source gym", 40.0), lambda: slots, clock)
    for _ in range(4):
        clock.now += await allowance.reserve()
    assert slots.leases == [1, 2, 4]
    slots.is_away = True
    for _ in range(3):
        clock.now += await allowance.reserve()
    with pytest.raises(
        RateUnknown, match="source gym is shared by several servers, and cannot be checked now; nothing"
    ):
        await allowance.reserve()
    slots.is_away = False
    assert await allowance.reserve() >= 0.0


async def test_calls_that_wait_for_a_silent_store_are_rejected_together(clock: Clock) -> None:
    class Silent(SharedSlots):
        asked = 0

        async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
            self.asked += 1
            await gave_up.wait()
            raise JournalUnavailable("it is silent")

    gave_up = asyncio.Event()
    slots = Silent(clock)
    allowance = Allowance(Rate("key", 40.0, burst_s=1.0), lambda: slots, clock)
    calls = [asyncio.create_task(one()) for one in (allowance.take, allowance.take, allowance.reserve)]
    await asyncio.sleep(0)
    clock.now += 10.0
    gave_up.set()
    assert {type(one) for one in await asyncio.gather(*calls, return_exceptions=True)} == {RateUnknown}
    assert slots.asked == 1
    with pytest.raises(RateUnknown):
        await allowance.take()
    assert slots.asked == 2
