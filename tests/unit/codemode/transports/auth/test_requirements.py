"""Selection of credentials for an operation."""

from __future__ import annotations

import copy
import pickle  # noqa: TID251 -- it must refuse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError, CredentialsMissing, UpstreamError
from codemode.settings import Secrets, SourceSettings
from codemode.shared.files import FolderStore
from codemode.sources.authentication import authentication_of, check_schemes
from codemode.sources.check import check_surface
from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.credentials import CallerCredentials
from codemode.transports.auth.requirements import challenge_advice, challenge_parameter
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from codemode.sources.loaded import Surface
    from tests.unit.codemode.transports.recorder import Received, Recorder

SCHEMES = {
    "Key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "App": {"type": "apiKey", "in": "query", "name": "app"},
    "Session": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "Token": {"type": "http", "scheme": "bearer"},
    "Password": {"type": "http", "scheme": "basic"},
    "Login": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://x.test/token", "scopes": {}}}},
    "Certificate": {"type": "mutualTLS"},
    "Signature": {"type": "http", "scheme": "hoba"},
}
KEY = {"kind": "api_key", "name": "x-key", "value": {"env": "KEY"}}
APP = {"kind": "api_key", "name": "app", "location": "query", "value": {"env": "APP"}}
TOKEN = {"kind": "bearer", "token": {"env": "TOKEN"}}
PASSWORD = {"kind": "basic", "username": "ann", "password": {"env": "PASSWORD"}}


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEY", "APP", "TOKEN", "PASSWORD"):
        monkeypatch.setenv(name, f"secret-{name.lower()}")


def _surface(security: Any, *, everywhere: Any = None, schemes: Any = SCHEMES) -> Surface:
    operation = {"operationId": "op"} | ({} if security is None else {"security": security})
    document: dict[str, Any] = {"openapi": "3.1.0", "paths": {"/x": {"get": operation}}}
    document["components"] = {"securitySchemes": schemes}
    if everywhere is not None:
        document["security"] = everywhere
    return load_openapi(document, name="api")


async def _sent(
    recorder: Recorder, surface: Surface, *credentials: dict[str, Any], caller: CallerCredentials | None = None
) -> Received:
    settings = SourceSettings.model_validate({"location": "x", "credentials": credentials})
    authentication = authentication_of("api", settings, Secrets(), tokens=_nowhere())
    transport = HttpTransport(Reach("api", recorder.url, retries=0), authentication=authentication)
    try:
        await transport.call(surface.tools[0], {}, CallContext(credentials=caller or CallerCredentials()))
    finally:
        await transport.aclose()
    return recorder.received[-1]


def _nowhere() -> FolderStore:
    return FolderStore(Path("/nonexistent"))


def _seen(received: Received) -> set[str]:
    texts = (received.headers.get("X-Key"), received.headers.get("Authorization"), received.headers.get("Cookie"))
    found = {text for text in texts if text}
    return found | {received.target.partition("?")[2]} - {""}


@pytest.mark.parametrize(
    ("security", "credentials", "expected"),
    [
        ([{"Key": []}], [KEY, TOKEN], {"secret-key"}),
        ([{"Token": []}], [KEY, TOKEN], {"Bearer secret-token"}),
        ([{"Key": [], "App": []}], [APP, TOKEN, KEY], {"secret-key", "app=secret-app"}),
        ([{"Key": [], "App": []}, {"Token": []}], [TOKEN, KEY], {"Bearer secret-token"}),
        ([{"Key": []}, {"Token": []}], [TOKEN, KEY], {"secret-key"}),
        ([], [KEY, TOKEN], set()),
        ([{}], [KEY, TOKEN], set()),
        ([{}, {"Key": []}], [KEY], {"secret-key"}),
        ([{}, {"Key": []}], [TOKEN], set()),
        ([{"Login": ["read"]}], [TOKEN], {"Bearer secret-token"}),
        ([{"Password": []}], [TOKEN, PASSWORD], {"Basic YW5uOnNlY3JldC1wYXNzd29yZA=="}),
        ([{"Signature": []}], [TOKEN], {"Bearer secret-token"}),
        ([{"Nowhere": []}], [TOKEN, KEY], {"secret-key", "Bearer secret-token"}),
        ([{"Nowhere": []}, {"Key": []}], [TOKEN, KEY], {"secret-key"}),
        ([{"Certificate": []}], [{"kind": "none"}], set()),
        ([{"Key": []}], [{"kind": "none"}], set()),
        ([{"Key": []}], [{**TOKEN, "scheme": "Key"}], {"Bearer secret-token"}),
        ([{"Key": []}], [{**TOKEN, "scheme": "*"}], {"Bearer secret-token"}),
        ([], [{**APP, "scheme": "*"}, KEY], {"app=secret-app"}),
        ([{"Token": []}], [{**TOKEN, "token": {"env": "APP"}}, {**TOKEN, "scheme": "Token"}], {"Bearer secret-token"}),
        (None, [KEY, APP, TOKEN, PASSWORD], {"secret-key", "app=secret-app", "Bearer secret-token"}),
    ],
)
async def test_exactly_what_an_alternative_asks_for_is_sent(
    recorder: Recorder, security: Any, credentials: list[dict[str, Any]], expected: set[str]
) -> None:
    assert _seen(await _sent(recorder, _surface(security), *credentials)) == expected


