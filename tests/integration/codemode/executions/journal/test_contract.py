"""The contract of journals, on each database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import (
    ApprovalRefused,
    ConfigurationError,
    ExecutionEnded,
    ExecutionNotFound,
    JournalFull,
    LeaseHeld,
    LeaseLost,
    RequestConflict,
    RequestForgotten,
    RequestRepeated,
)
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.sql.space import BATCH, Bounds
from codemode.executions.journal.sql.transactions import SPILL_BYTES
from codemode.executions.types.records import Decision, JournalEntry, Lease, PendingCall, Retention
from tests.integration.codemode.executions.journal.conftest import new
from tests.integration.codemode.executions.journal.rows import ended, kept, question, waiting

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from tests.integration.codemode.executions.journal.conftest import Store

FOREVER = Retention(age_s=1e9, count=1_000_000)


async def paused(journal: Journal, *calls: PendingCall, identity: str = "ex_1") -> None:
    lease = await journal.create(new(identity))
    await journal.pause(lease, calls or (question(execution=identity),), {"status": "paused"})


async def test_what_was_given_comes_back_as_it_was(journal: Journal) -> None:
    given = new(
        "ex_é",
        code="print('\x00\ud800 ü')",
        seed=bytes(range(32)),
        start_us=2**53 + 1,
        settings={"limits": {"wall_s": 1.5}},
        digests={"policy": "abc"},
        credentials=("crm", "mail"),
        resume_from="ex_0",
        request_key="k",
        request_digest="rd",
    )
    await journal.create(given)
    stored = await journal.get("ex_é")
    assert stored.request == given
    assert (stored.status, stored.server, stored.ended_us, stored.outcome) == ("running", journal.server, 0, None)
    assert stored.created_us == stored.updated_us < stored.lease_until_us


async def test_entries_come_back_in_the_order_in_which_they_were_appended(journal: Journal) -> None:
    lease = await journal.create(new())
    assert await journal.append(lease, [JournalEntry("started", "1", {"a": 1}), JournalEntry("started", "2")]) == 2
    assert await journal.append(lease, [JournalEntry("ended", "1", {"ü": [None, 1.5]}, b"\x00\xff")]) == 3
    entries = await journal.read("ex_1")
    assert [(one.sequence, one.kind, one.path, one.data, one.value) for one in entries] == [
        (1, "started", "1", {"a": 1}, None),
        (2, "started", "2", {}, None),
        (3, "ended", "1", {"ü": [None, 1.5]}, b"\x00\xff"),
    ]
    assert await journal.read("ex_1", after=2) == entries[2:]
    assert await journal.read("ex_1", after=2, values=False) == (replace(entries[2], value=None),)
    assert await journal.read("ex_2") == ()


async def test_a_path_of_a_hostile_guest_is_only_text(journal: Journal) -> None:
    lease = await journal.create(new())
    await journal.append(lease, [JournalEntry("started", "\x00'\ud800;--", {"\x00": "\udfff"})])
    (entry,) = await journal.read("ex_1")
    assert (entry.path, entry.data) == ("\x00'\ud800;--", {"\x00": "\udfff"})


@pytest.mark.parametrize("size", [0, 1, SPILL_BYTES, SPILL_BYTES + 1, 3_000_000])
async def test_a_value_of_any_size_is_kept_whole(journal: Journal, size: int) -> None:
    lease = await journal.create(new())
    value = bytes(index % 251 for index in range(size))
    await journal.append(lease, [JournalEntry("ended", "1", value=value)])
    (entry,) = await journal.read("ex_1")
    assert entry.value == value


async def test_appends_of_one_turn_keep_their_order_and_their_sequence(journal: Journal) -> None:
    first, second = await journal.create(new()), await journal.create(new("ex_2"))
    appends = [journal.append(lease, [JournalEntry("started", f"{n}")]) for n in range(40) for lease in (first, second)]
    assert await asyncio.gather(*appends) == [n for n in range(1, 41) for _ in range(2)]
    for execution in ("ex_1", "ex_2"):
        assert [entry.path for entry in await journal.read(execution)] == [f"{n}" for n in range(40)]


async def test_data_that_is_not_json_is_told_to_who_gave_it_alone(journal: Journal) -> None:
    lease = await journal.create(new())
    wrong = journal.append(lease, [JournalEntry("started", "1", {"a": object()})])
    right = journal.append(lease, [JournalEntry("started", "2")])
    results = await asyncio.gather(wrong, right, return_exceptions=True)
    assert isinstance(results[0], TypeError)
    assert results[1] == 1


async def test_who_is_cancelled_before_the_write_has_written_nothing(journal: Journal) -> None:
    lease = await journal.create(new())
    first = asyncio.create_task(journal.append(lease, [JournalEntry("started", "1")]))
    second = asyncio.create_task(journal.append(lease, [JournalEntry("started", "2")]))
    asyncio.get_running_loop().call_soon(second.cancel)
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await first == 1
    assert await journal.append(lease, [JournalEntry("started", "3")], at_once=True) == 2
    assert [entry.path for entry in await journal.read("ex_1")] == ["1", "3"]


async def test_an_unknown_execution_is_not_found(journal: Journal) -> None:
    with pytest.raises(ExecutionNotFound, match="there is no execution 'ex_9'; it never existed, or retention"):
        await journal.get("ex_9")
    with pytest.raises(ExecutionNotFound):
        await journal.claim("ex_9")


async def test_a_request_made_again_is_known_by_its_key_and_owner(journal: Journal) -> None:
    await journal.create(new(request_key="k", request_digest="d"))
    with pytest.raises(RequestRepeated, match="this request was already made: see execution ex_1") as repeated:
        await journal.create(new("ex_2", request_key="k", request_digest="d"))
    assert repeated.value.execution == "ex_1"
    with pytest.raises(RequestConflict, match="was already used for another request, execution ex_1; use a new key"):
        await journal.create(new("ex_2", request_key="k", request_digest="other"))
    await journal.create(new("ex_3", owner="bob", request_key="k", request_digest="d"))
    with pytest.raises(ExecutionNotFound):
        await journal.get("ex_2")


async def test_of_equal_requests_at_once_one_makes_an_execution(store: Store) -> None:
    servers = [await store.server() for _ in range(2)]
    creating = (servers[n % 2].create(new(f"ex_{n}", request_key="k", request_digest="d")) for n in range(10))
    results = await asyncio.gather(*creating, return_exceptions=True)
    (made,) = (one for one in results if isinstance(one, Lease))
    assert {one.execution for one in results if isinstance(one, RequestRepeated)} == {made.execution}
    assert len(await servers[0].list()) == 1


async def test_the_list_is_newest_first_by_owner_status_and_page(journal: Journal) -> None:
    for n in range(5):
        lease = await journal.create(new(f"ex_{n}", owner="ann" if n % 2 else "bob"))
        if n == 3:
            await journal.finish(lease, "completed", {"big": 1})
    assert [one.request.id for one in await journal.list()] == ["ex_4", "ex_3", "ex_2", "ex_1", "ex_0"]
    assert [one.request.id for one in await journal.list(owner="ann")] == ["ex_3", "ex_1"]
    assert [one.request.id for one in await journal.list(status="running", limit=2)] == ["ex_4", "ex_2"]
    assert [one.request.id for one in await journal.list(before="ex_2")] == ["ex_1", "ex_0"]
    assert [one.outcome for one in await journal.list(status="completed")] == [None]


async def test_an_end_is_recorded_with_its_outcome_and_is_final(journal: Journal) -> None:
    lease = await journal.create(new())
    await journal.finish(lease, "failed", {"failure": "ü\x00"})
    stored = await journal.get("ex_1")
    assert (stored.status, stored.outcome, stored.server) == ("failed", {"failure": "ü\x00"}, "")
    assert stored.ended_us == stored.updated_us > 0
    with pytest.raises(ExecutionEnded, match="execution ex_1 has ended: failed"):
        await journal.claim("ex_1")
    for late in (journal.append(lease, [JournalEntry("started")]), journal.finish(lease, "completed", {})):
        with pytest.raises(LeaseLost, match="ex_1 is no longer held by"):
            await late


async def test_what_a_living_server_holds_is_not_given_to_another(store: Store) -> None:
    one, other = await store.server(), await store.server()
    await one.create(new())
    with pytest.raises(LeaseHeld, match=f"execution ex_1 is running on {one.server}"):
        await other.claim("ex_1")
    assert await other.orphans() == ()
    assert await one.renew(["ex_1", "ex_2"]) == {"ex_1"}
    assert await other.renew(["ex_1"]) == set()


async def test_a_server_whose_lease_ran_out_can_write_nothing_once_another_has_claimed(store: Store) -> None:
    one, other = await store.server(lease_s=0.0), await store.server()
    lease = await one.create(new())
    await one.append(lease, [JournalEntry("started", "1")])
    assert await other.orphans() == ("ex_1",)
    taken = await other.claim("ex_1")
    assert taken.generation > lease.generation
    late = (
        one.append(lease, [JournalEntry("ended", "1")]),
        one.append(lease, ()),
        one.finish(lease, "completed", {}),
        one.pause(lease, [question()], {}),
    )
    for write in late:
        with pytest.raises(LeaseLost):
            await write
    assert await one.renew(["ex_1"]) == set()
    assert await other.append(taken, ()) == 1
    assert await other.append(taken, [JournalEntry("resumed")]) == 2
    assert [entry.kind for entry in await other.read("ex_1")] == ["started", "resumed"]
    assert await other.orphans() == ()


async def test_an_orphan_that_another_server_has_paused_is_not_claimed_by_recovery(store: Store) -> None:
    one, other = await store.server(), await store.server()
    await paused(one)
    with pytest.raises(LeaseHeld, match="another server, which has paused it"):
        await other.claim("ex_1", is_orphan=True)
    assert (await other.get("ex_1")).status == "paused"
    assert (await other.claim("ex_1")).generation == 2


async def test_a_released_execution_is_free_at_once_and_its_server_can_write_nothing_more(store: Store) -> None:
    one, other = await store.server(), await store.server()
    lease = await one.create(new("ex_1"))
    await one.create(new("ex_2"))
    await other.release(["ex_1"])
    assert await other.orphans() == ()
    await one.release(["ex_1", "ex_3"])
    stored = await other.get("ex_1")
    assert (stored.status, stored.server, stored.lease_until_us) == ("running", "", 0)
    assert await other.orphans() == ("ex_1",)
    with pytest.raises(LeaseLost):
        await one.append(lease, [JournalEntry("started", "1")])
    await other.claim("ex_1")


async def test_a_lease_that_is_taken_by_force_lets_its_server_write_nothing_more(store: Store) -> None:
    one, other = await store.server(), await store.server()
    lease = await one.create(new())
    taken = await other.claim("ex_1", by_force=True)
    with pytest.raises(LeaseLost):
        await one.append(lease, [JournalEntry("started", "1")])
    await other.finish(taken, "cancelled", {})
    with pytest.raises(ExecutionEnded):
        await one.claim("ex_1", by_force=True)


async def test_what_a_server_does_not_renew_is_free_though_it_renews_others(store: Store) -> None:
    one, other = await store.server(lease_s=0.0), await store.server(lease_s=60.0)
    await one.create(new("ex_1"))
    await other.create(new("ex_2"))
    await other.claim("ex_1")
    await other.create(new("ex_3"))
    before = {stored.request.id: stored.lease_until_us for stored in await one.list()}
    assert await other.renew(["ex_2", "ex_3"]) == {"ex_2", "ex_3"}
    after = {stored.request.id: stored.lease_until_us for stored in await one.list()}
    assert [execution for execution in sorted(after) if after[execution] > before[execution]] == ["ex_2", "ex_3"]


async def test_a_lost_lease_does_not_hold_up_what_is_written_with_it(store: Store) -> None:
    one, other = await store.server(lease_s=0.0), await store.server()
    lost, kept = await one.create(new()), await one.create(new("ex_2"))
    await other.claim("ex_1")
    entries = [JournalEntry("started", "1")]
    results = await asyncio.gather(one.append(lost, entries), one.append(kept, entries), return_exceptions=True)
    assert isinstance(results[0], LeaseLost)
    assert results[1] == 1


async def test_of_several_that_claim_at_once_one_wins(store: Store) -> None:
    servers = [await store.server() for _ in range(3)]
    for round_number in range(5):
        execution = f"ex_{round_number}"
        await paused(servers[0], question(f"ap_{round_number}"), identity=execution)
        claims = await asyncio.gather(*(one.claim(execution) for one in servers * 3), return_exceptions=True)
        (won,) = (claim for claim in claims if isinstance(claim, Lease))
        assert all(isinstance(claim, LeaseHeld) for claim in claims if claim is not won)
        assert (await servers[0].get(execution)).server == won.server


async def test_a_pause_asks_and_gives_the_execution_back(journal: Journal) -> None:
    await paused(journal, question(arguments={"note": "\x00\ud800"}), question("ap_2", kind="unknown", path="4"))
    stored = await journal.get("ex_1")
    assert (stored.status, stored.server, stored.outcome) == ("paused", "", {"status": "paused"})
    first, second = await journal.pending()
    assert first == question(arguments={"note": "\x00\ud800"}, asked_us=first.asked_us)
    assert (second.id, second.kind, second.verdict) == ("ap_2", "unknown", None)
    assert await journal.pending(execution="ex_2") == ()
    assert await journal.orphans() == ()


async def test_answers_are_recorded_with_who_gave_them(journal: Journal) -> None:
    await paused(journal, question(), question("ap_2", kind="unknown"))
    answers = (
        Decision("ap_1", "d1", "rejected", "eve", "not now"),
        Decision("ap_2", "d1", "committed", "eve", value={"id": 5}),
    )
    rejected, committed = await journal.decide(answers)
    assert (rejected.verdict, rejected.by, rejected.note, rejected.value) == ("rejected", "eve", "not now", None)
    assert (committed.verdict, committed.value, committed.decided_us > 0) == ("committed", {"id": 5}, True)
    assert await journal.pending() == ()
    assert await journal.pending(execution="ex_1", unanswered=False) == (rejected, committed)
    assert [(one.kind, one.path, one.data) for one in await journal.read("ex_1")] == [
        ("decided", "3", {"question": "ap_1", "verdict": "rejected", "by": "eve"}),
        ("decided", "3", {"question": "ap_2", "verdict": "committed", "by": "eve"}),
    ]


REFUSED = [
    (Decision("ap_9", "d1", "approved", "eve"), "nothing is pending under this id"),
    (Decision("ap_1", "d2", "approved", "eve"), "the decision is for other arguments; read the pending call again"),
    (Decision("ap_1", "d1", "committed", "eve"), "the valid answers are approved, rejected"),
    (Decision("ap_2", "d1", "approved", "eve"), "the valid answers are committed, failed, send_again"),
]


@pytest.mark.parametrize(("wrong", "why"), REFUSED, ids=["unknown", "altered", "committed", "approved"])
async def test_a_wrong_answer_refuses_all_that_were_given_with_it(journal: Journal, wrong: Decision, why: str) -> None:
    await paused(journal, question(), question("ap_2", kind="unknown"), question("ap_3"))
    with pytest.raises(ApprovalRefused, match=f"the decision on {wrong.id} was rejected: {why}"):
        await journal.decide([Decision("ap_3", "d1", "approved", "eve"), wrong])
    assert len(await journal.pending()) == 3
    assert await journal.read("ex_1") == ()


async def test_an_answer_is_given_once(store: Store) -> None:
    servers = [await store.server() for _ in range(2)]
    await paused(servers[0])
    answers = (servers[n % 2].decide([Decision("ap_1", "d1", "approved", f"eve{n}")]) for n in range(8))
    results = await asyncio.gather(*answers, return_exceptions=True)
    (taken,) = (one for one in results if isinstance(one, tuple))
    assert sum(isinstance(one, ApprovalRefused) for one in results) == 7
    (call,) = await servers[0].pending(unanswered=False)
    assert (call,) == taken
    assert len(await servers[0].read("ex_1")) == 1


async def test_answers_to_several_questions_of_one_execution_at_once_are_all_taken(store: Store) -> None:
    servers = [await store.server() for _ in range(2)]
    names = [f"ap_{n}" for n in range(6)]
    for n in range(3):
        asked = [question(f"{name}_{n}", execution=f"ex_{n}") for name in names]
        await paused(servers[0], *asked, identity=f"ex_{n}")
        answers = (servers[m % 2].decide([Decision(one.id, "d1", "approved", "eve")]) for m, one in enumerate(asked))
        await asyncio.gather(*answers)
        decided = await servers[0].read(f"ex_{n}")
        assert [entry.sequence for entry in decided] == list(range(1, 7))
        assert {entry.data["question"] for entry in decided} == {one.id for one in asked}


async def test_an_answer_to_what_is_not_paused_is_refused(journal: Journal) -> None:
    await paused(journal)
    lease = await journal.claim("ex_1")
    with pytest.raises(ApprovalRefused, match="its execution is running, not paused"):
        await journal.decide([Decision("ap_1", "d1", "approved", "eve")])
    await journal.finish(lease, "cancelled", {})
    with pytest.raises(ApprovalRefused, match="its execution is cancelled, not paused"):
        await journal.decide([Decision("ap_1", "d1", "approved", "eve")])
    assert await journal.pending() == ()


async def test_pausing_again_keeps_the_questions_that_were_asked_and_their_answers(journal: Journal) -> None:
    await paused(journal)
    (approved,) = await journal.decide([Decision("ap_1", "d1", "approved", "eve")])
    lease = await journal.claim("ex_1")
    await journal.pause(lease, [question(), question("ap_2")], {})
    assert [call.id for call in await journal.pending()] == ["ap_2"]
    assert (await journal.pending(unanswered=False))[0] == approved


async def test_retention_by_age_removes_what_has_ended_and_all_that_it_owns(journal: Journal) -> None:
    for n in range(BATCH + 5):
        lease = await journal.create(new(f"ex_{n}"))
        await journal.append(lease, [JournalEntry("ended", value=b"x" * 10_000)])
        await journal.finish(lease, "completed", {})
    running = await journal.create(new("ex_running"))
    await paused(journal, identity="ex_paused")
    assert await journal.prune(FOREVER) == await journal.prune(FOREVER)
    pruned = await journal.prune(replace(FOREVER, age_s=0))
    assert (pruned.expired, pruned.removed) == ((), BATCH + 5)
    assert {one.request.id for one in await journal.list()} == {"ex_running", "ex_paused"}
    assert await journal.read("ex_0") == ()
    assert await journal.append(running, [JournalEntry("started")]) == 1


async def test_the_oldest_that_have_ended_make_room_for_what_ends(store: Store) -> None:
    journal = await store.server(bounds=Bounds(all=350_000))
    await waiting(journal, "ex_paused")
    for n in range(5):
        await ended(journal, f"ex_{n}", owner=f"key_{n}")
    assert await kept(journal) == ["ex_4", "ex_3", "ex_paused"]
    assert await journal.read("ex_0") == ()


async def test_what_one_key_has_makes_room_for_what_it_adds(store: Store) -> None:
    journal = await store.server(bounds=Bounds(per_key=250_000))
    await ended(journal, "ex_bob", owner="bob")
    for n in range(4):
        await ended(journal, f"ex_{n}")
    assert await kept(journal) == ["ex_3", "ex_2", "ex_bob"]


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (
            Bounds(per_key=150_000),
            r"open executions of the key 'ann' take \d+ bytes, and journal.keep_bytes_per_key",
        ),
        (
            Bounds(all=150_000),
            r"open executions of all keys take \d+ bytes, and journal.keep_bytes allows 150000 bytes",
        ),
    ],
)
async def test_where_nothing_may_be_removed_new_executions_are_refused(store: Store, bounds: Bounds, says: str) -> None:
    journal = await store.server(bounds=bounds)
    await waiting(journal, "ex_0")
    await waiting(journal, "ex_1")
    with pytest.raises(JournalFull, match=f"the journal is full: the {says}"):
        await journal.create(new("ex_2"))
    assert await kept(journal) == ["ex_1", "ex_0"]
    await journal.finish(await journal.claim("ex_0"), "cancelled", {})
    await journal.create(new("ex_2"))


async def test_pausing_again_and_expiring_count_an_execution_once(store: Store) -> None:
    journal = await store.server(bounds=Bounds(all=250_000))
    await waiting(journal, "ex_0")
    for _ in range(3):
        await journal.pause(await journal.claim("ex_0"), [question("ap_ex_0", execution="ex_0")], {})
    assert await kept(journal) == ["ex_0"]
    await journal.create(new("ex_1"))
    await (await store.server(expire_s=0)).prune(FOREVER)
    await ended(journal, "ex_2")
    assert await kept(journal) == ["ex_2", "ex_1", "ex_0"]
    await ended(journal, "ex_3")
    assert await kept(journal) == ["ex_3", "ex_2", "ex_1"]


async def test_retention_brings_a_journal_below_a_bound_that_was_lowered(store: Store) -> None:
    journal = await store.server()
    for n in range(BATCH * 2):
        await ended(journal, f"ex_{n}", 10_000)
    lowered = await store.server(bounds=Bounds(all=35_000))
    assert (await lowered.prune(FOREVER)).removed == BATCH * 2 - 3
    assert len(await kept(journal)) == 3


async def test_two_servers_that_prune_at_once_remove_each_execution_once(store: Store) -> None:
    one, other = await store.server(bounds=Bounds(all=250_000)), await store.server()
    for n in range(BATCH * 2):
        await ended(other, f"ex_{n}", 1000)
    await asyncio.gather(*(journal.prune(replace(FOREVER, age_s=0)) for journal in (one, other)))
    assert await kept(one) == []
    for n in range(3):
        await ended(one, f"ex_{n}")
    assert await kept(one) == ["ex_2", "ex_1"]


async def test_retention_by_count_keeps_the_newest(journal: Journal) -> None:
    for n in range(5):
        await journal.finish(await journal.create(new(f"ex_{n}")), "completed", {})
    assert (await journal.prune(replace(FOREVER, count=2))).removed == 3
    assert [one.request.id for one in await journal.list()] == ["ex_4", "ex_3"]


async def test_retention_by_count_is_for_each_key(journal: Journal) -> None:
    await journal.finish(await journal.create(new("ex_bob", owner="bob")), "completed", {})
    for n in range(4):
        await journal.finish(await journal.create(new(f"ex_{n}")), "completed", {})
    assert (await journal.prune(replace(FOREVER, count=2))).removed == 2
    assert await kept(journal) == ["ex_3", "ex_2", "ex_bob"]


async def test_a_request_is_known_by_its_key_after_its_record_was_removed(journal: Journal) -> None:
    made = {"request_key": "pay 7", "request_digest": "d"}
    await journal.finish(await journal.create(new("ex_1", **made)), "completed", {})
    assert (await journal.prune(replace(FOREVER, age_s=0))).removed == 1
    with pytest.raises(RequestForgotten, match="already made, as execution ex_1, whose record retention has removed"):
        await journal.create(new("ex_2", **made))
    with pytest.raises(RequestConflict, match="used for another request, execution ex_1"):
        await journal.create(new("ex_2", **made | {"request_digest": "other"}))
    with pytest.raises(ExecutionNotFound):
        await journal.get("ex_2")
    await journal.create(new("ex_3", owner="bob", **made))


async def test_the_executions_of_a_key_that_wait_for_a_person_are_counted(store: Store) -> None:
    journal = await store.server(bounds=Bounds(paused_per_key=2))
    for n in range(2):
        await paused(journal, question(f"ap_{n}", execution=f"ex_{n}"), identity=f"ex_{n}")
    with pytest.raises(JournalFull, match="2 executions of the key 'ann' wait for a person, and no key may have more"):
        await journal.create(new("ex_2"))
    await journal.create(new("ex_3", owner="bob"))
    await journal.finish(await journal.claim("ex_0"), "cancelled", {})
    await journal.create(new("ex_2"))


async def test_a_page_of_waiting_calls_has_those_of_an_owner_in_order(journal: Journal) -> None:
    for n in range(4):
        lease = await journal.create(new(f"ex_{n}", owner="ann" if n % 2 else "bob"))
        kind: Any = "unknown" if n == 3 else "approval"
        await journal.pause(lease, [question(f"ap_{n}", execution=f"ex_{n}", kind=kind)], {})

    async def ids(**wanted: Any) -> list[str]:
        return [one.id for one in await journal.waiting(**wanted)]

    assert await ids() == ["ap_0", "ap_1", "ap_2", "ap_3"]
    assert await ids(limit=2) == ["ap_0", "ap_1"]
    assert await ids(after="ap_1", limit=1) == ["ap_2"]
    assert await ids(after="ap_3") == []
    assert await ids(owner="ann") == ["ap_1", "ap_3"]
    assert await ids(execution="ex_2") == ["ap_2"]
    assert await ids(kinds=("approval", "input")) == ["ap_0", "ap_1", "ap_2"]
    await journal.decide([Decision("ap_0", "d1", "approved", "eve")])
    assert await ids() == ["ap_1", "ap_2", "ap_3"]
    assert (await journal.waiting())[0].arguments == {"id": 7}


async def test_a_list_leaves_out_what_is_large_and_says_so(journal: Journal) -> None:
    large = question("ap_1", tool='gym."x"', arguments={"text": "\u00e9" * 100_000, "tool": "other"})
    given = new("ex_1", code="# " + "x" * 50_000, role='r"\u00e9', settings={"label": "Ann"})
    await journal.pause(await journal.create(given), [large], {})
    (call,) = await journal.waiting()
    assert (call.id, call.path, call.tool, call.digest, dict(call.arguments)) == ("ap_1", "3", 'gym."x"', "d1", {})
    assert call.omitted > 600_000
    (whole,) = await journal.pending(question="ap_1")
    assert (whole.omitted, whole.arguments) == (0, large.arguments)
    (listed,) = await journal.list()
    assert (listed.request.id, listed.request.owner, listed.request.role, listed.request.code) == (
        "ex_1",
        "ann",
        'r"\u00e9',
        "",
    )
    assert (await journal.heads(["ex_1", "ex_9"])).keys() == {"ex_1"}
    assert (await journal.get("ex_1")).request == given


async def test_what_waits_too_long_for_a_person_expires_and_says_so(store: Store, journal: Journal) -> None:
    await paused(journal)
    pruned = await (await store.server(expire_s=0)).prune(FOREVER)
    assert (pruned.expired, pruned.removed) == (("ex_1",), 0)
    stored = await journal.get("ex_1")
    assert (stored.status, stored.ended_us > 0) == ("expired", True)
    assert [entry.kind for entry in await journal.read("ex_1")] == ["expired"]
    assert await journal.pending() == ()
    with pytest.raises(ApprovalRefused, match="its execution is expired, not paused"):
        await journal.decide([Decision("ap_1", "d1", "approved", "eve")])
    with pytest.raises(ExecutionEnded):
        await journal.claim("ex_1")
    assert (await journal.prune(replace(FOREVER, age_s=0))).removed == 1


async def test_an_answer_starts_the_time_anew_that_an_execution_may_wait(journal: Journal) -> None:
    await paused(journal)
    before = (await journal.get("ex_1")).updated_us
    await journal.decide([Decision("ap_1", "d1", "approved", "eve")])
    assert (await journal.get("ex_1")).updated_us > before


async def test_another_key_is_refused_and_the_same_digests_alike_everywhere(store: Store) -> None:
    one, other = await store.server(), await store.server()
    assert one.digest({"b": 1, "a": [1.0, None]}) == other.digest({"a": [1.0, None], "b": 1})
    with pytest.raises(
        ConfigurationError, match="was created with another key: all servers that share it need the same"
    ):
        await store.server(key=DigestKey(b"another"))


async def test_what_survives_a_power_cut_is_written_the_same(store: Store) -> None:
    journal = await store.server(durability="power")
    lease = await journal.create(new())
    appends = (journal.append(lease, [JournalEntry("started", f"{n}")]) for n in range(30))
    assert await asyncio.gather(*appends) == list(range(1, 31))
    assert [entry.path for entry in await journal.read("ex_1")] == [f"{n}" for n in range(30)]


async def test_a_journal_is_closed_once_all_is_written(store: Store) -> None:
    journal, other = await store.server(), await store.server()
    lease = await journal.create(new())
    writing = asyncio.create_task(journal.append(lease, [JournalEntry("started", "1")]))
    await asyncio.sleep(0)
    await journal.aclose()
    assert await writing == 1
    assert len(await other.read("ex_1")) == 1
