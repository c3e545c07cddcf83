# ruff: noqa: S311 - random numbers are seeded
"""Recording of a run, comparison in a replay, and damaged journals."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.observed import ObservedShapes
from codemode.errors import ExecutionEnded, JournalDamaged, NondeterminismError
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.seals import Seals
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.run.assembly import recorded_run
from codemode.executions.run.replay.recording import ExecutionRecording
from codemode.executions.types.record import Record
from codemode.executions.types.records import Decision, NewExecution
from codemode.features.rollback.rollback import Rollbacks
from codemode.gateway.gateway import Gateway
from codemode.gateway.policy import AccessPolicy
from codemode.service import CodeMode
from codemode.settings import PolicySettings, Settings
from codemode.shared.callbacks import ignore
from codemode.shared.files import FileValue
from codemode.sources.functions.callables import tool
from sandbox import Delivery
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place
from tests.unit.sandbox.host.parallel_programs import program

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.records import StoredExecution


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def paused(here: Place, code: str) -> str:
    """Run to the first call that needs a person, approve it, and return the id."""
    async with here.service() as service:
        outcome = await service.execute(code, caller=OWNER)
        assert outcome.status == "paused"
        await service.executions.decide(
            [Decision(p.id, p.digest, "approved", by="") for p in outcome.pending], APPROVER
        )
    return outcome.id


async def resumed(here: Place, execution: str) -> StoredExecution:
    async with here.service() as service:
        await service.executions.resume(execution, OWNER)
        return await service.executions.wait(execution, OWNER, 30)


def change(here: Place, statement: str, *values: Any) -> None:
    """Write to the journal file behind the journal's back."""
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file, file:
        assert file.execute(statement, values).rowcount == 1


def replace_code(here: Place, execution: str, old: str, new: str) -> None:
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file:
        (given,) = file.execute("SELECT given FROM contents WHERE execution = ?", (execution,)).fetchone()
    changed = json.loads(given)
    assert old in changed["code"]
    changed["code"] = changed["code"].replace(old, new)
    change(here, "UPDATE contents SET given = ? WHERE execution = ?", json.dumps(changed), execution)
    seal_again(here, execution)


def seal_again(here: Place, execution: str) -> None:
    """Seal the current rows of a paused execution, as an attacker with the key could."""
    state = here.folder / "state"
    with closing(sqlite3.connect(state / "journal.sqlite3")) as file, file:
        row = "SELECT number, project, owner, request_key, request_digest, given FROM executions"
        given = file.execute(f"{row} JOIN contents ON execution = id WHERE id = ?", (execution,)).fetchone()
        seals = Seals(DigestKey.of_file(state / "journal.key"), given[1])
        seal = seals.seal(b"given", *given)
        file.execute("UPDATE contents SET seal = ? WHERE execution = ?", (seal, execution))
        whole = "SELECT place, place & 4294967295, kind, content, coalesce(entries.value, blobs.value) FROM entries"
        sealed = {0: seal}
        for place, number, *line in file.execute(f"{whole} LEFT JOIN blobs USING (place) ORDER BY place").fetchall():
            seal = sealed[number] = seals.entry(seal, number, tuple(line))
            file.execute("UPDATE entries SET seal = ? WHERE place = ?", (seal, place))
        ended = "SELECT outcome, sealed_to FROM contents WHERE execution = ?"
        outcome, number = file.execute(ended, (execution,)).fetchone()
        last = seals.outcome(execution, number, sealed[number], "paused", outcome)
        file.execute("UPDATE contents SET outcome_seal = ? WHERE execution = ?", (last, execution))


