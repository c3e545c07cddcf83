from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from codemode.errors import JournalUnavailable
from codemode.serving.web.admission import LASTING_S, SHORT_QUEUE, Admission, Overloaded
from codemode.settings import LoadSettings
from codemode.transports.allowances import Allowances, LocalSlots

if TYPE_CHECKING:
    from codemode.transports.allowances import Rate, SlotGrant


def admission(processors: int = 100, **settings: float) -> Admission:
    return Admission(LoadSettings.model_validate(settings), processors=processors)


class Work:
    """Requests that hold their turns until they are told to end; `order` is who was admitted."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.order: list[str] = []
        self._ends: list[asyncio.Event] = []

    def start(self, caller: str, *, begins: bool = False) -> asyncio.Task[None]:
        end = asyncio.Event()
        self._ends.append(end)

        async def hold() -> None:
            async with self.admission.turn(caller) as turn:
                self.order.append(caller)
                if begins:
                    turn.begun()
                await end.wait()

        return asyncio.create_task(hold())

    def end(self, place: int) -> None:
        self._ends[place].set()

    async def end_all(self) -> None:
        for end in self._ends:
            end.set()


class Clock:
    """The time of the event loop, which passes only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: made.now_s)
    return made


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_so_many_run_and_the_next_one_comes_when_one_ends() -> None:
    work = Work(admission(running=2))
    tasks = [work.start(name) for name in "abc"]
    await settled()
    assert (work.order, work.admission.waiting) == (["a", "b"], 1)
    work.end(0)
    await settled()
    assert work.order == ["a", "b", "c"]
    await work.end_all()
    await asyncio.gather(*tasks)
    assert (work.admission.running, work.admission.waiting) == (0, 0)


async def test_only_as_many_begin_at_one_time_as_there_are_processors() -> None:
    work = Work(admission(processors=1))
    tasks = [work.start("a"), work.start("b", begins=True), work.start("c", begins=True)]
    await settled()
    assert work.order == ["a"]
    work.end(0)
    await settled()
    assert work.order == ["a", "b", "c"]
    await work.end_all()
    await asyncio.gather(*tasks)


async def test_callers_come_in_turn_however_many_requests_one_of_them_has() -> None:
    work = Work(admission(running=1))
    tasks = [work.start(name) for name in "xaaaabc"]
    await settled()
    for place in range(7):
        work.end(place)
    await asyncio.gather(*tasks)
    assert "".join(work.order) == "xabcaaa"


async def test_a_full_queue_refuses_and_says_when_to_come_again() -> None:
    work = Work(admission(running=1, waiting=1))
    tasks = [work.start("a"), work.start("a")]
    await settled()
    with pytest.raises(Overloaded) as refused:
        await work.start("a")
    assert refused.value.retry_after_s == 1
    await work.end_all()
    await asyncio.gather(*tasks)


async def test_a_full_queue_has_a_place_for_who_has_asked_for_less() -> None:
    work = Work(admission(running=1, waiting=3))
    tasks = [work.start("a") for _ in range(4)]
    await settled()
    other = work.start("b")
    await settled()
    with pytest.raises(Overloaded, match="callers with fewer requests come first"):
        await tasks[3]
    await work.end_all()
    await asyncio.gather(*tasks[:3], other)
    assert "".join(work.order) == "aaba"


async def test_nobody_waits_for_longer_than_the_limit() -> None:
    work = Work(admission(running=1, wait_s=0.05))
    first = work.start("a")
    await settled()
    with pytest.raises(Overloaded):
        await work.start("b")
    assert work.admission.waiting == 0
    await work.end_all()
    await first


