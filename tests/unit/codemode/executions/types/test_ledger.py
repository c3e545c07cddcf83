from __future__ import annotations

import json
from typing import Any

import pytest

from codemode.catalog.tool import Effect, Tool
from codemode.errors import AccessDenied, UpstreamError
from codemode.executions.types.ledger import PREVIEW_CHARACTERS, Ledger
from codemode.gateway.call import CallState, JudgedCall, ToolCall, ToolOutcome
from codemode.gateway.caller import Caller
from codemode.gateway.policy import Decision, Ruling
from codemode.gateway.redaction import REDACTED
from codemode.testing import make_tool

READ = make_tool("gym.clients.list", {"limit": {"type": "integer"}})
LOGIN = make_tool(
    "gym.login",
    {
        "name": {"type": "string"},
        "word": {"type": "string", "format": "password"},
        "extra": {"type": "object", "properties": {"pin": {"type": "integer", "writeOnly": True}}},
        "api_key": {"type": "string"},
        "max_tokens": {"type": "integer"},
    },
    effect=Effect.WRITE,
)
ALLOWED = Ruling(Decision.ALLOW, "default for read")


def judged(path: str = "1", tool: Any = READ, caller: Caller | None = None, **arguments: Any) -> JudgedCall:
    call = ToolCall("ex", path, tool.id, arguments, caller=caller or Caller("local"))
    return JudgedCall(call, tool, arguments, ALLOWED)


def test_an_answered_call_is_recorded_with_decision_size_and_preview() -> None:
    ledger = Ledger()
    ledger.take(judged(limit=2))
    ledger.send("1")
    ledger.finish("1", ToolOutcome("gym.clients.list", CallState.COMMITTED, value={"items": ["é" * 200]}))
    (entry,) = ledger.close()
    assert (entry.tool, entry.state, entry.arguments) == ("gym.clients.list", CallState.READ, {"limit": 2})
    assert (entry.decision, entry.rule) == ("allow", "default for read")
    assert entry.size_bytes == len('{"items": [""]}') + 400
    assert len(entry.preview) == PREVIEW_CHARACTERS + 1
    assert entry.duration_s >= 0


def test_half_a_surrogate_pair_in_an_answer_does_not_undo_that_it_was_committed() -> None:
    ledger = Ledger()
    ledger.take(judged())
    ledger.send("1")
    ledger.finish("1", ToolOutcome("gym.clients.list", CallState.COMMITTED, value="\ud800!"))
    (entry,) = ledger.close()
    assert (entry.state, entry.preview) == (CallState.READ, '"?!"')


def test_an_answer_that_cannot_be_written_does_not_undo_that_it_was_committed() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (10**5000, circle):
        ledger = Ledger()
        ledger.take(judged())
        ledger.send("1")
        ledger.finish("1", ToolOutcome("gym.clients.list", CallState.COMMITTED, value=value))
        (entry,) = ledger.close()
        assert (entry.state, entry.preview) == (CallState.READ, "")


@pytest.mark.parametrize(("tool", "state"), [(LOGIN, CallState.UNKNOWN), (READ, CallState.CANCELLED)])
def test_a_write_that_was_sent_is_unknown_at_the_end_a_read_cancelled_and_what_was_not_sent_never_ran(
    tool: Tool, state: CallState
) -> None:
    ledger = Ledger()
    for path in ("1", "2", "3"):
        ledger.take(judged(path, tool))
    ledger.send("1")
    ledger.send("2")
    assert ledger.entry("1").state is CallState.RUNNING
    ledger.withdraw("2")
    sent, withdrawn, waiting = ledger.close()
    assert (sent.state, withdrawn.state, waiting.state) == (
        state,
        CallState.NOT_STARTED,
        CallState.NOT_STARTED,
    )
    assert sent.duration_s > 0


def test_nothing_waits_for_a_person_once_the_program_has_ended_by_itself() -> None:
    for is_asked, states in ((True, ["pending", "unknown"]), (False, ["not started", "unknown"])):
        ledger = Ledger()
        for path, state in (("1", CallState.PENDING), ("2", CallState.UNKNOWN)):
            ledger.take(judged(path))
            ledger.restore(ledger.entry(path)._replace(state=state, question=f"ap_{path}"))
        entries = ledger.close(is_asked=is_asked)
        assert [str(entry.state) for entry in entries] == states
        assert [bool(entry.question) for entry in entries] == [is_asked, is_asked]


def test_a_failed_call_carries_what_the_program_saw() -> None:
    ledger = Ledger()
    ledger.take(judged())
    ledger.send("1")
    ledger.finish("1", ToolOutcome("a.b", CallState.FAILED, error=UpstreamError("409: frozen already", status=409)))
    (entry,) = ledger.close()
    assert (entry.state, entry.error, entry.preview) == (CallState.FAILED, "409: frozen already", "")


