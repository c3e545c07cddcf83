"""Logins at a real authorization server, and the fate of their tokens."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from codemode.errors import AddressNotAllowed, ConfigurationError, CredentialsMissing, UpstreamError, UpstreamTimeout
from codemode.shared.files import token_file
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import Authentication, Configured, SchemeKind
from codemode.transports.auth.token_store import Tokens, TokenStore
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.oauth.login import Login, log_in_by_browser, log_in_by_device
from codemode.transports.oauth.tokens import TokenSource
from tests.unit.codemode.transports.authorization_server import AuthorizationServer, running
from tests.unit.codemode.transports.oauth.robot import TOOL, _transport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def server() -> AsyncIterator[AuthorizationServer]:
    async with running(AuthorizationServer()) as made:
        yield made


def _login(server: AuthorizationServer, **changes: Any) -> Login:
    grant = {"token_url": "", "client_id": "robot", "issuer": server.url, "scopes": ("read",)}
    grant |= {name: changes.pop(name) for name in list(changes) if name in OAuthGrant.__slots__}
    return Login("api", OAuthGrant(**grant), **{"patience_s": 50, **changes})  # type: ignore[arg-type]


class Browser:
    """Opens an address like a browser, and follows redirects."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self._pages: set[asyncio.Future[httpx2.Response]] = set()

    def __call__(self, address: str) -> None:
        self.opened.append(address)
        self._pages.add(asyncio.ensure_future(self.get(address)))

    async def get(self, address: str, **headers: str) -> httpx2.Response:
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
            return await client.get(address, headers=headers)

    async def pages(self) -> list[str]:
        return [(await page).text for page in self._pages]


async def test_a_login_by_browser_with_pkce(server: AuthorizationServer) -> None:
    browser = Browser()
    tokens = await log_in_by_browser(_login(server), browser)
    assert tokens.access_token in server.access
    assert tokens.refresh_token in server.refresh
    assert (tokens.token_url, tokens.client_id, tokens.scope) == (f"{server.url}/token", "robot", "read")
    asked, exchanged = server.requests
    assert (asked["response_type"], asked["code_challenge_method"], asked["scope"]) == ("code", "S256", "read")
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert len(exchanged["code_verifier"]) >= 43
    assert await browser.pages() == ["You can close this window.\n"]
    assert "refresh" not in repr(tokens)


async def test_written_endpoints_need_no_issuer(server: AuthorizationServer) -> None:
    server.client_secret = "top secret/1"
    login = _login(
        server,
        issuer="",
        token_url=f"{server.url}/token",
        client_secret="top secret/1",
        authorization_url=f"{server.url}/authorize?tenant=1",
    )
    server.client_secret = "top+secret%2F1"  # as in a form (RFC 6749, 2.3.1)
    browser = Browser()
    assert (await log_in_by_browser(login, browser)).access_token in server.access
    assert server.requests[0]["tenant"] == "1"
    await browser.pages()


async def test_only_the_answer_to_our_question_is_taken(server: AuthorizationServer) -> None:
    statuses: list[int] = []
    browser = Browser()

    def person(address: str) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        back = asked["redirect_uri"]
        forged: tuple[tuple[str, dict[str, str]], ...] = (
            (f"{back}?code=evil&state=guess", {}),
            (f"{back}?code=evil", {}),
            (back.replace("/callback", f"/other?code=evil&state={asked['state']}"), {}),
            (f"{back}?code=evil&state={asked['state']}", {"Host": "rebind.test"}),
        )

        async def visit() -> None:
            for url, headers in forged:
                statuses.append((await browser.get(url, **headers)).status_code)
            await browser.get(address)

        visits.append(asyncio.ensure_future(visit()))

    visits: list[asyncio.Future[None]] = []
    assert (await log_in_by_browser(_login(server), person)).access_token in server.access
    await asyncio.gather(*visits)
    assert statuses == [404, 404, 404, 404]


