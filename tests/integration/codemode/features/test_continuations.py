"""Paused executions that their callers keep: continued by the journal's rules, once, by another service too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from codemode.errors import (
    ApprovalForbidden,
    ApprovalRefused,
    ConfigurationError,
    ExecutionChanged,
    ExecutionNotFound,
    ExecutionWaiting,
    JournalUnavailable,
)
from codemode.executions.types.records import Decision, Verdict
from codemode.features.continuations.continuations import Continuations
from codemode.features.continuations.errors import ContinuationInvalid
from tests.integration.codemode.executions.upstream import APPROVER, OTHER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from codemode.executions.types.records import PendingCall
    from codemode.service import CodeMode

PROGRAM = "a = up.x.post(n=1)['count']\nb = up.x.drop(n=2)['count']\n[a, b]"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    (tmp_path / "key").write_text("a secret of more than 32 characters", encoding="utf-8")
    async with place(tmp_path) as found:
        yield found


def service(here: Place, **sections: Any) -> CodeMode:
    options = {"key": {"file": str(here.folder / "key")}, **sections.pop("continuations", {})}
    return here.service(continuations=options, **sections)


def decisions(calls: Sequence[PendingCall], verdict: Verdict = "approved") -> list[Decision]:
    return [Decision(call.id, call.digest, verdict, by="", note="as agreed") for call in calls]


async def test_another_service_continues_after_an_approver_decided(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
    assert (paused.status, here.upstream.seen) == ("paused", ["POST /post?n=1"])
    async with service(here) as cm:
        (waiting,) = await cm.part(Continuations).pending(paused.continuation, APPROVER)
        assert (waiting.tool, waiting.arguments) == ("up.x.drop", {"n": 2})
        decided = await cm.part(Continuations).decide(paused.continuation, decisions([waiting]), APPROVER)
    async with service(here) as cm:
        ended = await cm.part(Continuations).execute(decided, OWNER)
    assert (ended.id, ended.status, ended.value, ended.continuation) == (paused.id, "completed", [1, 2], "")
    assert here.upstream.seen == ["POST /post?n=1", "DELETE /drop?n=2"]
    assert ended.calls[1].rule.endswith("approved by key-3")
    assert list(here.folder.glob("state/journal*")) == []


async def test_an_approver_decides_and_continues_at_once(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        answers = decisions(paused.pending)
        ended = await cm.part(Continuations).execute(paused.continuation, APPROVER, decisions=answers)
    assert ended.value == [1, 2]


async def test_a_continuation_is_used_once(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        decided = await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
        with pytest.raises(ContinuationInvalid, match=f"the continuation of {paused.id} was already used"):
            await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
        await cm.part(Continuations).execute(decided, OWNER)
        with pytest.raises(ContinuationInvalid, match="already used"):
            await cm.part(Continuations).execute(decided, OWNER)
    assert len(here.upstream.seen) == 2


async def test_a_used_continuation_stays_used_in_other_processes_and_after_a_restart(here: Place) -> None:
    async with service(here) as cm, service(here) as beside:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        decided = await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
        await cm.part(Continuations).execute(decided, OWNER)
        with pytest.raises(ContinuationInvalid, match="already used"):
            await beside.part(Continuations).execute(decided, OWNER)
    async with service(here) as restarted:
        with pytest.raises(ContinuationInvalid, match="some calls may have been made since: check them"):
            await restarted.part(Continuations).execute(decided, OWNER)
        with pytest.raises(ContinuationInvalid, match="already used"):
            await restarted.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
    assert here.upstream.seen == ["POST /post?n=1", "DELETE /drop?n=2"]


async def test_two_processes_at_once_use_a_continuation_once(here: Place) -> None:
    async with service(here) as cm, service(here) as beside:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        decided = await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
        ends = await asyncio.gather(
            *(one.part(Continuations).execute(decided, OWNER) for one in (cm, beside)), return_exceptions=True
        )
    assert sorted(type(end).__name__ for end in ends) == ["ContinuationInvalid", "ExecutionOutcome"]
    assert here.upstream.seen == ["POST /post?n=1", "DELETE /drop?n=2"]


async def test_a_use_that_changes_nothing_leaves_the_continuation_usable(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        with pytest.raises(ApprovalForbidden):
            await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), OWNER)
        assert await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)


async def test_a_use_that_cannot_be_recorded_is_refused(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        assert "accepted once, by servers that share this server's state folder" in paused.notes[-1]
        (here.folder / "state" / "continuations").write_text("no folder", encoding="utf-8")
        with pytest.raises(JournalUnavailable, match="that a continuation is used"):
            await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), APPROVER)
    assert here.upstream.seen == ["POST /post?n=1"]


async def test_the_owner_cannot_decide_and_nobody_else_can_see(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
        for caller in (OWNER, OTHER):
            with pytest.raises(ApprovalForbidden):
                await cm.part(Continuations).decide(paused.continuation, decisions(paused.pending), caller)
        own = await cm.execute(PROGRAM, caller=APPROVER)
        with pytest.raises(ApprovalForbidden, match="a different person must decide"):
            await cm.part(Continuations).decide(own.continuation, decisions(own.pending), APPROVER)
        for read in (cm.part(Continuations).pending, cm.part(Continuations).execute):
            with pytest.raises(ExecutionNotFound):
                await read(paused.continuation, OTHER)
        with pytest.raises(ExecutionWaiting):
            await cm.part(Continuations).execute(paused.continuation, OWNER)
        wrong = [Decision(paused.pending[0].id, "other", "approved", by="")]
        with pytest.raises(ApprovalRefused, match="the decision is for other arguments"):
            await cm.part(Continuations).decide(paused.continuation, wrong, APPROVER)
        ended = await cm.part(Continuations).execute(
            paused.continuation, APPROVER, decisions=decisions(paused.pending)
        )  # none of the errors used it up
    assert ended.value == [1, 3]


async def test_a_rejection_reaches_the_program(here: Place) -> None:
    program = "try:\n    up.x.drop(n=1)\nexcept ToolRejected as error:\n    r = error.reason\nr"
    async with service(here) as cm:
        paused = await cm.execute(program, caller=OWNER)
        decided = await cm.part(Continuations).decide(
            paused.continuation, decisions(paused.pending, "rejected"), APPROVER
        )
        assert (await cm.part(Continuations).execute(decided, OWNER)).value == "as agreed"
    assert here.upstream.seen == []


async def test_a_second_pause_has_a_continuation_of_its_own(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute("up.x.drop(n=1)\nup.x.drop(n=2)['n']", caller=OWNER)
        answers = decisions(paused.pending)
        again = await cm.part(Continuations).execute(paused.continuation, APPROVER, decisions=answers)
        assert (again.status, [call.arguments for call in again.pending]) == ("paused", [{"n": 2}])
        ended = await cm.part(Continuations).execute(again.continuation, APPROVER, decisions=decisions(again.pending))
    assert (ended.value, len(here.upstream.seen)) == ("2", 2)


async def test_a_changed_configuration_is_not_continued(here: Place) -> None:
    async with service(here) as cm:
        paused = await cm.execute(PROGRAM, caller=OWNER)
    async with service(here, policy={"default": {"write": "ask"}}) as cm:
        with pytest.raises(ExecutionChanged, match="nothing was run"):
            await cm.part(Continuations).execute(paused.continuation, APPROVER, decisions=decisions(paused.pending))


async def test_the_callers_credentials_are_needed_again(here: Place) -> None:
    credential = {"kind": "bearer", "token": {"caller": "X-Up"}, "scheme": "*"}
    async with service(here, source={"credentials": [credential]}) as cm:
        paused = await cm.execute("up.x.drop(n=1)", caller=OWNER, credentials={"X-Up": "hunter2"})
        answers = decisions(paused.pending)
        with pytest.raises(ExecutionWaiting, match="needs its caller's credentials again: X-Up"):
            await cm.part(Continuations).execute(paused.continuation, APPROVER, decisions=answers)
        ended = await cm.part(Continuations).execute(
            paused.continuation, APPROVER, decisions=answers, credentials={"X-Up": "hunter2"}
        )
    assert ended.status == "completed"


async def test_one_that_is_too_large_ends_the_execution_with_a_reason(here: Place) -> None:
    program = "import random\nx = [up.x.get(n=random.randrange(10**12)) for _ in range(200)]\nup.x.drop(n=1)"
    async with service(here, continuations={"limit_bytes": 4096}) as cm:
        ended = await cm.execute(program, caller=OWNER)
    assert (ended.status, ended.pending, ended.continuation) == ("failed", (), "")
    assert ended.failure is not None
    assert ended.failure.type == "ContinuationTooLarge"
    assert "continuations.limit_bytes allows 4,096" in ended.failure.message
    assert not any(seen.startswith("DELETE") for seen in here.upstream.seen)


async def test_programs_that_do_not_pause_have_no_continuation(here: Place) -> None:
    async with service(here) as cm:
        ended = await cm.execute("up.x.post(n=1)['n']", caller=OWNER)
        assert (ended.value, ended.continuation) == ("1", "")
        with pytest.raises(ConfigurationError, match="executions are not recorded here"):
            await cm.execute("1", caller=OWNER, idempotency_key="k")


async def test_without_the_section_there_are_none(here: Place) -> None:
    async with here.service() as cm:
        with pytest.raises(ConfigurationError, match="continuations need a key"):
            _ = cm.part(Continuations)


def test_a_journal_and_continuations_exclude_each_other(here: Place) -> None:
    with pytest.raises(ValidationError, match="continuations take the place of the journal"):
        service(here, journal={"enabled": True})
