"""Deliveries of one outbox: retried, taken up by the next server, and made once, on both stores."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.journal.sql.statements import Statement
from codemode.executions.types.records import Decision, JournalEntry, PendingCall
from codemode.features.notify.configured import messages_to
from codemode.features.notify.courier import Courier
from codemode.features.notify.notice import NoticeWriter
from codemode.features.notify.targets import Undelivered
from codemode.settings import Settings
from tests.integration.codemode.executions.journal.conftest import new, postgres, store

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.delivery import Delivery
    from codemode.features.notify.notice import Notice
    from tests.integration.codemode.executions.journal.conftest import Store

__all__ = ["postgres", "store"]

SETTINGS = Settings.model_validate({"journal": {"expire_s": 1000}, "notify": {"expiring_s": 600}})


@pytest.fixture
def seen() -> list[Delivery]:
    """The attempts that couriers record."""
    return []


class Receiver:
    """Fails as told, one fault per delivery, and then receives. `served` is set when a message has arrived."""

    def __init__(self, *faults: Undelivered | None) -> None:
        self.faults = [*faults]
        self.tries: list[str] = []
        self.received: list[Notice] = []
        self.served = asyncio.Event()

    async def send(self, notice: Notice) -> None:
        self.tries.append(notice.id)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        self.received.append(notice)
        self.served.set()


def courier(journal: Journal, target: Any, seen: list[Delivery], *, waits_s: tuple[float, ...] = (0.0,) * 3) -> Courier:
    writer = NoticeWriter("gym", "https://cm.example.com")
    wanted = messages_to("ops", SETTINGS)
    return Courier(journal, "ops", target, wanted, writer, record=seen.append, schedule_s=waits_s)


def question(execution: str, kind: Any = "approval") -> PendingCall:
    return PendingCall(f"ap_{execution}", execution, "1", "bank.pay", {"n": 1}, "d", "money", kind)


async def paused(journal: Journal, execution: str = "ex_1", kind: Any = "approval") -> None:
    lease = await journal.create(new(execution))
    outcome = {"id": execution, "status": "paused", "calls": [], "pending": []}
    await journal.pause(lease, [question(execution, kind)], outcome)


async def test_a_receiver_that_fails_twice_gets_the_message_once(store: Store, seen: list[Delivery]) -> None:
    journal = await store.server()
    receiver = Receiver(Undelivered("the receiver answered 500"), Undelivered("the receiver answered 503"))
    sender = courier(journal, receiver, seen)
    running = asyncio.create_task(sender.run())
    await paused(journal)
    async with asyncio.timeout(200):
        await receiver.served.wait()
        sender.close()
        await running
    assert len(set(receiver.tries)) == 1
    assert [(one.event, one.approval) for one in receiver.received] == [("approval.asked", "ap_ex_1")]
    assert [(one.result, one.attempt, one.error) for one in seen] == [
        ("failed", 1, "the receiver answered 500"),
        ("failed", 2, "the receiver answered 503"),
        ("delivered", 3, ""),
    ]
    await courier(journal, receiver, seen).deliver()
    assert len(receiver.tries) == 3


async def test_what_a_dead_server_did_not_deliver_is_delivered_by_the_next(store: Store, seen: list[Delivery]) -> None:
    first, second = await store.server(), await store.server()
    await paused(first)
    held = asyncio.Event()

    class Dying(Receiver):
        async def send(self, notice: Notice) -> None:
            self.tries.append(notice.id)
            held.set()
            await asyncio.Event().wait()

    dying, receiver = Dying(), Receiver()
    attempt = asyncio.create_task(courier(first, dying, []).deliver())
    await held.wait()
    attempt.cancel()
    await asyncio.gather(attempt, return_exceptions=True)
    await courier(second, receiver, seen).deliver()
    assert receiver.tries == []  # the dead server's claim has not run out
    await second.outbox._write(_forget_claims())
    await courier(second, receiver, seen).deliver()
    assert receiver.tries == dying.tries
    assert [one.result for one in seen] == ["delivered"]


def _forget_claims() -> Any:
    yield Statement("UPDATE outbox SET due_us = 0")


async def test_two_servers_deliver_a_message_once(store: Store, seen: list[Delivery]) -> None:
    servers = [await store.server(), await store.server()]
    await paused(servers[0])
    receiver = Receiver()
    await asyncio.gather(*(courier(one, receiver, seen).deliver() for one in servers))
    assert len(receiver.tries) == 1


async def test_after_the_last_attempt_the_message_is_given_up(store: Store, seen: list[Delivery]) -> None:
    journal = await store.server()
    await paused(journal)
    receiver = Receiver(*[Undelivered("no")] * 5)
    await courier(journal, receiver, seen).deliver()
    assert [one.result for one in seen] == ["failed", "failed", "failed", "gave_up"]
    (message,) = await journal.outbox.list()
    assert (message.state, message.attempts, message.error) == ("gave_up", 4, "no")


async def test_retry_after_delays_the_next_attempt(store: Store, seen: list[Delivery]) -> None:
    journal = await store.server()
    await paused(journal)
    await courier(journal, Receiver(Undelivered("busy", retry_after_s=500)), seen).deliver()
    assert [one.result for one in seen] == ["failed"]
    assert 400 < (await journal.outbox.next_due_s("ops") or 0) <= 500


async def test_a_receiver_that_is_gone_gets_nothing_until_it_is_enabled(store: Store, seen: list[Delivery]) -> None:
    journal = await store.server()
    await paused(journal)
    receiver = Receiver(Undelivered("the receiver answered 410", is_gone=True))
    await courier(journal, receiver, seen).deliver()
    await paused(journal, "ex_2")
    await courier(journal, receiver, seen).deliver()
    assert (len(receiver.tries), [one.result for one in seen]) == (1, ["gone"])
    assert await journal.outbox.gone() == {"ops"}
    await journal.outbox.enable("ops")
    await courier(journal, receiver, seen).deliver()
    assert [one.approval for one in receiver.received] == ["ap_ex_2"]


async def test_a_call_that_was_decided_meanwhile_is_no_longer_told(store: Store, seen: list[Delivery]) -> None:
    journal = await store.server()
    await paused(journal)
    receiver = Receiver(Undelivered("no"))
    await courier(journal, receiver, seen, waits_s=(3600.0,)).deliver()
    await journal.decide([Decision("ap_ex_1", "d", "approved", by="ann")])
    await journal.outbox._write(_forget_claims())
    await courier(journal, receiver, seen).deliver()
    assert ([one.result for one in seen], receiver.received) == (["failed", "outdated"], [])


@pytest.mark.parametrize("effect", ["write", "read"])
async def test_an_end_with_an_unknown_write_is_told(store: Store, seen: list[Delivery], effect: str) -> None:
    journal, receiver = await store.server(), Receiver()
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [JournalEntry("started", "1", {"tool": "bank.pay", "effect": effect})])
    calls = [{"path": "1", "tool": "bank.pay", "state": "unknown"}]
    await journal.finish(lease, "timed_out", {"id": "ex_1", "status": "timed_out", "calls": calls})
    await courier(journal, receiver, seen).deliver()
    told = [(one.event, one.tools, one.link) for one in receiver.received]
    expected = [("call.unknown", ("bank.pay",), "https://cm.example.com/console/executions/ex_1")]
    assert told == (expected if effect == "write" else [])


async def test_each_kind_of_question_has_its_event(store: Store) -> None:
    journal, receiver = await store.server(), Receiver()
    await paused(journal, "ex_1", "unknown")
    await courier(journal, receiver, []).deliver()
    assert [one.event for one in receiver.received] == ["call.unknown"]


async def test_an_approval_that_expires_soon_is_told_again(store: Store) -> None:
    journal, receiver = await store.server(expire_s=1000), Receiver()
    await paused(journal)
    await courier(journal, receiver, []).deliver()

    def age() -> Any:
        yield Statement("UPDATE executions SET updated_us = updated_us - 501000000")  # of 1,000 s, half is left

    await journal.outbox._write(age())
    await courier(journal, receiver, []).deliver()
    await courier(journal, receiver, []).deliver()
    assert [one.event for one in receiver.received] == ["approval.asked", "approval.expiring"]
    assert len({one.id for one in receiver.received}) == 2