PROGRAM = "a = up.x.get(n=1)\nb = up.x.post(n=2)\nup.x.drop(n=3)"


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("n=2", "n=7", "call 2 was up.x.post(n=2), and now is up.x.post(n=7) at 2"),
        ("up.x.get", "up.x.post", "call 1 was up.x.get(n=1), and now is up.x.post(n=1) at 1"),
        ("b = up.x.post(n=2)\n", "", "call 2 was up.x.post(n=2), and now is up.x.drop(n=3) at 2"),
        ("b = up.x.post(n=2)\nup.x.drop(n=3)", "1", "call 2, up.x.post(n=2), was recorded and not made this time"),
        (
            "a = ",
            "up.x.secret(word='topsecret')\na = ",
            "call 1 was up.x.get(n=1), and now is up.x.secret(word='[secret ",
        ),
    ],
)
async def test_a_program_that_is_not_the_recorded_one_does_nothing(
    here: Place, old: str, new: str, difference: str
) -> None:
    execution = await paused(here, PROGRAM)
    replace_code(here, execution, old, new)
    stored = await resumed(here, execution)
    assert (stored.status, stored.outcome["failure"]["type"]) == ("failed", NondeterminismError.__name__)
    assert difference in stored.outcome["failure"]["message"]
    assert "topsecret" not in json.dumps(stored.outcome)
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2"]


async def test_a_program_may_have_a_failure_of_the_name_that_is_ours(here: Place) -> None:
    execution = await paused(here, PROGRAM)
    replace_code(
        here, execution, PROGRAM, "class NondeterminismError(Exception): pass\nraise NondeterminismError('mine')"
    )
    stored = await resumed(here, execution)
    assert "call 1, up.x.get(n=1), was recorded and not made this time" in stored.outcome["failure"]["message"]


CALL = "UPDATE entries SET content = ? WHERE rowid = (SELECT min(rowid) FROM entries WHERE kind = 'started')"
ANSWER = "UPDATE entries SET value = ? WHERE rowid = (SELECT min(rowid) FROM entries WHERE kind = 'delivered')"


@pytest.mark.parametrize(
    ("statement", "value", "says"),
    [
        (CALL, '{"path":"1","data":{}}', "entry 1 of ex_"),
        (CALL, '["1",{}]', "entry 1 of ex_"),
        (CALL, '["1",[]]', "entry 1 of ex_"),
        (CALL, "[1,{}]", "entry 1 of ex_"),
        (CALL, "[]", "entry 1 of ex_"),
        (CALL, '["1",{"call":Infinity}]', "entry 1 of ex_"),
        (
            CALL.replace("'started'", "'delivered'"),
            '["1",{"call":1,"now":1,"marks":[],"error":true}]',
            "entry 2 of ex_",
        ),
        (ANSWER, b"[" * 100_000, "entry 2 of ex_"),
        (ANSWER, b"{", "entry 2 of ex_"),
        (ANSWER, None, "entry 2 of ex_"),
    ],
)
async def test_a_damaged_journal_is_an_error_that_names_the_entry(
    here: Place, statement: str, value: object, says: str
) -> None:
    execution = await paused(here, PROGRAM)
    change(here, statement, value)
    async with here.service() as service:
        with pytest.raises(JournalDamaged, match=says):
            await service.executions.resume(execution, OWNER)
        assert (await service.executions.get(execution, OWNER)).status == "paused"
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2"]


@pytest.mark.parametrize("entry", [1, 3, 4])
async def test_an_entry_that_is_missing_is_named_and_nothing_is_done_again(here: Place, entry: int) -> None:
    execution = await paused(here, PROGRAM)
    change(here, "DELETE FROM entries WHERE place & 4294967295 = ?", entry)
    async with here.service() as service:
        with pytest.raises(JournalDamaged, match="its seal does not match"):
            await service.executions.resume(execution, OWNER)
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2"]


