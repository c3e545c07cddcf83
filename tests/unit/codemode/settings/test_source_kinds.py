"""Nothing in a source is ignored: a key that its kind does not use is an error."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from codemode.settings.source_kinds import KEYS, unfitting
from codemode.settings.sources import KINDS, SourceSettings


def test_every_kind_and_every_key_is_in_the_table() -> None:
    assert set(KEYS) == set(KINDS) - {"auto"}
    keys = set(SourceSettings.model_fields) - {"options"}
    assert unfitting(KEYS, keys) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"location": "python:shop", "retries": 5},
            "retries: a source of kind python does not use it; it is for kind: openapi, google, graphql, toolkit, aws",
        ),
        (
            {"location": "a.json", "env": {"A": "b"}},
            "env: a source of kind openapi does not use it; it is for kind: mcp",
        ),
        (
            {"command": ["server"], "base_url": "https://x.example"},
            "base_url: a source of kind mcp does not use it; it is for kind: openapi, google, graphql, toolkit, aws",
        ),
        (
            {"location": "a.graphql", "overlays": ["b.yaml"]},
            "overlays: a source of kind graphql does not use it; it is for kind: openapi, google",
        ),
        (
            {"kind": "aws", "services": ["s3"], "headers": {"A": "b"}},
            "headers: a source of kind aws does not use it; it is for kind: openapi, google, graphql, toolkit, mcp",
        ),
    ],
)
def test_a_key_that_the_kind_does_not_use_is_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        SourceSettings(**settings)
    (error,) = caught.value.errors()
    assert error["msg"] == f"Value error, {message}"


@pytest.mark.parametrize(
    "settings",
    [
        {"location": "a.json", "bind": "tools.py"},
        {"location": "tools.json", "endpoints": {"a": "POST /a"}, "base_url": "https://x.example"},
        {"location": "a.json", "overlays": ["b.yaml"], "internal": True, "parameters": {"a": 1}},
        {"location": "python:shop", "retries": 2},  # the default
        {"kind": "mcp", "location": "https://x.example/mcp", "headers": {"A": "b"}, "transport": "sse"},
    ],
)
def test_a_key_that_the_kind_uses_is_valid(settings: dict[str, Any]) -> None:
    SourceSettings(**settings)
