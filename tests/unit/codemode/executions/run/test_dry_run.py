"""Dry runs, call by call: what is sent, what is listed, and what fails as in any run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect
from codemode.executions.run.assembly import listing_run
from codemode.executions.types.planned import Listing
from codemode.gateway.caller import Caller
from codemode.gateway.gateway import Gateway
from codemode.gateway.policy import AccessPolicy
from codemode.settings import PolicySettings
from codemode.shared.callbacks import ignore
from codemode.testing import RecordingTransport, make_tool
from sandbox import Call, CallFailed

if TYPE_CHECKING:
    from codemode.executions.types.planned import PlannedCall

INTEGER = {"type": "integer"}
READ = make_tool("crm.get", {"id": INTEGER}, required=("id",))
CREATE = make_tool("crm.create", {"name": {"type": "string"}}, effect=Effect.WRITE)
FREEZE = make_tool("crm.freeze", {"id": INTEGER, "days": INTEGER}, required=("id",), effect=Effect.WRITE)
DROP = make_tool("crm.drop", {"id": INTEGER, "api_key": {"type": "string"}}, effect=Effect.DESTRUCTIVE)

ID = "<id of crm.create #1>"


class DryRun:
    """A session and what it sent."""

    def __init__(self, caller: Caller | None = None, **policy: Any) -> None:
        self.transport = RecordingTransport(lambda *_: {"id": 7})
        rules = AccessPolicy(PolicySettings.model_validate(policy))
        gateway = Gateway(Catalog((READ, CREATE, FREEZE, DROP)), {"fake": self.transport}, policy=rules)
        self.listing = Listing()
        self.pipeline = listing_run(
            "ex_1", gateway, caller or Caller("ann"), self.listing, calls_in_flight=4, wall_s=30, watch=ignore
        )
        self._number = 0

    async def call(self, tool: str, **arguments: Any) -> Any:
        self._number += 1
        return await self.pipeline.answer(Call(self._number, str(self._number), tool, arguments))

    @property
    def planned(self) -> tuple[PlannedCall, ...]:
        return tuple(self.listing.calls)

    def states(self) -> list[str]:
        return [str(entry.state) for entry in self.pipeline.run.ledger.close()]


async def test_reads_are_sent_and_writes_are_listed_with_the_decision_of_the_policy() -> None:
    run = DryRun()
    assert await run.call("crm.get", id=7) == {"id": 7}
    assert await run.call("crm.create", name="Ann") == {"id": ID}
    await run.call("crm.drop", id=7, api_key="a secret")
    assert run.transport.sent == [("crm.get", {"id": 7})]
    assert [(call.label, call.effect, call.arguments, call.decision, call.rule) for call in run.planned] == [
        ("crm.create #1", "write", {"name": "Ann"}, "allow", "default for write"),
        ("crm.drop #1", "destructive", {"id": 7, "api_key": "[redacted]"}, "ask", "default for destructive"),
    ]
    assert run.states() == ["read", "planned", "planned"]


async def test_a_placeholder_is_accepted_by_a_write_and_keeps_a_read_from_being_sent() -> None:
    run = DryRun()
    created = await run.call("crm.create", name="Ann")
    await run.call("crm.freeze", id=created["id"], days=3)
    assert await run.call("crm.get", id=created["id"]) == {"id": "<id of crm.get #1>"}
    assert run.transport.sent == []
    assert [str(call) for call in run.planned] == [
        "allow: crm.create(name='Ann') at this Python program",
        f"allow: crm.freeze(id='{ID}', days=3) at this Python program",
    ]
    assert run.states() == ["planned", "planned", "not started"]
    assert any("branches on one" in note for note in run.pipeline.run.ledger.notes())


async def test_other_arguments_beside_a_placeholder_are_checked() -> None:
    run = DryRun()
    created = await run.call("crm.create", name="Ann")
    with pytest.raises(CallFailed, match="days: expected int"):
        await run.call("crm.freeze", id=created["id"], days="three")
    with pytest.raises(CallFailed, match="id: expected int"):
        await run.call("crm.freeze", id="<id of crm.create #2>")
    assert len(run.planned) == 1


async def test_a_denied_call_fails_as_in_any_run_and_a_read_that_needs_a_person_is_listed() -> None:
    deny = {"tools": "crm.create", "decision": "deny", "reason": "not here"}
    run = DryRun(rules=[deny], default={"read": "ask"})
    with pytest.raises(CallFailed, match="not here"):
        await run.call("crm.create", name="Ann")
    await run.call("crm.get", id=7)
    assert [(call.tool, call.decision) for call in run.planned] == [("crm.get", "ask")]
    assert run.states() == ["denied", "planned"]


async def test_a_read_only_key_may_list_writes() -> None:
    run = DryRun(Caller("ann", read_only=True))
    await run.call("crm.create", name="Ann")
    assert [(call.tool, call.decision, call.rule) for call in run.planned] == [("crm.create", "deny", "read_only")]
    assert run.transport.sent == []
