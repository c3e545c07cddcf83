"""Paths of the console, and which form an answer has."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from codemode.serving.console.views import here, path_in, wants_json


def asked(path: str = "/console/catalog", query: str = "", **headers: str) -> Request:
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "path": path, "query_string": query.encode(), "headers": given})


def test_segments_and_queries_are_quoted() -> None:
    assert path_in("/console") == "/console"
    assert path_in("/console", "tools", "a/b?c", page=2, effect="", tag=None) == "/console/tools/a%2Fb%3Fc?page=2"


def test_a_page_is_linked_with_other_parameters() -> None:
    request = asked(query="effect=read&page=2")
    assert here(request) == "/console/catalog?effect=read&page=2"
    assert here(request, page=3) == "/console/catalog?effect=read&page=3"
    assert here(request, effect="", page=None) == "/console/catalog"


@pytest.mark.parametrize(
    ("query", "accept", "is_json"),
    [
        ("", "text/html,application/xhtml+xml,*/*;q=0.8", False),
        ("format=json", "text/html", True),
        ("format=html", "application/json", False),
        ("", "application/json", True),
        ("", "*/*", False),
        ("", "", False),
    ],
)
def test_clients_ask_for_json(query: str, accept: str, is_json: bool) -> None:
    assert wants_json(asked(query=query, accept=accept)) is is_json
