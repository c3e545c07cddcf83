"""Every kind of deadline is compared when what it bounds is used. Nothing is tidied up in these tests."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ApprovalRefused, ExecutionEnded
from codemode.executions.journal.sql.statements import Statement
from codemode.executions.life.programs import Request
from codemode.executions.types.plan_errors import PlanRefused
from codemode.executions.types.records import Decision
from codemode.executions.types.state_values import StateKey, StateWrite
from codemode.features.continuations.continuations import Continuations
from codemode.features.continuations.errors import ContinuationInvalid
from codemode.features.conversations.memory import MemoryState
from codemode.features.plans.plans import Plans
from codemode.serving.auth.keys import StoredKey
from codemode.text.times import has_passed
from codemode.transports.content import Content, ContentNotFound, ContentStore
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.service import CodeMode

HOUR = 3600.0
SETTINGS: dict[str, Any] = {
    "policy": {"default": {"write": "ask"}},
    "journal": {"enabled": True, "expire_s": HOUR},
    "content": {"keep_s": HOUR},
    "conversations": {"keep_s": HOUR},
}
IN_PLACE_OF_A_JOURNAL = {"journal": {}, "continuations": {"key": {"env": "CONTINUATIONS_KEY"}, "expires_s": HOUR}}
#: The first call is approved at once, the second keeps the execution waiting.
TWO = "import asyncio\n[one['n'] for one in await asyncio.gather(up.x.post(n=1), up.x.put(n=2))]"


@dataclass
class Clock:
    """The clock of the host. `ahead_s` is how far it was moved."""

    ahead_s: float = 0.0

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.ahead_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock of this process."""
    moved, seconds, nanoseconds = Clock(), time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: seconds() + moved.ahead_s)
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds() + int(moved.ahead_s * 1e9))
    return moved


@pytest.fixture
async def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setenv("CONTINUATIONS_KEY", "0123456789abcdef0123456789abcdef")
    async with place(tmp_path) as yielded:
        yield yielded


async def _decide(service: CodeMode, paused: ExecutionOutcome, tool: str = "", **more: Any) -> None:
    calls = await service.executions.approvals(APPROVER, paused.id)
    decisions = [Decision(one.id, one.digest, "approved", by="", **more) for one in calls if tool in ("", one.tool)]
    await service.executions.decide(decisions, APPROVER)


async def _resumed(service: CodeMode, execution: str) -> Any:
    await service.executions.resume(execution, APPROVER)
    return await service.executions.wait(execution, OWNER, 30)


async def _a_decision(service: CodeMode, _: Place, wait: Callable[[], None]) -> bool:
    paused = await service.execute("up.x.post(n=1)", caller=OWNER)
    call = paused.pending[0]
    wait()
    try:
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], APPROVER)
    except ApprovalRefused as error:
        assert "expired at 20" in str(error)
        assert await service.executions.approvals(APPROVER) == ()
        assert (await service.executions.get(paused.id, OWNER)).status == "expired"
        assert [one.status for one in await service.executions.list(OWNER, status="expired")] == ["expired"]
        assert await service.executions.list(OWNER, status="paused") == ()
        return False
    return True


