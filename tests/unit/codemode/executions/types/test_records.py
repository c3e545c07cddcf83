"""Pending calls as JSON data."""

from __future__ import annotations

from dataclasses import replace

from codemode.executions.types.records import PendingCall

CALL = PendingCall("ap_1", "ex_1", "0.1", "bank.pay", {"to": "ann"}, "d" * 64, "money leaves", asked_us=1_000_000)


def test_times_are_text_and_none_before_the_decision() -> None:
    data = CALL.to_json()
    assert (data["asked"], data["decided"]) == ("1970-01-01T00:00:01.000Z", None)
    assert not [name for name in data if name.endswith("_us")]


def test_a_call_is_read_back() -> None:
    decided = replace(CALL, verdict="approved", by="boss", decided_us=2_500_000)
    for call in (CALL, decided):
        assert PendingCall.from_json(call.to_json()) == call


def test_the_times_of_earlier_versions_are_read() -> None:
    data = {"id": "ap_1", "execution": "ex_1", "path": "0.1", "tool": "bank.pay", "arguments": {"to": "ann"}}
    assert PendingCall.from_json({**data, "digest": "d" * 64, "reason": "money leaves", "asked_us": 1_000_000}) == CALL
