"""Which real call a listed call covers, and how a call that the plan does not list differs from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codemode.executions.types.planned import PlannedCall
from codemode.features.plans.matching import MadeCall, PlanMatching
from codemode.transports.base import Page

CREATED = "<id of crm.create #1>"


def digest(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)


def listed(label: str, path: str = "", /, *, definition: str = "d", **arguments: Any) -> PlannedCall:
    tool = label.partition(" ")[0]
    return PlannedCall(path or label, label, tool, "write", "", arguments, "ask", "r", digest(arguments), definition)


def made(tool: str, path: str = "9", /, *, definition: str = "d", **arguments: Any) -> MadeCall:
    return MadeCall(path, tool, arguments, digest(arguments), definition)


def labels(matching: PlanMatching, *calls: MadeCall) -> list[str]:
    taken = [matching.take(call) for call in calls]
    return [call.label if call is not None else "" for call in taken]


def test_each_listed_call_covers_one_call_in_any_order() -> None:
    matching = PlanMatching([listed("crm.pay #1", n=1), listed("crm.pay #2", n=2), listed("crm.pay #3", n=2)], ())
    calls = [made("crm.pay", str(n), n=value) for n, value in enumerate([2, 1, 2, 2])]
    assert labels(matching, *calls) == ["crm.pay #2", "crm.pay #1", "crm.pay #3", ""]
    assert matching.difference(calls[-1]).reason == "not in the plan: all of its calls of crm.pay were made already"


def test_among_equal_calls_the_one_at_the_same_place_of_the_program_is_taken() -> None:
    matching = PlanMatching([listed("crm.create #1", "1"), listed("crm.create #2", "2")], ())
    assert labels(matching, made("crm.create", "2"), made("crm.create", "1")) == ["crm.create #2", "crm.create #1"]


def test_a_placeholder_is_the_field_of_the_real_answer() -> None:
    plan = [listed("crm.create #1"), listed("crm.pay #1", to=CREATED), listed("crm.note #1", text=f"paid by {CREATED}")]
    matching = PlanMatching(plan, ())
    assert labels(matching, made("crm.pay", to=7)) == [""], "the answer is not known yet"
    assert labels(matching, made("crm.create", "1")) == ["crm.create #1"]
    matching.answered("1", {"id": 7, "name": "Ann"})
    assert labels(matching, made("crm.pay", to=8)) == [""]
    assert matching.difference(made("crm.pay", to=8)) == ("not in the plan: it differs in to", {"to": CREATED})
    assert labels(matching, made("crm.note", text="paid by 8"), made("crm.note", text="paid by 7")) == [
        "",
        "crm.note #1",
    ]
    assert labels(matching, made("crm.pay", to=7)) == ["crm.pay #1"]


@pytest.mark.parametrize(
    ("placeholder", "answer", "value"),
    [
        ("<answer of crm.create #1>", 7, 7),
        ("<answer of crm.create #1>", 7, "7"),
        ("<answer of crm.create #1>", {"answer": True}, True),
        ("<owner.id of crm.create #1>", {"owner": {"id": [1]}}, [1]),
        ("<owner.id of crm.create #1>", {"owner.id": 3, "owner": {"id": 4}}, 3),
        ("<items[0].id of crm.create #1>", {"items": [{"id": 5}, {"id": 6}]}, 5),
        ("<[0] of crm.create #1>", ["a", "b"], "a"),
        ("<id of crm.create #1>", Page({"id": 9}, [], None), 9),
    ],
)
def test_placeholders_name_parts_of_answers(placeholder: str, answer: Any, value: Any) -> None:
    matching = PlanMatching([listed("crm.create #1"), listed("crm.pay #1", to=[{"id": placeholder}])], ())
    matching.restore("1", "crm.create #1")
    matching.answered("1", answer)
    assert labels(matching, made("crm.pay", to=[{"id": value}])) == ["crm.pay #1"]


@pytest.mark.parametrize("answer", [None, [], {}, {"id": {}}, {"ids": 7}, {"id": True}])
def test_a_part_that_the_answer_lacks_equals_nothing(answer: Any) -> None:
    matching = PlanMatching([listed("crm.create #1"), listed("crm.pay #1", to=CREATED)], ())
    matching.restore("1", "crm.create #1")
    matching.answered("1", answer)
    assert labels(matching, made("crm.pay", to=1), made("crm.pay", to=CREATED)) == ["", ""]


def test_a_read_that_was_not_sent_gives_the_values_of_its_placeholders() -> None:
    read = listed("crm.get #1", id=CREATED)
    matching = PlanMatching([listed("crm.create #1"), listed("crm.pay #1", to="<iban of crm.get #1>")], [read])
    matching.restore("1", "crm.create #1")
    matching.answered("1", {"id": 7})
    matching.take_read(made("crm.get", "2", id=7))
    matching.answered("2", {"iban": "DE1"})
    assert labels(matching, made("crm.pay", to="DE2"), made("crm.pay", to="DE1")) == ["", "crm.pay #1"]


def test_a_text_that_looks_like_a_placeholder_of_no_listed_call_is_a_text() -> None:
    text = "<id of crm.other #1>"
    assert labels(PlanMatching([listed("crm.pay #1", to=text)], ()), made("crm.pay", to=text)) == ["crm.pay #1"]


def test_secrets_are_compared_by_digest() -> None:
    call = listed("crm.pay #1", pin="[redacted]")
    other = MadeCall("9", "crm.pay", {"pin": "[redacted]"}, "another digest", "d")
    assert labels(PlanMatching([call], ()), other) == [""]


def test_the_difference_names_the_nearest_listed_call() -> None:
    plan = [listed("crm.pay #1", to=1, amount=100), listed("crm.pay #2", to=2, amount=200)]
    matching = PlanMatching(plan, ())
    differs = "not in the plan: it differs in"
    assert matching.difference(made("crm.pay", to=2, amount=250)) == (f"{differs} amount", {"amount": 200})
    assert matching.difference(made("crm.pay", to=1)) == (f"{differs} amount", {"amount": 100})
    assert matching.difference(made("crm.pay", to=1, amount=100, at="now")) == (f"{differs} at", {})
    assert matching.difference(made("crm.pay", a=1, b=2, c=3, d=4)) == (
        f"{differs} a, b, c, 3 more",
        {"to": 1, "amount": 100},
    )
    assert matching.difference(made("crm.drop", to=1)).reason == "not in the plan: it lists no call of crm.drop"
    changed = made("crm.pay", definition="other", to=1, amount=100)
    assert labels(matching, changed) == [""]
    assert matching.difference(changed).reason == "not in the plan: crm.pay has changed since, or goes to another place"
