from __future__ import annotations

import pytest
from pydantic import BaseModel

import sandbox
from codemode.executions.types import card, planned, rollback
from codemode.executions.types.json_form import form_of
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import PendingCall
from codemode.serving.http import approval_models, models
from codemode.serving.http.record_models import of_record

PUBLISHED: list[tuple[type[BaseModel], type]] = [
    (models.Refusal, sandbox.Refusal),
    (models.Failure, sandbox.Failure),
    (models.Usage, sandbox.Usage),
    (models.Call, LedgerEntry),
    (models.PlannedCall, planned.PlannedCall),
    (models.Outcome, ExecutionOutcome),
    (models.RollbackStep, rollback.Step),
    (models.RollbackRest, rollback.Left),
    (approval_models.Approval, PendingCall),
    (approval_models.Requester, card.Requester),
    (approval_models.KnownRecord, card.KnownRecord),
    (approval_models.CardArgument, card.CardArgument),
    (approval_models.CallsMade, card.CallsMade),
    (approval_models.Change, card.Change),
    (approval_models.EarlierApproval, card.EarlierApproval),
]


@pytest.mark.parametrize(("model", "record"), PUBLISHED, ids=lambda one: one.__qualname__)
def test_a_published_model_has_the_fields_of_its_record_and_requires_them(model: type[BaseModel], record: type) -> None:
    schema = model.model_json_schema(mode="serialization")
    names = [json_name for _, json_name in form_of(record).names]
    assert (list(schema["properties"]), schema["required"]) == (names, names)
    assert schema["title"] == model.__name__
    assert schema["description"]


def test_a_real_outcome_has_the_published_form() -> None:
    outcome = ExecutionOutcome.cancelled("ex_1")
    published = models.Outcome.model_validate(outcome.to_json())
    assert published.model_dump()["failure"]["type"] == "Cancelled"


def test_fields_are_described_by_the_docstring_of_the_record() -> None:
    schema = models.Outcome.model_json_schema()
    assert schema["properties"]["value"]["description"].startswith("The result of the program; null without one")
    assert schema["$defs"]["Call"]["properties"]["rule"]["description"].startswith("The policy's")


def test_a_field_of_the_model_replaces_that_of_the_record() -> None:
    @of_record(rollback.Left)
    class Rest(BaseModel):
        """A call that stays."""

        why: int

    assert Rest.model_json_schema()["properties"]["why"]["type"] == "integer"
    assert list(Rest.model_fields) == ["path", "tool", "why"]
