"""Hints with the full id for tools called without their namespace."""

from __future__ import annotations

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.executions.run.advice import advised
from sandbox import Failure

CATALOG = Catalog(
    Tool(f"gym.clients.{name}", source="gym", effect=Effect.READ) for name in ("get_clients_list", "get_client_details")
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("get_clients_list", "call tools by their full id: write gym.clients.get_clients_list"),
        ("get_client_list", "did you mean gym.clients.get_clients_list"),
        ("clients", "write gym.clients: clients is a group of tools"),
    ],
)
def test_a_missing_name_that_ends_the_id_of_a_tool_is_given_in_full(name: str, said: str) -> None:
    failure = Failure("NameError", f"name '{name}' is not defined", hint="make it")
    assert advised(failure, CATALOG).hint.startswith(said)


@pytest.mark.parametrize("failure", [Failure("NameError", "name 'rows' is not defined", hint="a"), Failure("E", "x")])
def test_other_failures_stay_as_they_are(failure: Failure) -> None:
    assert advised(failure, CATALOG) is failure
