"""Where the calls of a source go and as whom, as it is recorded: what tells two places apart, and no secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.journal.key import DigestKey
from codemode.settings import SourceSettings
from codemode.sources.destination import HERE, destination_of

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = DigestKey(b"a key of tests").digest
API = {"location": "x.json", "base_url": "https://api.example/v1/"}
TOKEN = {"kind": "bearer", "token": {"env": "TOKEN"}}
HTTP = {"kind": "mcp", "location": "https://mcp.example/mcp"}


def facts(content: dict[str, Any]) -> dict[str, str]:
    return destination_of(SourceSettings.model_validate(content)).facts("up", DIGEST)


@pytest.mark.parametrize(
    ("content", "host", "address"),
    [
        (API, "api.example/v1", "https://api.example/v1"),
        ({"location": "https://u:p@api.example/x.json?key=s#f"}, "api.example/x.json", "https://api.example/x.json"),
        (HTTP, "mcp.example/mcp", "https://mcp.example/mcp"),
        ({"command": ["npx", "-y", "server", "--key=s"]}, *["the MCP server that 'npx' starts"] * 2),
        ({"kind": "aws", "services": ["s3"], "region": "eu-west-1"}, *["aws s3 in eu-west-1"] * 2),
        ({"location": "/a/bank.py"}, "the Python code bank.py", "the Python code /a/bank.py"),
    ],
)
def test_a_person_is_shown_where_calls_go(content: dict[str, Any], host: str, address: str) -> None:
    destination = destination_of(SourceSettings.model_validate(content))
    assert (destination.host, destination.address) == (host, address)


@pytest.mark.parametrize(
    ("content", "change"),
    [
        (API, {"base_url": "https://api.example/v2"}),
        (API, {"base_url": "https://other.example/v1"}),
        (API, {"base_url": "http://api.example/v1"}),
        (API, {"address": "10.0.0.1"}),
        (API, {"credentials": [TOKEN]}),
        ({**API, "credentials": [TOKEN]}, {"credentials": [{**TOKEN, "token": {"env": "OTHER"}}]}),
        ({**API, "credentials": [TOKEN]}, {"credentials": [{**TOKEN, "token": {"command": ["pass", "show", "b"]}}]}),
        (HTTP, {"location": "https://other.example/mcp"}),
        (HTTP, {"headers": {"X-Tenant": "b"}}),
        ({"command": ["npx", "a"]}, {"command": ["npx", "b"]}),
        ({"command": ["npx", "a"]}, {"env": {"TENANT": "b"}}),
        ({"kind": "aws", "services": ["s3"]}, {"profile": "prod"}),
    ],
)
def test_what_leads_elsewhere_is_another_place(content: dict[str, Any], change: dict[str, Any]) -> None:
    assert facts(content) == facts(dict(content))
    assert facts(content) != facts({**content, **change})


@pytest.mark.parametrize(
    "change", [{"location": "moved.json"}, {"timeout_s": 5}, {"base_url": "https://api.example/v1"}, {"exclude": ["a"]}]
)
def test_what_leads_nowhere_else_is_the_same_place(change: dict[str, Any]) -> None:
    assert facts(API) == facts({**API, **change})


def test_a_file_is_the_same_place_from_wherever_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for content in ({"location": "bank.py"}, {"kind": "toolkit", "location": "tools.json", "bind": "bank.py"}):
        whole = {name: str(tmp_path / text) if "." in text else text for name, text in content.items()}
        assert facts(content) == facts(whole)
        assert str(tmp_path / "bank.py") in facts(content)["the address of up"]


def test_no_plain_text_of_an_operator_is_recorded() -> None:
    content = {"command": ["npx", "--token", "s3cret"], "env": {"TOKEN": "s3cret"}, "headers": {"X-Key": "s3cret"}}
    assert "s3cret" not in json.dumps(facts(content))
    assert "s3cret" not in json.dumps(facts({**HTTP, "location": "https://me:s3cret@mcp.example/mcp?key=s3cret"}))


def test_credentials_are_named_by_their_references() -> None:
    basic = {"kind": "basic", "username": "ann", "password": {"file": "/run/password"}}
    said = facts({**API, "credentials": [TOKEN, basic]})["the credentials of up"]
    bearer = "bearer (token from the environment variable TOKEN)"
    assert said == f"{bearer}; basic (username ann) (password from the file /run/password)"


def test_functions_of_this_program_have_no_place_to_change() -> None:
    assert HERE.facts("shop", DIGEST) == {}