async def test_entries_that_are_missing_at_the_end_are_known_by_the_seal_of_the_outcome(here: Place) -> None:
    execution = await paused(here, PROGRAM)
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file, file:
        file.execute("DELETE FROM entries WHERE place & 4294967295 > 2")
    async with here.service() as service:
        cut = pytest.raises(JournalDamaged, match=r"the outcome of .* its seal does not match")
        with cut:
            await service.executions.resume(execution, OWNER)
        with cut:
            await service.execute(PROGRAM, caller=OWNER, resume_from=execution)
        with cut:
            await service.part(Rollbacks).start(execution, OWNER)
        with cut:
            await service.executions.record(execution, OWNER)
        change(here, "UPDATE executions SET status = 'running'")
        assert await service.executions.recover() == ()
        with pytest.raises(ExecutionEnded, match="crashed"):
            await service.executions.resume(execution, OWNER)
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "ex_of_another"), ("id", 1), ("seed", "x"), ("seed", 1), ("code", None), ("settings", [])],
)
async def test_what_was_given_is_that_of_the_execution(here: Place, field: str, value: object) -> None:
    """Otherwise the program would start anew under another id."""
    other, execution = await paused(here, PROGRAM), await paused(here, PROGRAM)
    here.upstream.seen.clear()
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file:
        (given,) = file.execute("SELECT given FROM contents WHERE execution = ?", (execution,)).fetchone()
    changed = json.dumps({**json.loads(given), field: value})
    change(here, "UPDATE contents SET given = ? WHERE execution = ?", changed, execution)
    async with here.service() as service:
        with pytest.raises(JournalDamaged, match="the request of ex_"):
            await service.executions.resume(execution, OWNER)
        damaged, whole = await service.executions.list(OWNER)
    assert (damaged.request.id, damaged.request.owner, damaged.status) == (execution, OWNER.id, "paused")
    assert f"the request of {execution} is damaged in the journal" in damaged.damage
    assert (whole.request.id, whole.request.code, whole.damage) == (other, PROGRAM, "")
    assert here.upstream.seen == []


@pytest.mark.parametrize("outcome", ["{", "[]"])
async def test_an_outcome_that_is_damaged_is_named(here: Place, outcome: str) -> None:
    execution = await paused(here, PROGRAM)
    change(here, "UPDATE contents SET outcome = ?", outcome)
    async with here.service() as service:
        with pytest.raises(JournalDamaged, match="the outcome of ex_"):
            await service.executions.get(execution, OWNER)


@pytest.mark.parametrize("asked", ["{", "[]"])
async def test_an_answer_that_is_damaged_ends_its_execution(here: Place, asked: str) -> None:
    execution = await paused(here, PROGRAM)
    change(here, "UPDATE questions SET asked = ?", asked)
    async with here.service() as service:
        with pytest.raises(JournalDamaged, match=r"question ap_[0-9a-f]* of ex_"):
            await service.executions.resume(execution, OWNER)
        assert (await service.executions.get(execution, OWNER)).status == "crashed"


async def test_a_question_that_is_damaged_hides_no_other(here: Place) -> None:
    async with here.service() as service:
        for number in range(2):  # equal programs that wait would be one
            assert (await service.execute(f"{PROGRAM}\n# {number}", caller=OWNER)).status == "paused"
        change(here, "UPDATE questions SET asked = '[]' WHERE rowid = 1")
        for caller in (OWNER, APPROVER):
            damaged, whole = await service.executions.approvals(caller)
            assert f"question {damaged.id} of {damaged.execution} is damaged in the journal" in damaged.damage
            assert (whole.tool, whole.damage) == ("up.x.drop", "")
        with pytest.raises(JournalDamaged, match=damaged.id):
            await service.executions.decide([Decision(damaged.id, damaged.digest, "approved", "")], APPROVER)
        change(here, "UPDATE contents SET given = '{}' WHERE execution = ?", damaged.execution)
        assert await service.executions.approvals(OWNER) == (damaged, whole)


async def test_nobody_takes_up_an_orphan_that_is_damaged(here: Place, caplog: pytest.LogCaptureFixture) -> None:
    """It is reported once, and ends."""
    execution = await paused(here, PROGRAM)
    change(here, "UPDATE contents SET given = '{}'")
    change(here, "UPDATE executions SET status = 'running'")
    async with here.service() as service:
        assert await service.executions.orphans() == (execution,)
        assert await service.executions.recover() == ()
        assert await service.executions.orphans() == ()
    assert [record.getMessage() for record in caplog.records] == [f"{execution} could not be recovered"]
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file:
        assert file.execute("SELECT status FROM executions").fetchall() == [("crashed",)]


