from __future__ import annotations

from typing import Any

import pytest

from codemode.serving.agent.corrections import with_example


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
        ("execute", {}, 'execute takes code: execute({"code": "search([\'list clients\'])"})'),
        ("shop-find_order", ["a"], ""),
    ],
)
def test_wrong_arguments_are_answered_with_one_valid_call(name: str, given: Any, example: str) -> None:
    assert with_example("wrong", name, given) == (f"wrong. {example}" if example else "wrong")
