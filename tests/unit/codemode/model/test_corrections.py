from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Location, Parameter, Tool
from codemode.model.corrections import native_call, with_example


@pytest.mark.parametrize(
    ("name", "given", "example"),
    [
        ("search", ["a", "b"], 'search takes queries: search({"queries": ["a", "b"]})'),
        ("search", {"query": "list clients"}, 'search takes queries: search({"queries": ["list clients"]})'),
        ("search", {"q": ["a"], "limit": 3}, 'search takes queries: search({"limit": 3, "queries": ["a"]})'),
        ("search", "freeze", 'search takes queries: search({"queries": ["freeze"]})'),
        ("search", {"queries": ["a"], "top_k": 3}, 'search takes queries: search({"queries": ["a"]})'),
        ("search", {"query": "a", "limit": 5000}, 'search takes queries: search({"queries": ["a"]})'),
        ("search", {}, 'search takes queries: search({"queries": ["list clients"]})'),
        ("search", None, 'search takes queries: search({"queries": ["list clients"]})'),
        ("search", [1, 2], 'search takes queries: search({"queries": ["list clients"]})'),
        ("search", {"query": "x" * 400}, 'search takes queries: search({"queries": ["list clients"]})'),
        ("execute", {"program": "1 + 1"}, 'execute takes code: execute({"code": "1 + 1"})'),
        ("execute", ["a = 1", "a"], 'execute takes code: execute({"code": "a = 1\\na"})'),
        ("execute", {"code": "1", "language": "python"}, 'execute takes code: execute({"code": "1"})'),
        (
            "execute",
            {"code": "1", "resume_from": "ex_1", "dry_run": True},
            'execute takes code: execute({"code": "1", "dry_run": true})',
        ),
        (
            "execute",
            {"code": "", "resume_from": "pl_0123456789abcdef0123456789abcdef", "dry_run": True},
            'execute takes code: execute({"code": "", "resume_from": "pl_0123456789abcdef0123456789abcdef"})',
        ),
        ("execute", {}, 'execute takes code: execute({"code": "search([\'list clients\'])"})'),
        ("shop-find_order", ["a"], ""),
    ],
)
def test_wrong_arguments_are_answered_with_one_valid_call(name: str, given: Any, example: str) -> None:
    assert with_example("wrong", name, given) == (f"wrong. {example}" if example else "wrong")


def parameter(name: str, kind: str, *, required: bool = True) -> Parameter:
    return Parameter(name, name, Location.ARGUMENT, required=required, schema=Schema.of({"type": kind}))


PAY = Tool(
    "bank.pay",
    source="bank",
    details=lambda: Details(
        (parameter("to", "string"), parameter("euros", "number"), parameter("note", "string", required=False))
    ),
)


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ({"to": "ann", "amount": 3}, '{"to": "ann", "euros": 3}'),
        ({"args": ["ann", 3]}, '{"to": "ann", "euros": 3}'),
        ({"kwargs": {"to": "ann", "euros": 3}, "note": "hi"}, '{"to": "ann", "euros": 3, "note": "hi"}'),
        ({"to": "ann", "euros": "three"}, '{"to": "ann", "euros": "…"}'),
        ({"note": "hi"}, '{"note": "hi", "to": "…", "euros": "…"}'),
        ({"to": "ann", "amount": "three"}, '{"to": "ann", "euros": "…"}'),
        ({"to": "x" * 400, "amount": 3}, '{"to": "…", "euros": "…"}'),
    ],
)
def test_a_native_call_keeps_what_fits(given: dict[str, Any], call: str) -> None:
    assert native_call(PAY, "bank-pay", given) == f"Call bank-pay({call})"
