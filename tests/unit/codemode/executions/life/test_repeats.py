"""Repeated calls as one group, and the state that people and models see."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.executions.life.repeats import repeats, shared_arguments, times
from codemode.executions.types.ledger import LedgerEntry
from codemode.gateway.call import CallState, state_of


def call(tool: str, state: CallState = CallState.COMMITTED, *, effect: str = "read", **more: Any) -> LedgerEntry:
    state = state_of(effect, state)
    return LedgerEntry("1", tool, more.pop("arguments", {}), state, 0.0, 0.0, effect=effect, **more)


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (call("a.get"), "read"),
        (call("a.get", CallState.FAILED), "failed"),
        (call("a.get", CallState.UNKNOWN), "cancelled"),
        (call("a.get", reused="ex_1 1"), "reused"),
        (call("a.post", effect="write"), "committed"),
        (call("a.gone", effect=""), "committed"),
    ],
)
def test_an_answered_read_is_shown_as_read(entry: LedgerEntry, shown: str) -> None:
    assert entry.shown_state == shown


def test_calls_of_one_tool_in_one_state_are_one_group() -> None:
    calls = [call("a.get"), call("a.post", effect="write"), call("a.get", CallState.FAILED), *[call("a.get")] * 85]
    groups = repeats(calls)
    assert [(group[0].tool, group[0].shown_state, times(len(group))) for group in groups] == [
        ("a.get", "read", "\N{MULTIPLICATION SIGN}86"),
        ("a.post", "committed", ""),
        ("a.get", "failed", ""),
    ]


def test_arguments_that_differ_are_left_out() -> None:
    group = [call("a.get", arguments={"id": number, "text": "x" * 200}) for number in (1, 2)]
    assert shared_arguments(group, 5) == "id=…, text='xxxx"