def test_a_denied_call_names_the_rule() -> None:
    ledger = Ledger()
    ruling = Ruling(Decision.DENY, "rule 2", "not at night")
    error = AccessDenied("gym.clients.list", ruling.rule, ruling.reason)
    ledger.take(JudgedCall(ToolCall("ex", "1", "gym.clients.list", {}), READ, {}, ruling, error))
    (entry,) = ledger.close()
    assert (entry.state, entry.decision, entry.rule) == (CallState.DENIED, "deny", "rule 2")
    assert "not at night" in entry.error


def test_secrets_are_in_no_part_of_an_entry() -> None:
    ledger = Ledger()
    caller = Caller("key:1", secrets=("the-callers-key",))
    secret: dict[str, Any] = {
        "word": "hunter2x",
        "extra": {"pin": 998877, "note": "hunter2x too"},
        "api_key": "abcdefgh",
    }
    ledger.take(judged(tool=LOGIN, caller=caller, name="ann the-callers-key", max_tokens=4096, **secret))
    ledger.send("1")
    answer = {
        "echo": "hunter2x 998877",
        "session": {"access_token": "s3ss10n", "user": "ann"},
        "note": "the-callers-key",
    }
    ledger.finish("1", ToolOutcome("gym.login", CallState.COMMITTED, value=answer))
    (entry,) = ledger.close()
    record = json.dumps([entry.arguments, entry.preview, entry.error])
    for text in ("hunter2x", "998877", "abcdefgh", "the-callers-key", "s3ss10n"):
        assert text not in record, text
    assert "ann" in record
    assert entry.arguments["max_tokens"] == 4096


def test_where_there_are_more_secrets_than_can_be_looked_for_no_text_is_shown() -> None:
    """Searching for each secret in each text would take an hour."""
    ledger = Ledger()
    words = [f"{n:08}" for n in range(24_000)]
    ledger.take(judged(tool=LOGIN, word=words, name=["ann"] * 24_000, max_tokens=1))
    (entry,) = ledger.close()
    assert entry.arguments == {"word": REDACTED, "name": [REDACTED] * 24_000, "max_tokens": 1}


def test_arguments_that_hold_too_many_values_are_not_shown() -> None:
    ledger = Ledger()
    ledger.take(judged(tool=LOGIN, word="hunter2x", name=["hunter2x"] * 50_000))
    (entry,) = ledger.close()
    assert entry.arguments == {"…": "more than 50,000 values"}


def test_an_identical_read_is_noted_and_an_identical_write_is_not() -> None:
    ledger = Ledger()
    for path in ("1", "2", "3"):
        ledger.take(judged(path, limit=2))
    ledger.take(judged("4", limit=3))
    for path in ("5", "6"):
        ledger.take(judged(path, tool=LOGIN, name="ann"))
    assert [entry.repeats for entry in ledger.close()] == ["", "1", "1", "", "", ""]
    assert ledger.notes() == ("gym.clients.list was read 3 times with the same arguments: keep the answer",)


def test_a_read_after_a_write_is_no_repetition() -> None:
    ledger = Ledger()
    for path, tool in (("1", READ), ("2", LOGIN), ("3", READ)):
        ledger.take(judged(path, tool=tool, **({"limit": 2} if tool is READ else {"name": "ann"})))
    assert [entry.repeats for entry in ledger.close()] == ["", "", ""]
    assert ledger.notes() == ()
    ledger.take(judged("4", limit=2))
    assert ledger.notes() == ("gym.clients.list was read 2 times with the same arguments: keep the answer",)


def test_half_a_surrogate_pair_in_what_a_function_raised_does_not_reach_the_outcome() -> None:
    ledger = Ledger()
    ledger.take(judged())
    ledger.send("1")
    ledger.finish("1", ToolOutcome("gym.clients.list", CallState.FAILED, error=UpstreamError("raised \ud800")))
    assert ledger.close()[0].error == "raised ?"


@pytest.mark.parametrize("state", [*CallState])
def test_no_state_of_a_read_says_that_something_was_or_may_have_been_done(state: CallState) -> None:
    ledger = Ledger()
    ledger.take(judged())
    ledger.send("1")
    ledger.settle("1", state)
    assert ledger.entry("1").state not in (CallState.COMMITTED, CallState.UNKNOWN)
    ledger.finish("1", ToolOutcome("gym.clients.list", state))
    (entry,) = ledger.close()
    assert entry.state not in (CallState.COMMITTED, CallState.UNKNOWN)