async def test_what_the_document_requires_holds_where_the_operation_says_nothing(recorder: Recorder) -> None:
    assert _seen(await _sent(recorder, _surface(None, everywhere=[{"Key": []}]), KEY, TOKEN)) == {"secret-key"}
    assert _seen(await _sent(recorder, _surface([], everywhere=[{"Key": []}]), KEY, TOKEN)) == set()


async def test_the_security_definitions_of_swagger(recorder: Recorder) -> None:
    document = {
        "swagger": "2.0",
        "securityDefinitions": {
            "Password": {"type": "basic"},
            "Login": {"type": "oauth2", "flow": "application", "tokenUrl": "https://x.test/token"},
            "Key": {"type": "apiKey", "in": "query", "name": "app"},
        },
        "security": [{"Login": ["read"]}, {"Key": []}],
        "paths": {"/x": {"get": {"operationId": "op"}, "post": {"operationId": "p", "security": [{"Password": []}]}}},
    }
    surface = load_openapi(document, name="api")
    assert _seen(await _sent(recorder, surface, PASSWORD, APP)) == {"app=secret-app"}
    (post,) = (tool for tool in surface.tools if tool.key == "POST /x")
    assert post.invocation.security == ((surface.auth[0],),)
    assert surface.auth[1].words.startswith("Login: {kind: oauth2, token_url: https://x.test/token,")


async def test_what_is_missing_is_said_before_anything_is_sent(recorder: Recorder) -> None:
    surface = _surface([{"Key": [], "App": []}, {"Login": ["read"]}])
    with pytest.raises(CredentialsMissing) as caught:
        await _sent(recorder, surface, PASSWORD)
    assert str(caught.value) == (
        "api requires Key and App, or Login here, which is not configured; nothing was sent. "
        'Write under sources.api (or `scheme: "*"` at an existing credential, if the service accepts it):\n'
        "  credentials:\n"
        "    - {kind: oauth2, token_url: https://x.test/token, client_id: …, client_secret: {env: API_LOGIN}}"
        " # clientCredentials; or kind: bearer with a token"
    )
    assert caught.value.for_model() == (
        "the operator has not configured the credentials that api requires here (Key and App, or Login); "
        "nothing was sent, and retrying will not help"
    )
    assert recorder.received == []


@pytest.mark.parametrize(
    ("scheme", "line"),
    [
        ("Key", "    - {kind: api_key, name: X-Key, location: header, value: {env: API_X_KEY}}"),
        ("Session", "    - {kind: api_key, name: sid, location: cookie, value: {env: API_SID}}"),
        ("Token", "    - {kind: bearer, token: {env: API_TOKEN}}"),
        ("Password", "    - {kind: basic, username: …, password: {env: API_PASSWORD}}"),
        ("Certificate", "  client_certificate: {certificate: FILE, key: FILE}"),
        (
            "Signature",
            "  http hoba is not supported: each request answers a challenge. Put a proxy that authenticates before the "
            "service, and set its URL as base_url with `credentials: [{kind: none}]`",
        ),
    ],
)
async def test_the_lines_to_write_are_those_of_the_scheme(recorder: Recorder, scheme: str, line: str) -> None:
    with pytest.raises(CredentialsMissing) as caught:
        await _sent(recorder, _surface([{scheme: []}]))
    assert str(caught.value).splitlines()[-1] == line
    assert "(or `credentials: [{kind: none}]`, if this service needs none)" in str(caught.value)


