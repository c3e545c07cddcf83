"""Executions: pause, continue in another process, repair, cancel and read."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import (
    ApprovalRefused,
    ExecutionChanged,
    ExecutionEnded,
    ExecutionNotFound,
    ExecutionWaiting,
    LeaseHeld,
)
from codemode.executions.journal.configured import journal_of
from codemode.executions.life.programs import Request
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import Decision, Retention
from codemode.settings import Secrets
from tests.integration.codemode.executions.upstream import APPROVER, OTHER, OWNER, Place, place
from tests.unit.sandbox.host.given_up import GivenUp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.records import StoredExecution, Verdict
    from codemode.service import CodeMode


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


def verdict_on(outcome: ExecutionOutcome, verdict: Verdict = "approved", **fields: Any) -> list[Decision]:
    return [Decision(each.id, each.digest, verdict, by="", **fields) for each in outcome.pending]


async def ended(service: CodeMode, execution: str) -> StoredExecution:
    stored = await service.executions.wait(execution, OWNER, 30)
    assert stored.status != "running"
    return stored


PARALLEL = """
import asyncio, random, time, uuid
from concurrent.futures import ThreadPoolExecutor
def job(n):
    return [up.x.get(n=n), up.x.post(n=random.randrange(1000))]
async def dropped(n):
    try:
        return await up.x.drop(n=n)
    except ToolRejected as error:
        return error.reason
async def both(n):
    seen = await asyncio.to_thread(job, n)
    return [seen, await dropped(n), random.randrange(10**9), str(uuid.uuid4())]
started = time.time()
before = up.x.post(n=7)
first = await asyncio.gather(*[both(n) for n in (1, 2)])
with ThreadPoolExecutor(3) as pool:
    second = list(pool.map(job, (3, 4, 5)))
[before, first, second, time.time() >= started]
"""


async def approved_to_its_end(here: Place, execution: str) -> StoredExecution:
    """Approve all pending calls, each time through another service, until there are none."""
    while True:
        async with here.service() as service:
            waiting = await service.executions.approvals(APPROVER, execution)
            decisions = [Decision(each.id, each.digest, "approved", by="") for each in waiting]
            await service.executions.decide(decisions, APPROVER)
            await service.executions.resume(execution, OWNER)
            stored = await ended(service, execution)
        if stored.status != "paused":
            return stored


async def test_a_program_with_parallel_calls_goes_on_in_another_process_after_approval(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(PARALLEL, caller=OWNER)
    assert (outcome.status, outcome.pending[0].tool) == ("paused", "up.x.drop")
    assert "destructive" in outcome.pending[0].reason
    assert outcome.failure is not None
    assert outcome.failure.type == "ApprovalRequired"
    stored = await approved_to_its_end(here, outcome.id)
    assert stored.status == "completed"
    assert Counter(seen.partition("?")[0] for seen in here.upstream.seen) == {
        "POST /post": 6,
        "GET /get": 5,
        "DELETE /drop": 2,
    }
    calls = stored.outcome["calls"]
    assert {call["state"] for call in calls} == {"committed", "read"}
    assert len(calls) == len(here.upstream.seen)
    assert stored.outcome["value"][0]["count"] == 1


TWO = """
import asyncio
async def dropped(n):
    try:
        return (await up.x.drop(n=n))["n"]
    except ToolRejected as error:
        return error.reason