async def test_a_login_that_is_refused_says_so(server: AuthorizationServer) -> None:
    server.refuse = "access_denied"
    with pytest.raises(UpstreamError, match=r"the login was rejected \(access_denied: the person said no\)"):
        await log_in_by_browser(_login(server), Browser())


async def test_an_answer_of_another_issuer_is_not_taken(server: AuthorizationServer) -> None:
    server.issuer_in_answer = "https://evil.test"
    with pytest.raises(UpstreamError, match="from a different issuer"):
        await log_in_by_browser(_login(server), Browser())


async def test_an_endpoint_on_another_host_is_not_trusted(server: AuthorizationServer) -> None:
    server.other_host = "http://127.0.0.2:80"
    with pytest.raises(AddressNotAllowed, match=r"if you trust it, write token_url: http://127\.0\.0\.2:80/token"):
        await log_in_by_browser(_login(server), Browser())


async def test_nobody_logs_in(server: AuthorizationServer) -> None:
    with pytest.raises(UpstreamTimeout, match="the login was not completed in time"):
        await log_in_by_browser(_login(server, patience_s=0.05), lambda _: None)


async def test_a_port_that_is_taken_is_named(server: AuthorizationServer) -> None:
    port = urlsplit(server.url).port
    with pytest.raises(ConfigurationError, match=rf"cannot listen on 127\.0\.0\.1:{port} \(redirect_port\)"):
        await log_in_by_browser(_login(server, redirect_port=port), lambda _: None)


async def test_a_wrong_client_secret_is_not_shown(server: AuthorizationServer) -> None:
    server.client_secret = "the right one"
    with pytest.raises(UpstreamError, match="invalid_client") as caught:
        await log_in_by_browser(_login(server, client_secret="s3cr3t-and-wrong"), Browser())
    assert "s3cr3t-and-wrong" not in str(caught.value)
    assert "czNjcjN0" not in str(caught.value)


async def test_a_login_on_another_device(server: AuthorizationServer) -> None:
    said: list[str] = []
    tokens = await log_in_by_device(_login(server), said.append)
    assert tokens.access_token in server.access
    assert said == [f"{server.url}/activate\nand enter the code WDJB"]
    assert server.requests[0] == {"client_id": "robot", "scope": "read"}
    assert len(server.requests) == 3  # one answer was: ask again


def _kept(server: AuthorizationServer, *, expires_at: float, access: str = "", refresh: str = "") -> Tokens:
    return Tokens(access or "old-access-token", refresh, expires_at, f"{server.url}/token", "robot")


async def test_what_a_login_left_is_used_renewed_and_kept(server: AuthorizationServer, tmp_path: Path) -> None:
    store = TokenStore(token_file(tmp_path / "tokens", "api"), "api")
    server.access.add("first-access")
    server.refresh.add("first-refresh")
    store.write(_kept(server, expires_at=time.time() + 3600, access="first-access", refresh="first-refresh"))
    transport = _transport(server, store)
    assert await transport.call(TOOL, {}, CallContext()) == [1]
    assert server.used == []
    server.access.clear()  # rejected by the service: renewed and tried once
    assert await transport.call(TOOL, {}, CallContext()) == [1]
    await transport.aclose()
    kept = store.read()
    assert kept is not None
    assert kept.access_token in server.access
    assert kept.refresh_token in server.refresh
    assert server.used == ["first-refresh"]
    assert ((tmp_path / "tokens").stat().st_mode & 0o777, (tmp_path / "tokens/api.json").stat().st_mode & 0o777) == (
        0o700, 0o600,
    )  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "tokens").iterdir()) == ["api.json", "api.json.lock", "api.lock"]


