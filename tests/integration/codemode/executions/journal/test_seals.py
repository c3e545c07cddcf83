"""Rows edited by hand, on each database: they are reported as damaged and have no effect."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError, ExecutionNotFound, JournalDamaged
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.migrations import migrations
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sql.rows import given_text
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import Decision, JournalEntry, Lease, PendingCall, Retention
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database
from tests.integration.codemode.executions.journal.edits import edited
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from codemode.executions.journal.base import Journal
    from tests.integration.codemode.executions.journal.conftest import Store

    Edit = Callable[[str], Awaitable[None]]

QUESTION = PendingCall("ap_1", "ex_1", "3", "bank.pay", {"to": "mallory", "amount": 1_000_000}, "d1", "ask", host="a:1")
YES = Decision("ap_1", "d1", "approved", "ann")


async def begun(journal: Journal, *values: bytes) -> Lease:
    lease = await journal.create(new())
    for number, value in enumerate(values, 1):
        await journal.append(lease, [JournalEntry("ended", f"{number}", {"tool": "bank.pay"}, value)])
    return lease


async def paused(journal: Journal) -> None:
    lease = await begun(journal, b"1")
    await journal.pause(lease, [QUESTION], {"status": "paused"})


SHOWN = """UPDATE questions SET asked = replace(asked, 'mallory', 'bob')"""
ELSEWHERE = """UPDATE questions SET asked = replace(asked, 'a:1', 'b:1')"""
DIGEST = "UPDATE questions SET digest = 'd2'"
BY_HAND = (
    """UPDATE questions SET verdict = 'approved', decided_us = 5, answer = '{"by":"eve","note":"","value":null}'"""
)


@pytest.mark.parametrize("statement", [SHOWN, ELSEWHERE, DIGEST])
async def test_what_a_person_is_shown_is_bound_to_what_is_sent(journal: Journal, statement: str) -> None:
    await paused(journal)
    async with edited(journal) as edit:
        await edit(statement)
    (listed,) = await journal.pending()
    assert "question ap_1 of ex_1 is damaged in the journal" in listed.damage
    assert not listed.tool
    with pytest.raises(JournalDamaged, match="question ap_1"):
        await journal.pending(execution="ex_1")
    with pytest.raises(JournalDamaged, match="its seal does not match"):
        await journal.decide([Decision("ap_1", "d2" if statement == DIGEST else "d1", "approved", "ann")])


@pytest.mark.parametrize("statement", [BY_HAND, "UPDATE questions SET verdict = 'rejected'"])
async def test_a_verdict_by_hand_is_damaged(journal: Journal, statement: str) -> None:
    await paused(journal)
    if statement != BY_HAND:
        await journal.decide([YES])
    async with edited(journal) as edit:
        await edit(statement)
    with pytest.raises(JournalDamaged, match="question ap_1"):
        await journal.pending(execution="ex_1", unanswered=False)


async def test_an_answer_of_a_person_verifies(journal: Journal) -> None:
    await paused(journal)
    (answered,) = await journal.decide([YES])
    assert await journal.pending(execution="ex_1", unanswered=False) == (answered,)
    assert (answered.verdict, answered.host, answered.arguments["to"]) == ("approved", "a:1", "mallory")
    assert [entry.kind for entry in await journal.read("ex_1")] == ["ended", "decided"]


LARGE = b"x" * 20_000


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET value = '2' WHERE value = '1'",
        "UPDATE entries SET content = replace(content, 'bank.pay', 'bank.get') WHERE value = '1'",
        "UPDATE entries SET kind = 'started' WHERE value = '1'",
        "UPDATE entries SET seal = NULL WHERE value = '1'",
        "DELETE FROM entries WHERE value = '1'",
        "DELETE FROM blobs",
        'UPDATE contents SET given = replace(given, \'"code":"1"\', \'"code":"2"\')',
    ],
)
async def test_an_entry_that_was_edited_is_damaged(journal: Journal, statement: str) -> None:
    await begun(journal, b"0", b"1", LARGE)
    assert [entry.value for entry in await journal.read("ex_1")] == [b"0", b"1", LARGE]
    async with edited(journal) as edit:
        if isinstance(journal, PostgresJournal):
            statement = statement.replace("value = '2'", r"value = '\x32'").replace("value = '1'", r"value = '\x31'")
        else:
            statement = statement.replace("value = '2'", "value = x'32'").replace("value = '1'", "value = x'31'")
        await edit(statement)
    with pytest.raises(JournalDamaged):
        await journal.get("ex_1")
        await journal.read("ex_1")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE contents SET outcome = replace(outcome, '41', '42')",
        "UPDATE contents SET outcome = NULL",
        "UPDATE executions SET status = 'running'",
        "UPDATE executions SET status = 'paused'",
        "UPDATE executions SET owner = 'eve'",
        "UPDATE contents SET sealed_to = 1",
        "DELETE FROM entries WHERE place = (SELECT max(place) FROM entries)",
    ],
)
async def test_an_end_that_was_edited_is_damaged(journal: Journal, statement: str) -> None:
    lease = await begun(journal, b"0", b"1")
    await journal.finish(lease, "completed", {"status": "completed", "value": 41})
    assert (await journal.get("ex_1")).outcome["value"] == 41
    async with edited(journal) as edit:
        await edit(statement)
    with pytest.raises(JournalDamaged):
        await journal.get("ex_1")


async def test_an_execution_that_goes_on_adds_to_its_chain(store: Store) -> None:
    first, second = await store.server(), await store.server()
    await paused(first)
    await second.decide([YES])
    lease = await second.claim("ex_1")
    await second.append(lease, [JournalEntry("ended", "2", value=b"2"), JournalEntry("ended", "3", value=LARGE)])
    assert (await first.get("ex_1")).status == "running"
    await second.finish(lease, "completed", {"value": 1})
    assert [entry.path for entry in await first.read("ex_1")] == ["1", "3", "2", "3"]
    assert (await first.get("ex_1")).outcome == {"value": 1}


async def test_what_has_expired_can_still_be_looked_at(store: Store, journal: Journal) -> None:
    await paused(journal)
    pruned = await (await store.server(expire_s=0)).prune(Retention(age_s=1e9, count=10))
    assert pruned.expired == ("ex_1",)
    assert (await journal.get("ex_1")).outcome == {"status": "paused"}
    assert [entry.kind for entry in await journal.read("ex_1")] == ["ended", "expired"]


async def test_two_projects_of_one_store_do_not_see_each_other(store: Store) -> None:
    staging = await store.server(project="staging", key=DigestKey(b"of staging"))
    prod = await store.server(project="prod", key=DigestKey(b"of prod"))
    both = await store.server(project="staging", key=DigestKey(b"of staging"))
    await staging.create(new("ex_9", request_key="k", request_digest="d"))
    await prod.create(new("ex_8", request_key="k", request_digest="other"))
    lease = await staging.create(new())
    await staging.pause(lease, [QUESTION], {"status": "paused"})
    assert [one.request.id for one in await prod.list()] == ["ex_8"]
    assert {one.request.id for one in await both.list()} == {"ex_1", "ex_9"}
    assert await prod.pending() == await prod.pending(execution="ex_1", unanswered=False) == ()
    for asked in (prod.get("ex_1"), prod.claim("ex_1")):
        with pytest.raises(ExecutionNotFound):
            await asked
    assert await prod.read("ex_1") == ()
    with pytest.raises(Exception, match="nothing is pending under this id"):
        await prod.decide([YES])
    assert await prod.prune(Retention(age_s=0, count=1)) == await prod.prune(Retention(0, 1))
    async with edited(staging) as edit:
        await edit("UPDATE executions SET lease_until_us = 1, server = '' WHERE id = 'ex_9'")
        assert await prod.orphans() == ()
        assert await both.orphans() == ("ex_9",)
        await edit("UPDATE executions SET project = 'prod', request_key = '' WHERE id = 'ex_9'")
    with pytest.raises(JournalDamaged):
        await prod.get("ex_9")
    assert len(await both.decide([YES])) == 1
    with pytest.raises(ConfigurationError, match="was created with another key"):
        await store.server(project="prod", key=DigestKey(b"of staging"))


async def test_what_an_earlier_version_recorded_is_taken_over_and_what_was_open_has_expired(store: Store) -> None:
    before = await store.server()
    lease = await begun(before, b"0")
    await before.finish(lease, "completed", {"value": 41})
    await before.create(new("ex_2"))
    async with edited(before) as edit:
        await edit("UPDATE journal_key SET project = '', sealed_from = 0, seal = NULL")
        await edit("UPDATE contents SET seal = NULL, outcome_seal = NULL WHERE execution = 'ex_1'")
        await edit("UPDATE contents SET seal = NULL, outcome_seal = NULL WHERE execution = 'ex_2'")
        await edit("UPDATE entries SET seal = NULL")
        now = await store.server(project="staging")
        assert {(one.request.id, one.status) for one in await now.list()} == {
            ("ex_1", "completed"),
            ("ex_2", "expired"),
        }
        assert (await now.get("ex_1")).outcome == {"value": 41}
        assert [entry.value for entry in await now.read("ex_1")] == [b"0"]
        await now.create(new("ex_3"))
        again = await store.server(project="staging")
        assert len(await again.list()) == 3
        assert await (await store.server(project="prod")).list() == ()
        await edit("UPDATE executions SET status = 'paused' WHERE id = 'ex_2'")
        with pytest.raises(JournalDamaged, match="it is from an earlier version, and has not ended"):
            await again.get("ex_2")
        await edit("UPDATE journal_key SET sealed_from = 1000 WHERE project = 'staging'")
    with pytest.raises(ConfigurationError, match="was edited by hand"):
        await store.server(project="staging")


async def test_a_file_of_the_first_version_is_brought_to_this_one(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite3"
    with closing(sqlite3.connect(file)) as old, old:
        for statement in migrations("sqlite")[0].statements:
            old.execute(statement)
        old.execute("PRAGMA user_version = 1")
        old.execute("INSERT INTO journal_key VALUES (?)", (KEY.fingerprint,))
        row = ("ex_1", "ann", "", "", "completed", "", 0, 1, 1, 1, 2)
        old.execute(f"INSERT INTO executions VALUES (1, {', '.join('?' * len(row))})", row)  # noqa: S608 -- places
        old.execute("INSERT INTO contents VALUES ('ex_1', ?, ?)", (given_text(new()), '{"value":41}'))
        old.execute("INSERT INTO entries VALUES (?, 'printed', 1, ?, NULL)", ((1 << 32) + 1, '["",{"text":"x"}]'))
    journal = SqliteJournal(file, KEY, lease_s=60, project="staging")
    await journal.open()
    try:
        (listed,) = await journal.list()
        assert (listed.request, listed.status, listed.damage) == (new(), "completed", "")
        assert (await journal.get("ex_1")).outcome == {"value": 41}
        assert [entry.data for entry in await journal.read("ex_1")] == [{"text": "x"}]
    finally:
        await journal.aclose()


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_a_million_for_mallory_is_not_sent_under_five_for_bob(
    here: Place, request: pytest.FixtureRequest, database: str
) -> None:
    url = await new_database(request.getfixturevalue("postgres")) if database == "postgres" else None
    (here.folder / "key").write_text("the key of all", encoding="utf-8")
    journal_key = {"file": str(here.folder / "key")}
    async with here.service(journal={"url": url, "key": journal_key, "enabled": True}) as service:
        outcome = await service.execute("up.x.drop(n=1000000)", caller=OWNER)
        assert outcome.status == "paused"
        journal = service.executions._journal
        async with edited(journal) as edit:
            await edit("UPDATE questions SET asked = replace(asked, '1000000', '5')")
            (asked,) = await service.executions.approvals(APPROVER)
            assert asked.damage
            with pytest.raises(JournalDamaged):
                await service.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
            await edit("UPDATE questions SET asked = replace(asked, ':5}', ':1000000}')")
            await edit(BY_HAND)
            with pytest.raises(JournalDamaged):
                await service.executions.resume(outcome.id, OWNER)
    assert here.upstream.seen == []


def test_keys_of_seals_and_of_digests_differ() -> None:
    assert KEY.for_seals.hex() not in (KEY.fingerprint, KEY.digest(None))
