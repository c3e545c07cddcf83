from __future__ import annotations

from codemode.errors import UpstreamError
from codemode.executions.ledger import PREVIEW_CHARACTERS, Ledger
from codemode.gateway.call import CallState, ToolCall, ToolOutcome


def test_an_answered_call_is_recorded_with_size_and_preview() -> None:
    ledger = Ledger()
    call = ToolCall("ex", "1", "gym.listClients", {"limit": 2})
    ledger.start(call)
    ledger.finish(call, ToolOutcome("gym.clients.list", CallState.COMMITTED, value={"items": ["é" * 200]}))
    (entry,) = ledger.close()
    assert (entry.tool, entry.state, entry.arguments) == ("gym.clients.list", CallState.COMMITTED, {"limit": 2})
    assert entry.size_bytes == len('{"items": [""]}') + 400
    assert len(entry.preview) == PREVIEW_CHARACTERS + 1
    assert entry.duration_s >= 0


def test_a_call_under_way_at_the_end_is_unknown() -> None:
    ledger = Ledger()
    ledger.start(ToolCall("ex", "1", "a.b", {}))
    (entry,) = ledger.close()
    assert entry.state is CallState.UNKNOWN
    assert entry.duration_s > 0


def test_a_failed_call_carries_what_the_program_saw() -> None:
    ledger = Ledger()
    call = ToolCall("ex", "1", "a.b", {})
    ledger.start(call)
    ledger.finish(call, ToolOutcome("a.b", CallState.FAILED, error=UpstreamError("409: frozen already", status=409)))
    (entry,) = ledger.close()
    assert (entry.state, entry.error, entry.preview) == (CallState.FAILED, "409: frozen already", "")