async def test_a_document_that_forgets_what_is_asked_for_is_named(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(401, body=b'{"message": "who are you?"}')
    with pytest.raises(UpstreamError) as caught:
        await _sent(recorder, _surface([]), TOKEN)
    assert str(caught.value) == (
        "api answered 401 Unauthorized: who are you?; no credential was sent, because the document declares none here; "
        'set `scheme: "*"` to send one always'
    )
    for credential in ({**TOKEN, "scheme": "*"}, {"kind": "none"}):
        with pytest.raises(UpstreamError, match=r"who are you\?$"):
            await _sent(recorder, _surface([]), credential)


def test_a_credential_for_a_scheme_that_is_not_there_is_refused() -> None:
    settings = SourceSettings.model_validate({"location": "x", "credentials": [{**TOKEN, "scheme": "Tokn"}]})
    with pytest.raises(ConfigurationError, match=r"no security scheme 'Tokn'; did you mean 'Token'\? declared: Key"):
        check_schemes("api", settings, _surface([]).auth)


async def test_a_credential_takes_the_place_of_an_argument(recorder: Recorder) -> None:
    parameters = [
        {"name": name, "in": place, "schema": {"type": "string"}}
        for name, place in (("X-Key", "header"), ("app", "query"), ("sid", "cookie"))
    ]
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "op", "parameters": parameters}}}}
    (tool,) = load_openapi(document, name="api").tools
    session = {"kind": "api_key", "name": "sid", "location": "cookie", "value": {"env": "TOKEN"}}
    settings = SourceSettings.model_validate({"location": "x", "credentials": [KEY, APP, session]})
    authentication = authentication_of("api", settings, Secrets(), tokens=_nowhere())
    transport = HttpTransport(Reach("api", recorder.url), authentication=authentication)
    await transport.call(tool, {"X_Key": "mine", "app": "mine", "sid": "mine"}, CallContext())
    await transport.aclose()
    assert _seen(recorder.received[0]) == {"secret-key", "app=secret-app", "sid=secret-token"}


async def test_what_the_caller_brings_is_sent_for_that_call_alone(recorder: Recorder) -> None:
    surface = _surface([{"Token": []}])
    own = {"kind": "bearer", "token": {"caller": "X-GitHub-Token"}}
    brought = CallerCredentials({"x-github-token": "of-the-caller"})
    assert _seen(await _sent(recorder, surface, own, caller=brought)) == {"Bearer of-the-caller"}
    with pytest.raises(CredentialsMissing, match="credential 'X-GitHub-Token', and it is missing; nothing was sent"):
        await _sent(recorder, surface, own)
    with pytest.raises(CredentialsMissing, match="cannot be sent to api") as caught:
        await _sent(recorder, surface, own, caller=CallerCredentials({"X-GitHub-Token": "a\r\nX-Admin: b"}))
    assert "X-Admin" not in str(caught.value)
    assert len(recorder.received) == 1


def test_a_report_says_for_how_many_operations_what_is_asked_for() -> None:
    report = check_surface(_surface([{"Key": [], "App": []}, {"Token": []}]))
    assert report.auth_needed == {"Key and App, or Token": 1}
    assert report.auth[0] == "Key: {kind: api_key, name: X-Key, location: header, value: …}"
    assert check_surface(_surface([])).auth_needed == {"none": 1}
    assert check_surface(_surface(None)).auth_needed == {"unspecified": 1}


def test_credentials_of_a_caller_are_not_copied_or_shown() -> None:
    brought = CallerCredentials({"X-Token": "of-the-caller"})
    assert "of-the-caller" not in repr(brought)
    for store in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match="cannot be stored or copied"):
            store(brought)


@pytest.mark.parametrize(
    ("scheme", "line"),
    [
        (
            {"type": "apiKey", "in": "header", "name": "Authorization", "description": 'with required prefix "Token"'},
            "{kind: api_key, name: Authorization, location: header, value: …, prefix: Token}",
        ),
        (
            {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Send `ApiKey <your key>`."},
            "{kind: api_key, name: Authorization, location: header, value: …, prefix: ApiKey}",
        ),
        (
            {"type": "http", "scheme": "token"},
            "{kind: api_key, name: Authorization, value: …, scheme: S, prefix: Token} # http token",
        ),
    ],
)
def test_the_word_before_a_key_is_in_the_line_to_write(scheme: dict[str, str], line: str) -> None:
    document = {"openapi": "3.0.3", "paths": {}, "components": {"securitySchemes": {"S": scheme}}}
    (declared,) = load_openapi(document, name="api").auth
    assert declared.words == f"S: {line}"


@pytest.mark.parametrize(
    ("challenge", "advice"),
    [
        ('Digest realm="x", nonce="1"', "; it asks for HTTP Digest authentication, which is not supported"),
        (
            'Token realm="api"',
            "; it asks for the prefix Token: the operator can set `prefix: Token` at a credential of kind api_key",
        ),
        ("Bearer", ""),
        ('Basic realm="x"', ""),
        ("", ""),
    ],
)
def test_a_rejected_request_says_what_the_service_asks_for(challenge: str, advice: str) -> None:
    assert challenge_advice(challenge) == advice


@pytest.mark.parametrize(
    ("challenge", "name", "value"),
    [
        ('Bearer error="insufficient_scope", scope="read write"', "scope", "read write"),
        ("Bearer error=insufficient_scope,scope=read", "error", "insufficient_scope"),
        ('Bearer x_scope="evil", Scope = "read"', "scope", "read"),
        ('Bearer realm="x"', "scope", ""),
        ("", "scope", ""),
    ],
)
def test_a_parameter_of_a_challenge_is_found_by_its_name(challenge: str, name: str, value: str) -> None:
    assert challenge_parameter(challenge, name) == value
