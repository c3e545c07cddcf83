"""The document is valid, complete, and the one that is served."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from api_specs.gym.app import DEFAULT_CLOCK
from api_specs.gym.database import Database
from api_specs.gym.document import load

#: Operations of each tag.
COUNTS = """
    core 8, clients 12, memberships 6, attendance 6, revenue 2, trainers 2, enquiries 4, staff 5, salary 6,
    facilities 4, diets 4, plans 4, offers 5, leads 10, referrals 5, documents 5, goals 7, photos 2, notes 3, classes 4,
    appointments 4, guests 2, products 3, campaigns 2, equipment 3, custom_fields 2, engagement 3, gamification 4,
    loyalty 4, wearables 3, surveys 3"""


def items() -> list[dict[str, Any]]:
    return [operation for path in load().contents["paths"].values() for operation in path.values()]


def test_the_document_is_valid_openapi_3_1() -> None:
    assert load().contents["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(load().contents).iter_errors()) == []


def test_there_are_137_operations_in_30_tags_and_a_core() -> None:
    tags = Counter(operation["tags"][0] for operation in items())
    assert [f"{tag} {count}" for tag, count in tags.items()] == re.findall(r"\w+ \d+", COUNTS)
    assert (tags.total(), len(tags)) == (137, 31)
    assert len({operation["operationId"] for operation in items()}) == 137


def test_the_served_document_is_the_one_in_the_package(unchanged: Any) -> None:
    served = unchanged.http.get("/openapi.json", headers={"Authorization": ""})
    assert served.json() == load().contents
    assert json.dumps(served.json()) == json.dumps(load().contents)  # in the same order too


def test_the_service_has_the_routes_of_the_document_and_no_others(unchanged: Any) -> None:
    documented = {(operation.method, operation.path) for operation in load().operations.values()}
    routes = {(method, route.path) for route in unchanged.http.app.routes for method in route.methods - {"HEAD"}}
    assert {route for route in routes if not re.match(r"/(openapi|docs|redoc)", route[1])} == documented


def test_everything_is_described() -> None:
    for operation in items():
        name = operation["operationId"]
        assert operation["summary"], name
        assert all(load().resolved(parameter)["description"] for parameter in operation.get("parameters", ())), name
    for name, schema in load().contents["components"]["schemas"].items():
        assert schema.get("description") or name == "Problem", name
        for field, part in schema.get("properties", {}).items():
            assert {"description", "enum", "items"} & part.keys() or "oneOf" in part or "$ref" in part, (
                f"{name}.{field}"
            )


def test_examples_and_defaults_fit_their_schemas() -> None:
    document = load()
    for operation in document.operations.values():
        for parameter in operation.parameters:
            _fits(f"{operation.id}.{parameter.name}", parameter.schema)
    for name, schema in document.contents["components"]["schemas"].items():
        for field, part in schema.get("properties", {}).items():
            _fits(f"{name}.{field}", part)


def test_each_statement_uses_every_parameter_of_its_operation_and_nothing_else() -> None:
    statements = Database(":memory:", clock=DEFAULT_CLOCK).statements
    for operation in load().operations.values():
        parts = [sql for name, sql in statements.items() if name.split(".")[0] == operation.id]
        if parts:
            used = {name for sql in parts for name in re.findall(r"[^\w:]:([A-Za-z]\w*)", sql)} - {"today", "now"}
            assert used == {parameter.name for parameter in operation.parameters} - {"limit", "offset"}, operation.id


def _fits(where: str, schema: dict[str, Any]) -> None:
    for value in [*schema.get("examples", ()), *([schema["default"]] if "default" in schema else [])]:
        assert load().mistakes(schema, value) == [], where