before = up.x.post(n=7)["count"]
[before, await asyncio.gather(dropped(1), dropped(2))]
"""


async def test_a_second_answer_to_a_call_is_told_who_gave_the_first(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute("up.x.drop(n=1)", caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        with pytest.raises(ApprovalRefused, match="it was already answered: approved by key-3"):
            await service.executions.decide(verdict_on(outcome, "rejected"), APPROVER)


async def test_one_of_two_may_be_approved_and_the_other_rejected_with_a_reason(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(TWO, caller=OWNER)
        one, two = outcome.pending
        assert (one.arguments, two.arguments) == ({"n": 1}, {"n": 2})
        await service.executions.decide([Decision(one.id, one.digest, "approved", by="")], APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await ended(service, outcome.id)
        assert stored.status == "paused"
        assert [each["id"] for each in stored.outcome["pending"]] == [two.id]
        assert [call["state"] for call in stored.outcome["calls"]] == ["committed", "committed", "pending"]
        rejection = Decision(two.id, two.digest, "rejected", by="", note="not on a Friday")
        await service.executions.decide([rejection], APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await ended(service, outcome.id)
    assert (stored.status, stored.outcome["value"]) == ("completed", [1, ["1", "not on a Friday"]])
    assert [call["state"] for call in stored.outcome["calls"]] == ["committed", "committed", "rejected"]
    assert here.upstream.seen == ["POST /post?n=7", "DELETE /drop?n=1"]


async def test_what_was_done_before_is_in_the_outcome_of_an_execution_that_ends_before_it_comes_to_it(
    here: Place,
) -> None:
    async with here.service() as service:
        outcome = await service.execute(TWO, caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await service.executions.cancel(outcome.id, OWNER)
    assert stored.status == "cancelled"
    assert ("up.x.post", "committed") in [(call["tool"], call["state"]) for call in stored.outcome["calls"]]


async def test_whoever_gives_up_at_any_moment_leaves_nothing_that_would_be_run_later(here: Place) -> None:
    async with here.service() as service:
        await service.execute("1", caller=OWNER)
        at, given_up = 1, True
        while given_up:
            given_up = await GivenUp(service.execute("up.x.post(n=1)", caller=OWNER), at).end()
            (newest,) = await service.executions.list(OWNER, limit=1)
            assert newest.status in ("cancelled", "completed")
            at += 1
        assert at > 3


async def test_what_was_given_up_comes_to_its_end_before_the_service_is_closed(here: Place) -> None:
    """This also holds if the caller does not wait: a cancelled scope interrupts every wait in it."""
    here.upstream.hold("/get")
    async with here.service() as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        while not running.done():
            running.cancel()
            await asyncio.sleep(0)
    async with here.service() as service:
        assert [stored.status for stored in await service.executions.list(OWNER)] == ["cancelled"]


async def test_a_program_stands_still_while_a_person_is_asked(here: Place) -> None:
    """Its time-outs do not run, and answers to calls in flight are delivered when it continues."""
    hold = here.upstream.hold("/post")
    code = (
        "import asyncio, time\nstarted = time.time()\nasync def main():\n    return await asyncio.gather("
        "up.x.post(n=1), asyncio.wait_for(up.x.drop(n=2), 2))\nr = await main()\n[r[0]['n'], r[1]['n']]"
    )
    async with here.service() as service:
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(1)
        await asyncio.sleep(2.2)  # longer than the program would wait
        hold.set()
        outcome = await running
        assert [(call.tool, call.state) for call in outcome.calls] == [
            ("up.x.post", "committed"),
            ("up.x.drop", "pending"),
        ]
    stored = await approved_to_its_end(here, outcome.id)
    assert (stored.status, stored.outcome["value"]) == ("completed", ["1", "2"])
    assert here.upstream.seen == ["POST /post?n=1", "DELETE /drop?n=2"]


async def test_a_program_that_gives_up_on_a_call_before_a_person_is_asked_goes_on(here: Place) -> None:
    hold = here.upstream.hold("/post")
    code = (
        "import asyncio\nasync def main():\n    slow = asyncio.create_task(up.x.post(n=1))\n"
        "    drop = asyncio.create_task(up.x.drop(n=2))\n    await asyncio.sleep(0)\n    drop.cancel()\n"
        "    return (await slow)['n'], (await up.x.get(n=3))['n']\nawait main()"
    )
    async with here.service() as service:
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(1)
        hold.set()
        outcome = await running
    assert (outcome.status, outcome.value) == ("completed", ["1", "3"])
    assert "pending" not in {str(call.state) for call in outcome.calls}


async def test_answers_that_cannot_be_taken_are_refused(here: Place) -> None:
    async with here.service() as service:
        one = await service.execute("up.x.drop(n=1)", caller=OWNER)
        two = await service.execute("up.x.drop(n=2)", caller=OWNER)
        decide = service.executions.decide
        good, other = verdict_on(one)[0], verdict_on(two)[0]
        for who, says in ((OWNER, "only the roles approver may decide"), (OTHER, "only the roles approver may decide")):
            with pytest.raises(ApprovalRefused, match=says):
                await decide([good], who)
        with pytest.raises(ApprovalRefused, match="of the same key"):
            await decide([good], type(APPROVER)(OWNER.id, "approver"))
        swapped = Decision(good.id, other.digest, "approved", by="")
        altered = Decision(good.id, good.digest[:-1] + "x", "approved", by="")
        invented = Decision("ap_none", good.digest, "approved", by="")
        for wrong in (swapped, altered, invented):
            with pytest.raises(ApprovalRefused):
                await decide([other, wrong], APPROVER)
        assert len(await service.executions.approvals(APPROVER)) == 2  # all or none
        await decide([good], APPROVER)
        with pytest.raises(ApprovalRefused):
            await decide([good], APPROVER)  # repeated
        with pytest.raises(ExecutionWaiting, match=other.id):
            await service.executions.resume(two.id, OWNER)
        await service.executions.resume(one.id, OWNER)
        await ended(service, one.id)
        with pytest.raises(ExecutionEnded):
            await service.executions.resume(one.id, OWNER)
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_the_approval_of_one_call_is_none_of_another(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute("up.x.drop(n=1)\nup.x.drop(n=1)\nup.x.drop(n=2)", caller=OWNER)
        for done in (1, 2, 3):
            assert [each.verdict for each in await service.executions.approvals(APPROVER)] == [None]
            await service.executions.decide(verdict_on(outcome), APPROVER)
            await service.executions.resume(outcome.id, APPROVER)
            stored = await ended(service, outcome.id)
            assert len(here.upstream.seen) == done
            if done < 3:
                pending = await service.executions.approvals(APPROVER)
                outcome = replace(ExecutionOutcome.from_json(stored.outcome), pending=pending)
    assert stored.status == "completed"


async def test_of_two_resumes_at_once_one_wins_and_nothing_is_done_twice(here: Place) -> None:
    async with here.service() as service, here.service() as second:
        outcome = await service.execute("up.x.drop(n=1)\nup.x.post(n=2)", caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        hold = here.upstream.hold("/drop")
        tries = [one.executions.resume(outcome.id, OWNER) for one in (service, second, service)]
        results = await asyncio.gather(*tries, return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["LeaseHeld", "LeaseHeld", "NoneType"]
        await here.upstream.wait_for(1)
        with pytest.raises(LeaseHeld):
            await service.executions.resume(outcome.id, OWNER)
        hold.set()
        stored = await ended(service, outcome.id)
    assert stored.status == "completed"
    assert here.upstream.seen == ["DELETE /drop?n=1", "POST /post?n=2"]


async def test_what_has_changed_is_named_and_nothing_is_run(here: Place) -> None:
    from tests.integration.codemode.executions.upstream import document

    async with here.service() as service:
        outcome = await service.execute("up.x.post(n=1)\nup.x.drop(n=1)", caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
    changed = document()
    changed["paths"]["/post"]["post"]["parameters"][0]["schema"]["type"] = "string"
    async with here.service(document=changed, policy={"default": {"read": "deny"}}) as service:
        with pytest.raises(ExecutionChanged) as error:
            await service.executions.resume(outcome.id, OWNER)
        assert error.value.changes == ("the policy has changed", "the definition of up.x.post has changed")
    assert here.upstream.seen == ["POST /post?n=1"]


async def test_credentials_of_the_caller_are_asked_for_again(here: Place) -> None:
    source = {"credentials": [{"kind": "bearer", "token": {"caller": "mine"}, "scheme": "*"}]}
    async with here.service(source=source) as service:
        outcome = await service.execute(
            "up.x.get(n=1)\nup.x.drop(n=1)", caller=OWNER, credentials={"mine": "s3cret-token"}
        )
        await service.executions.decide(verdict_on(outcome), APPROVER)
        with pytest.raises(ExecutionWaiting, match="its caller's credentials again: mine"):
            await service.executions.resume(outcome.id, OWNER)
        await service.executions.resume(outcome.id, OWNER, {"mine": "s3cret-token"})
        assert (await ended(service, outcome.id)).status == "completed"
    files = [file.read_bytes() for file in (here.folder / "state").rglob("*") if file.is_file()]
    assert not any(b"s3cret-token" in data for data in files)


async def test_secret_arguments_are_kept_as_digests(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute("up.x.secret(word='pass' + '-phrase')", caller=OWNER)
        assert outcome.pending[0].arguments["word"].startswith("[secret ")
        assert "pass-phrase" not in str(outcome)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        await ended(service, outcome.id)
    assert here.upstream.seen == ["DELETE /secret?word=pass-phrase"]


async def test_an_execution_of_another_key_does_not_exist(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute("up.x.drop(n=1)", caller=OWNER)
        executions = service.executions
        for attempt in (
            executions.get(outcome.id, OTHER),
            executions.resume(outcome.id, OTHER),
            executions.cancel(outcome.id, OTHER),
            executions.wait(outcome.id, OTHER, 1),
            service.execute("1", caller=OTHER, resume_from=outcome.id),
            service.execute("1", caller=APPROVER, resume_from=outcome.id),
        ):
            with pytest.raises(ExecutionNotFound, match=f"no execution '{outcome.id}'"):
                await attempt
        with pytest.raises(ExecutionNotFound):
            _ = [event async for event in executions.events(outcome.id, OTHER)]
        assert await executions.approvals(OTHER) == ()
        assert await executions.list(OTHER) == ()
        assert [each.request.id for each in await executions.list(OWNER)] == [outcome.id]


async def test_a_repair_costs_only_what_was_not_done(here: Place) -> None:
    here.upstream.broken.add("/secret")
    code = "for n in range(64):\n    (up.x.secret(word='x') if n == 39 else up.x.post(n=n))"
    rule = {"policy": {"default": {"destructive": "allow"}}}
    async with here.service(**rule) as service:
        failed = await service.execute(code, caller=OWNER)
        assert failed.status == "failed"
        assert len(here.upstream.seen) == 40
        mended = code.replace("up.x.secret(word='x')", "up.x.get(n=n)")
        outcome = await service.execute(mended, caller=OWNER, resume_from=failed.id)
    assert outcome.status == "completed"
    assert len(here.upstream.seen) == 40 + 25  # calls 40 to 64
    reused = [call.reused for call in outcome.calls]
    assert reused[:2] == [f"{failed.id} 1", f"{failed.id} 2"]
    assert [bool(text) for text in reused] == [n < 39 for n in range(64)]


async def test_reads_are_made_afresh_after_a_pause_too(here: Place) -> None:
    async with here.service() as service:
        first = await service.execute("a = up.x.get(n=1)\n1 / 0", caller=OWNER)
        second = await service.execute(
            "up.x.drop(n=2)\nup.x.get(n=1)['count']", caller=OWNER, resume_from=first.id, fresh_reads=True
        )
        assert second.status == "paused"
        await service.executions.decide(verdict_on(second), APPROVER)
        await service.executions.resume(second.id, OWNER)
        stored = await ended(service, second.id)
    assert here.upstream.seen == ["GET /get?n=1", "DELETE /drop?n=2", "GET /get?n=1"]
    assert stored.outcome["value"] == 3


async def test_a_repair_is_repaired_and_reads_may_be_made_afresh(here: Place) -> None:
    async with here.service() as service:
        first = await service.execute("a = up.x.get(n=1)\nb = up.x.post(n=2)\n1 / 0", caller=OWNER)
        second = await service.execute(
            "a = up.x.get(n=1)\nb = up.x.post(n=2)\n[a, b][2]", caller=OWNER, resume_from=first.id
        )
        third = await service.execute(
            "[up.x.get(n=1), up.x.post(n=2)]", caller=OWNER, resume_from=second.id, fresh_reads=True
        )
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2", "GET /get?n=1"]
    assert [each["count"] for each in third.value] == [3, 2]


async def test_an_execution_that_pauses_while_it_is_cancelled_ends(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pausing, cancelling = asyncio.Event(), asyncio.Event()
    async with here.service() as service:
        journal = service.executions._journal
        pause = journal.pause

        async def pause_later(*given: Any) -> None:
            pausing.set()
            await cancelling.wait()
            await pause(*given)

        monkeypatch.setattr(journal, "pause", pause_later)
        execution = await service.executions.start(Request("up.x.drop(n=1)"), OWNER)
        await pausing.wait()
        cancelled = asyncio.create_task(service.executions.cancel(execution, OWNER))
        await service.executions._attempts[execution].cancelled.wait()
        cancelling.set()
        assert (await cancelled).status == "cancelled"


async def test_cancelling_tells_calls_in_flight_apart(here: Place) -> None:
    hold = here.upstream.hold("/post")
    async with here.service() as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nup.x.post(n=2)\nup.x.post(n=3)", caller=OWNER))
        await here.upstream.wait_for(2)
        execution = (await service.executions.list(OWNER))[0].request.id
        stored = await service.executions.cancel(execution, OWNER)
        outcome = await running
        assert (stored.status, outcome.status) == ("cancelled", "cancelled")
        assert [str(call.state) for call in outcome.calls] == ["read", "unknown"]
        assert (outcome.usage.calls, outcome.usage.wall_s > 0) == (2, True)
        paused = await service.execute("up.x.drop(n=1)", caller=OWNER)
        assert paused.pending[0].asked_us > 0
        assert (await service.executions.cancel(paused.id, OWNER)).status == "cancelled"
        assert await service.executions.approvals(APPROVER) == ()
    hold.set()


async def test_who_is_asked_no_more_waits_for_nothing(here: Place) -> None:
    """A paused execution that was cancelled or has expired shows its pending calls as not started."""
    async with here.service() as service:
        cancelled, expired = [
            (await service.execute(f"up.x.get(n=1)\nup.x.drop(n={n})", caller=OWNER)).id for n in range(2)
        ]
        shown = await service.executions.cancel(cancelled, OWNER)
        settings = service.settings
    at_once = settings.model_copy(update={"journal": settings.journal.model_copy(update={"expire_s": 0})})
    journal = journal_of(at_once, Secrets())
    assert journal is not None
    await journal.open()
    assert (await journal.prune(Retention(3600, 100))).expired == (expired,)
    await journal.aclose()
    async with here.service() as service:
        for stored in (shown, *[await service.executions.get(each, OWNER) for each in (cancelled, expired)]):
            assert [(call["state"], call["question"]) for call in stored.outcome["calls"]] == [
                ("read", ""),
                ("not started", ""),
            ]
            assert stored.outcome["pending"] == []
            outcome = ExecutionOutcome.from_json(stored.outcome)
            assert [str(call.state) for call in outcome.calls] == ["read", "not started"]


async def test_events_tell_what_happens_and_go_on_after_the_last_one(here: Place) -> None:
    hold = here.upstream.hold("/post")
    async with here.service() as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nprint('got it')\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(2)
        execution = (await service.executions.list(OWNER))[0].request.id
        seen = []
        async for event in service.executions.events(execution, OWNER):
            seen.append((event.type, event.data.get("tool")))
            if len(seen) == 4:
                hold.set()
        await running
        again = [event.sequence async for event in service.executions.events(execution, OWNER, after=1)]
    assert seen == [
        ("call_started", "up.x.get"),
        ("call_ended", "up.x.get"),
        ("output", None),
        ("call_started", "up.x.post"),
        ("call_ended", "up.x.post"),
        ("status", None),
    ]
    assert again == [2, 3, 4, 5, 5]


async def test_output_is_told_once_whatever_runs_again(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(
            "print('a')\nup.x.get(n=1)\nprint('b')\nup.x.drop(n=1)\nprint('c')", caller=OWNER
        )
        assert outcome.output == "a\nb\n"
    stored = await approved_to_its_end(here, outcome.id)
    assert stored.outcome["output"] == "a\nb\nc\n"
    async with here.service() as service:
        told = [event async for event in service.executions.events(outcome.id, OWNER) if event.type == "output"]
    assert "".join(event.data["text"] for event in told) == "a\nb\n"  # the outcome carries the rest


async def crashed(here: Place, code: str, at: int, **sections: Any) -> str:
    """Run a program on a server that dies after this many requests. Return the id."""
    service = here.service(**sections)
    async with service:
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(at)
        execution = (await service.executions.list(OWNER))[0].request.id
        await service.executions.aclose()
        await asyncio.wait((running,))
    return execution


async def test_after_a_crash_a_read_is_sent_again_and_what_was_done_is_not(here: Place) -> None:
    hold = here.upstream.hold("/get")
    execution = await crashed(here, "a = up.x.post(n=1)\nb = up.x.get(n=2)\n[a, b]", 2)
    hold.set()
    async with here.service() as service:
        assert await service.executions.recover() == (execution,)
        stored = await ended(service, execution)
        assert await service.executions.recover() == ()
    assert stored.status == "completed"
    assert here.upstream.seen == ["POST /post?n=1", "GET /get?n=2", "GET /get?n=2"]
    assert [call["state"] for call in stored.outcome["calls"]] == ["committed", "read"]


@pytest.mark.parametrize(
    ("verdict", "fields", "value", "sent"),
    [
        ("committed", {"value": {"n": "by hand"}}, {"n": "by hand"}, 1),
        ("failed", {"note": "it never arrived"}, "up.x.post failed: it never arrived", 1),
        ("send_again", {}, {"n": "1", "count": 2}, 2),
    ],
)
async def test_of_a_write_in_flight_at_a_crash_a_person_says_what_became_of_it(
    here: Place, verdict: Verdict, fields: dict[str, Any], value: Any, sent: int
) -> None:
    hold = here.upstream.hold("/post")
    execution = await crashed(here, "try:\n    r = up.x.post(n=1)\nexcept ToolError as e:\n    r = e.message\nr", 1)
    hold.set()
    async with here.service() as service:
        assert await service.executions.recover() == (execution,)
        stored = await ended(service, execution)
        assert stored.status == "paused"
        assert stored.outcome["failure"]["type"] == "DecisionRequired"
        assert [call["state"] for call in stored.outcome["calls"]] == ["unknown"]
        (question,) = await service.executions.approvals(APPROVER)
        assert (question.kind, question.tool, question.arguments) == ("unknown", "up.x.post", {"n": 1})
        with pytest.raises(ApprovalRefused):
            await service.executions.decide([Decision(question.id, question.digest, "approved", by="")], APPROVER)
        await service.executions.decide([Decision(question.id, question.digest, verdict, by="", **fields)], APPROVER)
        await service.executions.resume(execution, OWNER)
        stored = await ended(service, execution)
    assert (stored.status, stored.outcome["value"]) == ("completed", value)
    assert len(here.upstream.seen) == sent


async def test_a_write_whose_service_takes_a_key_is_sent_again_under_the_same_one(here: Place) -> None:
    hold = here.upstream.hold("/post")
    source = {"source": {"idempotency_header": "Idempotency-Key"}}
    execution = await crashed(here, "up.x.get()\nup.x.post(n=1)", 2, **source)
    hold.set()
    async with here.service(**source) as service:
        await service.executions.recover()
        assert (await ended(service, execution)).status == "completed"
    assert here.upstream.seen == ["GET /get", "POST /post?n=1", "POST /post?n=1"]
    assert here.upstream.keys[0] == ""
    assert len(here.upstream.keys[1]) == 36
    assert here.upstream.keys[1] == here.upstream.keys[2]


async def test_an_approved_call_in_flight_at_a_crash_is_not_approved_for_a_second_time(here: Place) -> None:
    hold = here.upstream.hold("/drop")
    async with here.service() as service:
        outcome = await service.execute("up.x.drop(n=1)", caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        await here.upstream.wait_for(1)
    hold.set()
    async with here.service() as service:
        await service.executions.recover()
        assert (await ended(service, outcome.id)).status == "paused"
        (question,) = await service.executions.approvals(APPROVER)
        assert (question.kind, here.upstream.seen) == ("unknown", ["DELETE /drop?n=1"])


async def test_what_cannot_go_on_by_itself_after_a_crash_pauses_and_says_why(here: Place) -> None:
    hold = here.upstream.hold("/get")
    source = {"source": {"credentials": [{"kind": "bearer", "token": {"caller": "mine"}, "scheme": "*"}]}}
    async with here.service(**source) as service:
        running = asyncio.create_task(
            service.execute("up.x.get(n=1)", caller=OWNER, credentials={"mine": "a-long-token"})
        )
        await here.upstream.wait_for(1)
    await asyncio.wait((running,))
    hold.set()
    async with here.service(**source) as service:
        (execution,) = await service.executions.recover()
        stored = await service.executions.get(execution, OWNER)
        assert stored.status == "paused"
        assert "it needs its caller's credentials: mine" in stored.outcome["notes"][0]
        await service.executions.resume(execution, OWNER, {"mine": "a-long-token"})
        assert (await ended(service, execution)).status == "completed"


async def test_after_a_crash_nothing_goes_on_for_a_key_that_was_revoked_meanwhile(here: Place) -> None:
    hold = here.upstream.hold("/get")
    async with here.service() as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(1)
    await asyncio.wait((running,))
    hold.set()
    async with here.service() as service:
        service.executions.role_of = lambda _: None
        (execution,) = await service.executions.recover()
        stored = await service.executions.get(execution, OWNER)
        assert stored.status == "paused"
        assert "key-1 no longer has access" in stored.outcome["notes"][0]
        await service.executions.resume(execution, OWNER)  # a caller that comes has access
        assert (await ended(service, execution)).status == "completed"


async def test_a_call_that_the_program_gave_up_on_is_not_made_again_after_a_crash(here: Place) -> None:
    here.upstream.hold("/post")
    get, drop = here.upstream.hold("/get"), here.upstream.hold("/drop")
    code = (
        "import asyncio\nslow = asyncio.create_task(up.x.post(n=1))\nawait up.x.get(n=2)\nslow.cancel()\n"
        "await up.x.drop(n=3)"
    )
    sections = {"policy": {"default": {"destructive": "allow"}}, "source": {"idempotency_header": "Idempotency-Key"}}
    async with here.service(**sections) as service:
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(2)
        get.set()
        await here.upstream.wait_for(3)
        execution = (await service.executions.list(OWNER))[0].request.id
    await asyncio.wait((running,))
    drop.set()
    async with here.service(**sections) as service:
        await service.executions.recover()
        stored = await ended(service, execution)
    assert stored.status == "completed"
    assert Counter(here.upstream.seen) == {"POST /post?n=1": 1, "GET /get?n=2": 1, "DELETE /drop?n=3": 2}
    assert {call["tool"]: call["state"] for call in stored.outcome["calls"]} == {
        "up.x.post": "unknown",
        "up.x.get": "read",
        "up.x.drop": "committed",
    }


async def test_a_repair_does_not_send_again_what_may_have_been_done(here: Place) -> None:
    hold = here.upstream.hold("/post")
    async with here.service(source={"idempotency_header": "Idempotency-Key"}) as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(2)
        await service.executions.cancel((await service.executions.list(OWNER))[0].request.id, OWNER)
        first = await running
        hold.set()
        second = await service.execute("up.x.get(n=1)\nup.x.post(n=2)['n']", caller=OWNER, resume_from=first.id)
        assert (second.status, second.pending[0].kind) == ("paused", "unknown")
        await service.executions.decide(verdict_on(second, "send_again"), APPROVER)
        await service.executions.resume(second.id, OWNER)
        stored = await ended(service, second.id)
    assert (stored.status, stored.outcome["value"]) == ("completed", "2")
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2", "POST /post?n=2"]


async def test_what_was_done_and_answered_beyond_use_is_not_done_again_by_a_repair(here: Place) -> None:
    here.upstream.puzzling.add("/post")
    async with here.service() as service:
        first = await service.execute("up.x.post(n=1)", caller=OWNER)
        code = "try:\n    up.x.post(n=1)\nexcept ToolError as error:\n    kind = error.kind\nkind"
        second = await service.execute(code, caller=OWNER, resume_from=first.id)
    assert [call.state for call in (*first.calls, *second.calls)] == ["committed", "committed"]
    assert first.failure is not None
    assert "the service accepted the call, which was done: do not repeat it" in first.failure.message
    assert second.value == "upstream_answer_invalid"
    assert here.upstream.seen == ["POST /post?n=1"]


async def test_an_execution_whose_answers_are_used_up_waits(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(TWO, caller=OWNER)
        one, two = outcome.pending
        await service.executions.decide([Decision(one.id, one.digest, "approved", by="")], APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await ended(service, outcome.id)
        assert [(call["decision"], call["rule"]) for call in stored.outcome["calls"]] == [
            ("allow", "default for write"),
            ("allow", "default for destructive, approved by key-3"),
            ("ask", "default for destructive"),
        ]
        with pytest.raises(ExecutionWaiting, match=two.id):
            await service.executions.resume(outcome.id, OWNER)


async def test_what_an_approver_lets_go_on_does_not_outlive_the_key_that_started_it(here: Place) -> None:
    hold = here.upstream.hold("/drop")
    roles: list[str | None] = ["default"]
    async with here.service() as service:
        service.executions.role_of = lambda _: roles[0]
        outcome = await service.execute("up.x.drop(n=1)\nup.x.post(n=2)", caller=OWNER)
        await service.executions.decide(verdict_on(outcome), APPROVER)
        await service.executions.resume(outcome.id, APPROVER)
        await here.upstream.wait_for(1)
        roles[0] = None
        hold.set()
        stored = await ended(service, outcome.id)
    assert stored.status == "failed"
    assert "the key that started this program was revoked" in stored.outcome["failure"]["message"]
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_what_an_approver_lets_go_on_stays_read_only(here: Place) -> None:
    async with here.service(policy={"default": {"read": "ask"}}) as service:
        outcome = await service.execute("up.x.get()\nup.x.post(n=2)", caller=replace(OWNER, read_only=True))
        await service.executions.decide(verdict_on(outcome), APPROVER)
        await service.executions.resume(outcome.id, APPROVER)
        stored = await ended(service, outcome.id)
    assert stored.status == "failed"
    assert "up.x.post is not a read, and only reads are allowed here" in stored.outcome["failure"]["message"]
    assert here.upstream.seen == ["GET /get"]


@pytest.mark.parametrize("is_recorded", [True, False])
async def test_a_program_asks_nothing_more_once_its_key_is_revoked(here: Place, is_recorded: bool) -> None:
    hold = here.upstream.hold("/get")
    is_authorized = True
    caller = replace(OWNER, is_authorized=lambda: is_authorized)
    code = """