async def _an_approved_execution(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    paused = await service.execute("up.x.post(n=1)", caller=OWNER)
    await _decide(service, paused)
    wait()
    try:
        await _resumed(service, paused.id)
    except ExecutionEnded as error:
        assert str(error) == f"{paused.id} has ended: expired"
    return here.upstream.seen == ["POST /post?n=1"]


async def _a_call_under_an_old_approval(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    """The decision on the other call renews the execution, but not the first approval."""
    paused = await service.execute(TWO, caller=OWNER)
    await _decide(service, paused, "up.x.post")
    wait()
    journal = service.executions._journal
    await _renew(journal, paused.id)
    await _decide(service, paused, "up.x.put")
    stored = await _resumed(service, paused.id)
    if stored.status == "paused":
        (again,) = await service.executions.approvals(APPROVER, paused.id)
        assert (again.tool, again.id) == ("up.x.post", f"{paused.pending[0].id}_1")
        await _decide(service, paused)
        assert (await _resumed(service, paused.id)).outcome["value"] == ["1", "2"]
        assert sorted(here.upstream.seen) == ["POST /post?n=1", "PUT /put?n=2"]
        return False
    return bool(stored.outcome["value"] == ["1", "2"])


async def _a_call_under_a_grant(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    paused = await service.execute("[up.x.post(n=1), up.x.put(n=1), up.x.post(n=2)]", caller=OWNER)
    await _decide(service, paused, up_to=2)
    await _resumed(service, paused.id)
    wait()
    await _renew(service.executions._journal, paused.id)
    await _decide(service, paused, "up.x.put")
    await _resumed(service, paused.id)
    return here.upstream.seen[-1] == "POST /post?n=2"


async def _renew(journal: Any, execution: str) -> None:
    """Make an execution wait anew, as a decision does."""

    def renewed() -> Any:
        now = time.time_ns() // 1000
        yield Statement("UPDATE executions SET updated_us = $1 WHERE id = $2", (now, execution))

    await journal._write(renewed())


async def _a_plan_to_decide_on(service: CodeMode, _: Place, wait: Callable[[], None]) -> bool:
    dry = await service.execute("up.x.post(n=1)", caller=OWNER, dry_run=True)
    plan = await service.part(Plans).get(dry.plan, APPROVER)
    wait()
    try:
        await service.part(Plans).decide(plan.id, plan.digest, "approved", APPROVER)
    except PlanRefused as error:
        assert "the plan is expired" in str(error)
        return False
    return True


async def _an_approved_plan(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    dry = await service.execute("up.x.post(n=1)", caller=OWNER, dry_run=True)
    plan = await service.part(Plans).get(dry.plan, APPROVER)
    await service.part(Plans).decide(plan.id, plan.digest, "approved", APPROVER)
    wait()
    try:
        await service.execute("", plan=dry.plan, caller=OWNER)
    except PlanRefused as error:
        assert "it is expired" in str(error)
    return bool(here.upstream.seen)


async def _a_call_under_a_plan(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    """The plan lists both calls. The policy's change of mind is not needed: the second is sent an hour later."""
    program = "up.x.get(n=1)\nup.x.post(n=1)"
    dry = await service.execute(program, caller=OWNER, dry_run=True)
    plan = await service.part(Plans).get(dry.plan, APPROVER)
    await service.part(Plans).decide(plan.id, plan.digest, "approved", APPROVER)

    def watch(entry: Any) -> None:
        if entry.tool == "up.x.get" and entry.state == "read":
            wait()

    outcome = await service.execute("", plan=dry.plan, caller=OWNER, watch=watch)
    if outcome.status == "paused":
        assert outcome.pending[0].reason.startswith("the plan expired at 20")
    return "POST /post?n=1" in here.upstream.seen


async def _a_continuation(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    continuations = service.part(Continuations)
    paused = await continuations.start(Request("up.x.post(n=1)"), OWNER)
    (call,) = await continuations.pending(paused.continuation, APPROVER)
    decision = Decision(call.id, call.digest, "approved", by="")
    held = await continuations.decide(paused.continuation, [decision], APPROVER)
    wait()
    try:
        await continuations.execute(held, OWNER)
    except ContinuationInvalid as error:
        assert "has expired" in str(error)
    return bool(here.upstream.seen)


async def _content(service: CodeMode, _: Place, wait: Callable[[], None]) -> bool:
    reference = await service.keep_content(b"abc", caller=OWNER)
    wait()
    return await _is_there(service.content(reference, caller=OWNER))


async def _content_read_from_the_journal(service: CodeMode, _: Place, wait: Callable[[], None]) -> bool:
    """Another server reads it shortly before the end: it is not kept for another hour there."""
    reference = await service.keep_content(b"abc", caller=OWNER)
    other = ContentStore(keep_s=HOUR)
    other.archive = service.runtime.contents.archive
    await other.find(reference["$content"], OWNER.id)
    wait()
    other.archive = None
    return await _is_there(other.find(reference["$content"], OWNER.id))


async def _is_there(reading: Awaitable[Content]) -> bool:
    try:
        await reading
    except ContentNotFound:
        return False
    return True


async def _a_stored_value(service: CodeMode, _: Place, wait: Callable[[], None]) -> bool:
    await service.execute("store('a', 1)", caller=OWNER, conversation="chat-1")
    wait()
    return (await service.execute("load('a')", caller=OWNER, conversation="chat-1")).ok


async def _a_stored_value_in_memory(_: CodeMode, __: Place, wait: Callable[[], None]) -> bool:
    state, key = MemoryState(time.time), StateKey("ann", "chat", "a")
    await state.store_state("", StateWrite(key, b"1", keep_s=HOUR, owner_bytes=1000))
    wait()
    return await state.load_state(key) is not None


async def _a_key(_: CodeMode, __: Place, wait: Callable[[], None]) -> bool:
    key = StoredKey("1", "r", "", "digest", created=0.0, expires=time.time() + HOUR)
    wait()
    return key.opens("digest", time.time())


async def _a_key_that_was_replaced(_: CodeMode, __: Place, wait: Callable[[], None]) -> bool:
    key = StoredKey("1", "r", "", "new", created=0.0, old_digest="old", old_until=time.time() + HOUR)
    wait()
    return key.opens("old", time.time())


async def _a_call_of_a_token(service: CodeMode, here: Place, wait: Callable[[], None]) -> bool:
    caller = replace(OWNER, good_until=time.time() + HOUR)

    def watch(entry: Any) -> None:
        if entry.state == "read" and entry.arguments == {"n": 1}:
            wait()

    outcome = await service.execute("up.x.get(n=1)\nup.x.get(n=2)", caller=caller, watch=watch)
    return outcome.ok


KINDS = [
    _a_decision,
    _an_approved_execution,
    _a_call_under_an_old_approval,
    _a_call_under_a_grant,
    _a_plan_to_decide_on,
    _an_approved_plan,
    _a_call_under_a_plan,
    _a_continuation,
    _content,
    _content_read_from_the_journal,
    _a_stored_value,
    _a_stored_value_in_memory,
    _a_key,
    _a_key_that_was_replaced,
    _a_call_of_a_token,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
@pytest.mark.parametrize(("seconds", "holds"), [(HOUR - 60, True), (HOUR + 60, False)], ids=["before", "after"])
async def test_a_deadline_ends_what_it_bounds(
    here: Place, clock: Clock, kind: Any, seconds: float, *, holds: bool
) -> None:
    settings = SETTINGS | (IN_PLACE_OF_A_JOURNAL if kind is _a_continuation else {})
    async with here.service(**settings) as service:
        assert await kind(service, here, lambda: clock.move(seconds)) is holds


def test_what_holds_until_a_time_is_over_at_that_time() -> None:
    assert [has_passed(10, now) for now in (9, 10, 11)] == [False, True, True]