async def test_nobody_is_logged_in(server: AuthorizationServer, tmp_path: Path) -> None:
    transport = _transport(server, TokenStore(token_file(tmp_path, "api"), "api"))
    with pytest.raises(CredentialsMissing) as caught:
        await transport.call(TOOL, {}, CallContext())
    await transport.aclose()
    assert str(caught.value) == "nobody is logged in at api; run: codemode auth login api"
    assert caught.value.for_model().startswith("nobody is logged in at api: the operator must log in; nothing was sent")


async def test_a_login_that_is_not_renewed_is_over(server: AuthorizationServer, tmp_path: Path) -> None:
    store = TokenStore(token_file(tmp_path, "api"), "api")
    store.write(_kept(server, expires_at=0, refresh="used-before"))
    transport = _transport(server, store)
    with pytest.raises(
        CredentialsMissing, match="the login has expired, and the service does not renew it at api"
    ) as caught:
        await transport.call(TOOL, {}, CallContext())
    await transport.aclose()
    assert "used-before" not in str(caught.value)
    assert store.read() is not None


async def test_tokens_of_another_client_are_not_used(server: AuthorizationServer, tmp_path: Path) -> None:
    store = TokenStore(token_file(tmp_path, "api"), "api")
    store.write(Tokens("a-token", "", time.time() + 3600, f"{server.url}/token", "another"))
    transport = _transport(server, store)
    with pytest.raises(CredentialsMissing, match="nobody is logged in"):
        await transport.call(TOOL, {}, CallContext())
    await transport.aclose()


PROCESS = """
import asyncio, sys
from pathlib import Path
from codemode.shared.files import token_file
from codemode.transports.auth.token_store import TokenStore
from codemode.transports.base import CallContext
from tests.unit.codemode.transports.authorization_server import AuthorizationServer
from tests.unit.codemode.transports.oauth.robot import TOOL, _transport

async def main():
    server = AuthorizationServer(url=sys.argv[1])
    transport = _transport(server, TokenStore(token_file(Path(sys.argv[2]), "api"), "api"))
    print(await transport.call(TOOL, {}, CallContext()))
    await transport.aclose()

asyncio.run(main())
"""


async def test_processes_renew_a_login_once_between_them(server: AuthorizationServer, tmp_path: Path) -> None:
    store = TokenStore(token_file(tmp_path, "api"), "api")
    server.refresh.add("first-refresh")
    store.write(_kept(server, expires_at=0, refresh="first-refresh"))
    command = [sys.executable, "-c", PROCESS, server.url, str(tmp_path)]
    processes = [
        await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=os.getcwd())  # noqa: PTH109
        for _ in range(3)
    ]
    printed = [(await process.communicate())[0] for process in processes]
    assert printed == [b"[1]\n"] * 3
    assert server.used == ["first-refresh"]


def test_a_token_file_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    store = TokenStore(token_file(tmp_path, "api"), "api")
    assert (store.read(), store.remove()) == (None, False)
    for content in ("", "[]", "{}", json.dumps({"access_token": 1})):
        (tmp_path / "api.json").write_text(content)
        assert store.read() is None
    assert store.remove()


async def test_tokens_that_cannot_be_kept_are_an_error_of_the_call(server: AuthorizationServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    transport = _transport(server, TokenStore(token_file(tmp_path / "file", "api"), "api"))
    with pytest.raises(CredentialsMissing, match=r"the tokens of api cannot be stored: (File exists|Not a directory)"):
        await transport.call(TOOL, {}, CallContext())
    await transport.aclose()


async def test_tokens_of_the_past_are_forgotten(server: AuthorizationServer) -> None:
    grant = OAuthGrant(f"{server.url}/token", "robot")
    authentication = Authentication("api", [Configured(SchemeKind.OAUTH2, grant)])
    transport = HttpTransport(
        Reach("api", server.url, retries=0), authentication=authentication, open_tokens=TokenSource
    )
    for _ in range(20):
        assert await transport.call(TOOL, {}, CallContext()) == [1]
        server.access.clear()
    await transport.aclose()
    assert len(transport._redactor.secrets) <= 8