async def test_a_queue_that_does_not_empty_is_kept_short_until_nobody_was_refused_for_as_long(clock: Clock) -> None:
    work = Work(admission(processors=1, running=1))
    first = work.start("a")
    burst = [work.start("b") for _ in range(5)]
    await settled()
    assert work.admission.waiting == 5
    clock.now_s += LASTING_S + 0.05
    with pytest.raises(Overloaded):
        await work.start("b")
    work.end(0)
    for place in range(1, 5):
        work.end(place)
    await asyncio.gather(first, *burst[:4])
    short = [work.start("b") for _ in range(SHORT_QUEUE)]
    await settled()
    with pytest.raises(Overloaded):
        await work.start("b")
    await work.end_all()
    await asyncio.gather(burst[4], *short)
    clock.now_s += LASTING_S + 0.05
    again = [work.start("b") for _ in range(SHORT_QUEUE + 3)]
    await settled()
    assert work.admission.waiting == SHORT_QUEUE + 2
    await work.end_all()
    await asyncio.gather(*again)


async def test_a_caller_runs_only_so_many_at_one_time_and_others_pass() -> None:
    work = Work(admission(running=10, per_key_running=1))
    tasks = [work.start("a"), work.start("a"), work.start("b")]
    await settled()
    assert work.order == ["a", "b"]
    await work.end_all()
    await asyncio.gather(*tasks)


@pytest.mark.usefixtures("clock")
async def test_a_rate_lets_a_second_of_requests_in_and_says_when_the_next_one_may_come() -> None:
    limited = admission(per_key_rate_per_s=0.5)
    async with limited.turn("a"):
        pass
    with pytest.raises(Overloaded) as refused:
        async with limited.turn("a"):
            pass
    assert refused.value.retry_after_s == 1
    async with limited.turn("b"):
        pass


class AwaySlots(LocalSlots):
    """Slots that other servers share. Set `is_away` to make them unreachable."""

    is_away = False

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        if self.is_away:
            raise JournalUnavailable("it is away")
        return await super().lease(rate, most, due_only=due_only)


async def test_two_servers_let_in_together_what_the_rate_of_a_key_allows() -> None:
    allowances = Allowances()
    allowances.slots = slots = AwaySlots(lambda: 100.0)
    settings = LoadSettings(per_key_rate_per_s=2)
    servers = [Admission(settings, processors=8, allowances=allowances) for _ in range(2)]
    let_in = 0
    for server in servers * 3:
        with suppress(Overloaded):
            async with server.turn("a"):
                let_in += 1
    assert let_in == 3  # a burst of one second, and the one that is due now
    slots.is_away = True
    with pytest.raises(Overloaded) as refused:
        async with servers[0].turn("b"):
            pass
    assert refused.value.reason == "the rate limit of this key is shared by several servers, and cannot be checked"


async def test_who_gives_up_leaves_the_queue_and_the_turn() -> None:
    work = Work(admission(running=1))
    running, waiting = work.start("a"), work.start("b")
    await settled()
    for task in (waiting, running):
        task.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    assert (work.admission.running, work.admission.waiting) == (0, 0)
    async with work.admission.turn("c"):
        assert work.admission.running == 1


async def test_one_caller_cannot_fill_all_places() -> None:
    work = Work(admission(running=4, waiting=10))
    tasks = [work.start("a") for _ in range(8)]
    await settled()
    assert work.order == ["a", "a", "a"]
    tasks += [work.start("b"), work.start("c")]
    await settled()
    assert work.order == ["a", "a", "a", "b"]
    work.end(0)
    await settled()
    assert work.order == ["a", "a", "a", "b", "c"]
    await work.end_all()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_request_that_only_waits_gives_its_place_to_what_it_waits_for() -> None:
    one = admission(1, running=1)
    admitted = asyncio.Event()

    async def orphan() -> None:
        async with one.turn("ann"):
            admitted.set()

    async with one.turn("ann") as turn:
        running = asyncio.create_task(orphan())
        await settled()
        assert not admitted.is_set()
        turn.release()
        await asyncio.wait_for(running, 200)
        assert one.running == 0
    assert one.running == 0
