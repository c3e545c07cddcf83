"""What a model reads of an outcome."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.gateway.call import CallState
from codemode.model.outcome_text import SHOWN_CHARACTERS, Audience, outcome_data, outcome_text
from sandbox import Usage

REPAIRS = Audience(can_resume=True)


def call(tool: str, state: CallState, preview: str = "null", **fields: Any) -> LedgerEntry:
    effect = "read" if state is CallState.READ else "write"
    return LedgerEntry("1", tool, {}, state, 0.0, 0.1, preview=preview, effect=effect, **fields)


def ended(*calls: LedgerEntry, **fields: Any) -> ExecutionOutcome:
    given = {"id": "ex_1", "status": "completed", "result": None, "has_value": False, "usage": Usage(), **fields}
    return ExecutionOutcome(calls=calls, **given)


SENT = call("slack.send_direct_message", CallState.COMMITTED)


def test_a_write_without_a_result_has_a_receipt() -> None:
    receipt = "completed: 1 write made (slack.send_direct_message); the last expression was None"
    assert outcome_text(ended(SENT), to=REPAIRS) == receipt
    assert outcome_data(ended(SENT), to=REPAIRS)["text"] == receipt


def test_a_program_that_lost_what_its_calls_answered_is_told_how_not_to_repeat_them() -> None:
    paid, read = call("bank.pay", CallState.COMMITTED, '{"id": 5}'), call("bank.list", CallState.READ, "[1]")
    text = outcome_text(ended(paid, read, read), to=REPAIRS)
    assert text.splitlines() == [
        "completed: 1 write made (bank.pay), 2 reads made (bank.list \N{MULTIPLICATION SIGN}2);"
        " the last expression was None",
        "to see what the calls answered, do not make them again: send the program with an expression as its last line"
        " and resume_from='ex_1'",
    ]
    assert "resume_from" not in outcome_text(ended(paid))


@pytest.mark.parametrize(
    "fields", [{"has_value": True, "result": 5}, {"output": "sent\n"}, {"status": "queued"}, {"status": "cancelled"}]
)
def test_a_result_an_output_and_an_open_end_need_no_receipt(fields: dict[str, Any]) -> None:
    assert "made (" not in outcome_text(ended(SENT, **fields))


def test_a_program_that_did_nothing_is_told_how_to_end() -> None:
    assert outcome_text(ended()) == "completed without a result: end the program with an expression"


def test_a_large_result_is_shown_by_its_head_its_count_and_its_handle() -> None:
    rows = [{"id": n, "name": f"member {n}", "status": "active"} for n in range(2000)]
    text = outcome_text(ended(has_value=True, result=rows), to=REPAIRS)
    assert len(text) < SHOWN_CHARACTERS + 200
    assert text.startswith('[{"id": 0, "name": "member 0", "status": "active"}, ')
    assert "of 2,000 items" in text
    assert "load('h_1')" in text
    native = outcome_text(ended(has_value=True, result=rows), to=Audience(made_a_call=True, runs_programs=False))
    assert "load(" not in native
    assert "load_result(handle='h_1', path=…, start=…) shows the rest" in native


def test_a_reader_who_runs_no_programs_is_not_told_what_a_program_can_do_about_a_list() -> None:
    outcome = ended(
        has_value=True, result=[1], notes=("gym.clients.list returned 1 of 40; gym.clients.list.items(…) returns all",)
    )
    assert outcome_text(outcome).endswith(
        "note: gym.clients.list returned 1 of 40; gym.clients.list.items(…) returns all"
    )
    native = outcome_text(outcome, to=Audience(made_a_call=True, runs_programs=False))
    assert native.endswith("note: gym.clients.list returned 1 of 40")
