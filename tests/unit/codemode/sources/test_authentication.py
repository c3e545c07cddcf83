"""The login that a document declares."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.settings import SourceSettings
from codemode.sources.authentication import declared_login
from codemode.sources.openapi.document import load_openapi

HOST = "https://api.example/v1/"


def _document(schemes: dict[str, Any], **security: Any) -> dict[str, Any]:
    paths = {
        f"/{name}": {"get": {"operationId": name, "security": needed, "responses": {}}}
        for name, needed in security.items()
    }
    return {"openapi": "3.1.0", "paths": paths, "components": {"securitySchemes": schemes}}


def _code_flow(**urls: str) -> dict[str, Any]:
    return {"type": "oauth2", "flows": {"authorizationCode": {**urls, "scopes": {"unused": ""}}}}


def test_the_scopes_of_the_operations_are_asked_for_and_no_others() -> None:
    schemes = {"Login": _code_flow(authorizationUrl="https://login.example/a", tokenUrl="https://login.example/t")}
    document = _document(
        schemes, a=[{"Login": ["read"]}], b=[{"Login": ["write", "read"]}, {"Login": ["admin"]}], c=[{}]
    )
    login = declared_login(load_openapi(document, name="api"), HOST)
    assert login is not None
    assert (login.scopes, login.authorization_url, login.token_url) == (
        ("read", "write"),
        "https://login.example/a",
        "https://login.example/t",
    )


def test_addresses_may_be_relative_to_the_server() -> None:
    schemes = {"Login": _code_flow(authorizationUrl="/authorize", tokenUrl="token")}
    login = declared_login(load_openapi(_document(schemes, a=[{"Login": []}]), name="api"), HOST)
    assert login is not None
    assert (login.authorization_url, login.token_url) == (
        "https://api.example/authorize",
        "https://api.example/v1/token",
    )


def test_of_several_logins_the_one_of_most_operations_counts() -> None:
    schemes = {
        "Old": _code_flow(authorizationUrl="https://old.example/a", tokenUrl="https://old.example/t"),
        "New": {"type": "openIdConnect", "openIdConnectUrl": "https://new.example/.well-known/openid-configuration"},
    }
    document = _document(schemes, a=[{"Old": []}], b=[{"New": ["x"]}], c=[{"New": []}])
    login = declared_login(load_openapi(document, name="api"), HOST)
    assert login is not None
    assert (login.name, login.metadata_url, login.scopes) == (
        "New",
        "https://new.example/.well-known/openid-configuration",
        ("x",),
    )


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://login.example/t", "scopes": {}}}},
        {"type": "oauth2", "flows": {"password": {"tokenUrl": "https://login.example/t", "scopes": {}}}},
        {"type": "oauth2", "flows": None},
        {"type": "openIdConnect"},
        {"type": "http", "scheme": "bearer"},
    ],
)
def test_a_scheme_without_a_login_of_a_person_declares_none(scheme: dict[str, Any]) -> None:
    assert declared_login(load_openapi(_document({"S": scheme}, a=[{"S": []}]), name="api"), HOST) is None


@pytest.mark.parametrize(
    ("scheme", "authorization", "device"),
    [
        (
            {
                "type": "oauth2",
                "flows": {
                    "clientCredentials": {"tokenUrl": "https://machines.example/t"},
                    "deviceAuthorization": {"deviceAuthorizationUrl": "https://l.example/d", "tokenUrl": "https://l.example/t"},
                },
            },
            "",
            "https://l.example/d",
        ),
    ],
)  # fmt: skip
def test_the_addresses_are_those_of_a_flow_in_which_a_person_logs_in(
    scheme: dict[str, Any], authorization: str, device: str
) -> None:
    login = declared_login(load_openapi(_document({"S": scheme}, a=[{"S": []}]), name="api"), HOST)
    assert login is not None
    assert (login.authorization_url, login.device_url, login.token_url) == (
        authorization,
        device,
        "https://l.example/t",
    )


def test_swagger_2_has_one_flow_in_its_scheme() -> None:
    scheme = {
        "type": "oauth2",
        "flow": "accessCode",
        "authorizationUrl": "https://l.example/a",
        "tokenUrl": "https://l.example/t",
        "scopes": {"read": ""},
    }
    document = {
        "swagger": "2.0",
        "securityDefinitions": {"S": scheme},
        "security": [{"S": ["read"]}],
        "paths": {"/a": {"get": {"operationId": "a", "responses": {}}}},
    }
    login = declared_login(load_openapi(document, name="api"), HOST)
    assert login is not None
    assert (login.authorization_url, login.token_url, login.scopes) == (
        "https://l.example/a",
        "https://l.example/t",
        ("read",),
    )


@pytest.mark.parametrize(
    ("settings", "server"),
    [
        ({"location": "https://api.example/v1/openapi.json"}, "https://api.example"),
        ({"location": "api.json", "base_url": "https://user@api.example:8443/v2"}, "https://api.example:8443"),
        ({"location": "api.json"}, ""),
        ({"kind": "mcp", "location": "https://mcp.example/mcp"}, "https://mcp.example/mcp"),
        ({"command": ["server"]}, ""),
        ({"location": "https://api.example/x.json", "credentials": [{"kind": "none"}]}, ""),
        (
            {
                "location": "https://api.example/x.json",
                "credentials": [{"kind": "api_key", "name": "X-Gateway", "value": {"env": "X"}}],
            },
            "https://api.example",
        ),
    ],
)
def test_tokens_are_for_the_address_that_calls_go_to(settings: dict[str, Any], server: str) -> None:
    assert SourceSettings.model_validate(settings).login_server == server