up.x.get()
kinds = []
for ask in (lambda: search("post"), lambda: describe("up"), up.x.post):
    try:
        ask()
    except ToolError as error:
        kinds.append(error.kind)
kinds
"""
    async with here.service(journal={"enabled": is_recorded}) as service:
        running = asyncio.create_task(service.execute(code, caller=caller))
        await here.upstream.wait_for(1)
        is_authorized = False
        hold.set()
        outcome = await running
    assert outcome.value == ["credentials_revoked"] * 3
    assert here.upstream.seen == ["GET /get"]


@pytest.mark.parametrize("is_recorded", [True, False])
async def test_a_callers_own_secret_in_its_program_enters_no_record_and_no_sandbox(
    here: Place, is_recorded: bool
) -> None:
    caller = replace(OWNER, secrets=("cm_the-key-of-this-caller",))
    async with here.service(journal={"enabled": is_recorded}) as service:
        outcome = await service.execute(
            "print('cm_the-key-of-this-caller')\nkey = 'cm_the-key-of-this-caller'\nkey", caller=caller
        )
        assert (outcome.value, outcome.output) == ("[redacted]", "[redacted]\n")
        (note,) = [note for note in outcome.notes if "held a secret of their caller" in note]
        assert "send credentials with the request instead" in note
        if is_recorded:
            stored = await service.executions.wait(outcome.id, caller, 60)
            assert "the-key" not in str(stored)