async def test_an_orphan_that_cannot_be_taken_up_keeps_no_other(here: Place, caplog: pytest.LogCaptureFixture) -> None:
    ids = [await paused(here, PROGRAM) for _ in range(2)]
    for execution in ids:
        change(here, "UPDATE executions SET status = 'running' WHERE id = ?", execution)

    def role_of(given: NewExecution) -> str:
        if given.id == ids[0]:
            raise ZeroDivisionError("an application's own roles")
        return given.role

    async with here.service() as service:
        service.executions.role_of = role_of
        assert await service.executions.recover() == (ids[1],)
        assert (await service.executions.wait(ids[1], OWNER, 30)).status == "completed"
    assert caplog.records[0].getMessage() == f"{ids[0]} could not be recovered"
    assert "an application's own roles" in caplog.text


async def test_what_is_printed_in_many_pieces_is_written_as_one(tmp_path: Path) -> None:
    """A hostile worker may send each byte by itself."""
    given = NewExecution("ex_1", OWNER.id, OWNER.role, code="", seed=b"", start_us=0)
    journal = SqliteJournal(tmp_path / "journal.sqlite3", DigestKey(b"a key of tests"), lease_s=60)
    await journal.open()
    gateway = Gateway(
        Catalog(()), {}, ObservedShapes(FileValue(tmp_path / "shapes.json")), AccessPolicy(PolicySettings())
    )
    recording = ExecutionRecording(journal, await journal.create(given), given, Record(given.id, ()))
    run = recorded_run(recording, gateway, OWNER, calls_in_flight=1, wall_s=30, watch=ignore).program
    for _ in range(1000):
        run.printed("x")
    await run.deliver([Delivery(0, now=1)])
    written = [(entry.kind, entry.data.get("text", "")) for entry in await journal.read(given.id)]
    await journal.aclose()
    assert written == [("printed", "x" * 1000), ("delivered", "")]


async def test_nothing_is_sent_that_cannot_be_recorded(here: Place) -> None:
    async with here.service() as service:
        await service.execute("up.x.get(n=0)", caller=OWNER)
        file = sqlite3.connect(here.folder / "state" / "journal.sqlite3")
        code = "for n in range(3):\n    up.x.post(n=n)\n    if n == 0: up.x.get(n=9)\n"
        hold = here.upstream.hold("/get")
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(3)
        with closing(file), file:  # as another server does in a takeover
            file.execute("UPDATE executions SET generation = generation + 1 WHERE status = 'running'")
        hold.set()
        outcome = await running
    assert outcome.status == "failed"
    assert outcome.failure is not None
    assert outcome.failure.type == "LeaseLost"
    assert here.upstream.seen == ["GET /get?n=0", "POST /post?n=0", "GET /get?n=9"]


async def test_what_a_program_asked_of_search_is_answered_from_the_record(here: Place) -> None:
    code = "found = search('post something')\nabout = describe('up')\nup.x.drop(n=1)\n[found, about]"
    execution = await paused(here, code)
    stored = await resumed(here, execution)
    assert stored.status == "completed"
    assert "up.x.post" in stored.outcome["value"][0]
    assert [call["tool"] for call in stored.outcome["calls"]] == ["up.x.drop"]
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as file:
        kinds = Counter(kind for (kind,) in file.execute("SELECT kind FROM entries"))
    assert kinds["delivered"] == 3


@pytest.mark.parametrize(
    "call", ["search('post', 'drop it')", "search(['post', 'drop it'])", "search('post', ['drop it'])"]
)
async def test_a_program_may_search_for_several_things(here: Place, call: str) -> None:
    async with here.service() as service:
        found = (await service.execute(call)).value
    assert "# 'post'" in found
    assert "# 'drop it'" in found


