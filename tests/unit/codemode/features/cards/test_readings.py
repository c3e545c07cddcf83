"""Which record an id argument means."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from codemode.executions.types.record import Record
from codemode.executions.types.records import JournalEntry
from codemode.features.cards.readings import Readings

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def readings(*answers: tuple[Any, ...], is_error: bool = False) -> Readings:
    """Return the readings of an execution whose tools gave these answers, in this order.

    The third member are the arguments of the call, the fourth its effect.
    """
    entries = [
        JournalEntry(
            "delivered",
            str(number),
            {
                "call": number,
                "now": 0,
                "marks": [],
                "tool": tool,
                "digest": "",
                "error": is_error,
                "state": "committed",
                "start_s": 0.0,
                "arguments": more[0] if more else {},
                "effect": more[1] if more[1:] else "read",
            },
            json.dumps(answer).encode(),
            number,
            number * 10,
        )
        for number, (tool, answer, *more) in enumerate(answers, 1)
    ]
    return Readings(Record("ex_1", entries))


def named(found: Readings, argument: str, value: Any, tool: str = "") -> dict[str, Any] | None:
    source = next(iter(found._by_id.values()))[0][1].call.tool.partition(".")[0] if found._by_id else ""
    reading = found.find(argument, value, tool or f"{source}.salary.pay_salary")
    return None if reading is None else found.naming(reading)


SALARIES = [{"id": 173, "staffId": 5, "amountMinor": 1000, "month": "2026-02", "apiKey": "hush"}]


@pytest.mark.parametrize(
    ("tool", "answer", "argument", "value"),
    [
        ("gym.salary.get_pending_salaries", SALARIES, "salaryId", 173),
        ("gym.salary.get_pending_salaries", {"items": SALARIES}, "salary_id", "173"),
        ("gym.reports.overview", {"salaries": SALARIES[0]}, "salaryId", 173),
        ("gym.salary.get_pending_salaries", SALARIES, "id", 173),
        ("gym.any.thing", [{"salaryId": 173, "amountMinor": 1000, "month": "2026-02"}], "salaryId", 173),
        ("gym.any.thing", [{"id": UUID, "amountMinor": 1000, "month": "2026-02"}], "salaryId", UUID),
    ],
)
def test_a_record_with_the_id_and_of_the_kind_is_found(tool: str, answer: Any, argument: str, value: Any) -> None:
    assert named(readings((tool, answer)), argument, value) == {"amountMinor": 1000, "month": "2026-02"}


@pytest.mark.parametrize(
    ("tool", "answer", "argument", "value"),
    [
        ("gym.members.list", [{"id": 173, "name": "Ann"}], "salaryId", 173),
        ("gym.staff.get_salary_history", SALARIES, "staffId", 173),
        ("gym.staff.get_salary_history", SALARIES, "staffId", 5),
        ("gym.salary.get_pending_salaries", SALARIES, "salaryId", True),
        ("gym.salary.get_pending_salaries", SALARIES, "salaryId", [173]),
        ("gym.salary.get_pending_salaries", SALARIES, "salaryId", 174),
    ],
)
def test_a_record_of_another_kind_is_none(tool: str, answer: Any, argument: str, value: Any) -> None:
    assert named(readings((tool, answer)), argument, value) is None


def test_the_newest_record_counts_and_errors_do_not() -> None:
    old, new = [{"id": 1, "name": "Ann"}], [{"id": 1, "name": "Anna"}]
    assert named(readings(("m.members.list", old), ("m.members.list", new)), "memberId", 1) == {"name": "Anna"}
    error = dict.fromkeys(("message", "kind", "status", "body", "retry_after_s")) | {"body": {"id": 1, "name": "Ann"}}
    assert named(readings(("m.members.list", error), is_error=True), "memberId", 1) is None


def test_a_mail_address_names_a_person() -> None:
    found = readings(("m.members.list", [{"id": 1, "name": "Ann", "email": "ann@example.com"}]))
    assert named(found, "to", "ann@example.com") == {"name": "Ann", "email": "ann@example.com"}


def test_a_name_comes_from_an_inner_object_or_from_the_record_that_is_referred_to() -> None:
    inner = readings(("s.orders.list", [{"id": 7, "total": 5, "customer": {"name": "Ann", "token": "hush"}}]))
    assert named(inner, "orderId", 7) == {"customer.name": "Ann", "total": 5}
    referred = readings(
        ("s.customers.list", [{"id": 3, "name": "Ann"}]), ("s.orders.list", [{"id": 7, "customerId": 3}])
    )
    assert named(referred, "orderId", 7) == {"customerId → name": "Ann"}


def test_fields_are_few_and_short() -> None:
    wide = {"id": 1, **{f"amount_{letter}": 1 for letter in "abcdefghijklm"}, "title": "x" * 5_000}
    shown = named(readings(("s.orders.get", wide)), "orderId", 1)
    assert shown is not None
    assert len(shown) == 8
    assert len(str(shown["title"])) <= 201


def test_a_field_of_the_record_is_compared_by_its_words() -> None:
    found = readings(("gym.salary.list", SALARIES))
    reading = found.find("salaryId", 173, "gym.salary.pay")
    assert reading is not None
    assert (found.same_field(reading, "amount_minor"), found.same_field(reading, "staff_id")) == (1000, 5)
    assert found.same_field(reading, "apiKey") is None
    assert found.same_field(reading, "note") is None


def test_an_answer_that_is_too_large_is_left_out() -> None:
    large = [{"id": 2, "name": "x" * (4 << 20)}]
    found = readings(("m.members.list", [{"id": 1, "name": "Ann"}]), ("m.members.list", large))
    assert (named(found, "memberId", 1), named(found, "memberId", 2)) == ({"name": "Ann"}, None)


ACME = {"id": "acct-evil", "name": "ACME (verified)"}
NAMED = {"name": "ACME (verified)"}


def test_a_record_comes_from_the_source_of_the_tool_only() -> None:
    found = readings(("crm.accounts.list", [ACME]))
    assert named(found, "account_id", "acct-evil", "crm.pay") == NAMED
    assert named(found, "account_id", "acct-evil", "bank.pay") is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": json.dumps(ACME)},
        {"data": ACME},
        {"parts": ["acct-", "evil", "ACME"]},
        {"text": '{"id": "\\u0061cct-evil"}'},
        {"text": "acct%2Devil"},
        {"text": "&#97;cct-evil"},
        {"text": "ACCT EVIL"},
        {"id": "acct-evil"},
        {"acct-evil": 1},
        {"text": "x" * 100_001},
        {"data": base64.b64encode(json.dumps(ACME).encode()).decode()},
        {"text": json.dumps(ACME)[::-1]},
        {"codes": [*json.dumps(ACME).encode()]},
    ],
)
def test_a_call_whose_arguments_hold_the_id_tells_nothing_of_it(arguments: Any) -> None:
    assert named(readings(("bank.echo", ACME, arguments)), "account_id", "acct-evil") is None


@pytest.mark.parametrize(
    "arguments",
    [{"kind": "supplier"}, {"since": "2026-01-01", "until": "2026-12-31T10:00:00Z"}, {"owner_id": UUID, "limit": 100}],
)
def test_a_call_with_plain_filters_names_records(arguments: Any) -> None:
    assert named(readings(("bank.accounts.list", [ACME], arguments)), "account_id", "acct-evil") == NAMED


def test_an_older_record_counts_when_the_newest_is_the_programs_own() -> None:
    found = readings(("bank.list", [{**ACME, "name": "Evil Ltd"}]), ("bank.echo", ACME, {"text": json.dumps(ACME)}))
    assert named(found, "account_id", "acct-evil") == {"name": "Evil Ltd"}


def test_what_the_program_has_written_does_not_name_a_record() -> None:
    made = ("bank.contacts.create", {"id": "ct-123456", "name": "ACME (verified)", "limit": 9}, NAMED, "write")
    assert named(readings(made), "contact_id", "ct-123456") == {"limit": 9}
    read = ("bank.contacts.list", [{"id": "ct-123456", "name": "ACME (verified)", "limit": 9}])
    assert named(readings(made, read), "contact_id", "ct-123456") == {"limit": 9}
    assert named(readings(read, made), "contact_id", "ct-123456") == {"limit": 9}
    assert named(readings(read), "contact_id", "ct-123456") == {**NAMED, "limit": 9}


def test_what_a_filter_has_asked_for_is_left_out_and_the_rest_is_shown() -> None:
    found = readings(("bank.refunds.list", [{"id": 170, "member": "Ann", "status": "due"}], {"status": "due"}))
    assert named(found, "refund_id", 170) == {"member": "Ann"}