async def test_pages_of_a_list_are_walked_on_from_where_a_person_was_asked(here: Place) -> None:
    policy = {"policy": {"rules": [{"tools": "up.x.list", "where": {"offset": 2}, "decision": "ask"}]}}
    async with here.service(**policy) as service:
        outcome = await service.execute("[len(up.x.list.items()), up.x.list.items(limit=1)]", caller=OWNER)
        assert [(each.path, each.arguments) for each in outcome.pending] == [("1/2", {"offset": 2})]
        decisions = [Decision(each.id, each.digest, "approved", by="") for each in outcome.pending]
        await service.executions.decide(decisions, APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await service.executions.wait(outcome.id, OWNER, 30)
    assert (stored.status, stored.outcome["value"]) == ("completed", [5, [0]])
    pages = ["GET /list", *(f"GET /list?offset={offset}" for offset in (2, 4))]  # they state the total
    assert here.upstream.seen == [*pages, "GET /list"]
    assert [call["path"] for call in stored.outcome["calls"]] == ["1/1", "1/2", "1/3", "2/1"]


async def test_quotas_count_what_was_done_before_the_pause(here: Place) -> None:
    policy = {"policy": {"quotas": [{"tools": "up.x.post", "calls": 2}]}}
    async with here.service(**policy) as service:
        outcome = await service.execute(
            "for n in range(2):\n    up.x.post(n=n)\nup.x.drop(n=1)\nup.x.post(n=3)", caller=OWNER
        )
        decisions = [Decision(each.id, each.digest, "approved", by="") for each in outcome.pending]
        await service.executions.decide(decisions, APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await service.executions.wait(outcome.id, OWNER, 30)
    assert (stored.status, stored.outcome["calls"][-1]["state"]) == ("failed", "denied")


@pytest.mark.parametrize("seed", range(6))
async def test_random_parallel_programs_are_approved_call_by_call_and_do_nothing_twice(
    tmp_path: Path, seed: int
) -> None:
    """Calls with `d=2` or `i=1` wait for a person. A different service ends each pause."""
    made: Counter[str] = Counter()

    @tool(effect="write")
    def get(
        n: Any = None,
        d: Any = None,
        i: Any = None,
        mark: Any = None,
        day: Any = None,
        late: Any = None,
        after: Any = None,
        name: Any = None,
    ) -> dict[str, Any]:
        given = {"n": n, "d": d, "i": i, "mark": mark, "day": day, "late": late, "after": after, "name": name}
        made[json.dumps({key: value for key, value in given.items() if value is not None}, sort_keys=True)] += 1
        return {"n": random.random()}

    asks = [{"tools": "ns.get", "where": {name: value}, "decision": "ask"} for name, value in (("d", 2), ("i", 1))]
    settings = Settings.model_validate({"state_folder": str(tmp_path), "policy": {"rules": asks}})
    execution = ""
    for pauses in range(60):
        async with CodeMode.from_settings(settings, functions={"ns": [get]}) as service:
            if not execution:
                execution = (await service.execute(program(seed), caller=OWNER)).id
            else:
                await service.executions.resume(execution, OWNER)
            stored = await service.executions.wait(execution, OWNER, 60)
            if stored.status != "paused":
                break
            waiting = await service.executions.approvals(APPROVER)
            some = random.Random(f"{seed} {pauses}").sample(waiting, k=(len(waiting) + 1) // 2)
            await service.executions.decide([Decision(p.id, p.digest, "approved", by="") for p in some], APPROVER)
    assert stored.status == "completed", stored.outcome["failure"]
    known = Counter(shown(call) for call in stored.outcome["calls"] if call["state"] == "committed")
    unknown = Counter(shown(call) for call in stored.outcome["calls"] if call["state"] == "unknown")
    assert known <= made <= known + unknown  # a time-out may cancel a call before it was sent


def shown(call: dict[str, Any]) -> str:
    return json.dumps(call["arguments"], sort_keys=True)
