"""People log in to the console at the issuer of the server's tokens: a real OpenID provider, and what goes wrong."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from codemode import CodeMode
from codemode.errors import ConfigurationError
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.console.issuer import ATTEMPT_COOKIE
from codemode.serving.console.session import COOKIE
from codemode.settings import Settings, load_settings
from tests import issuer as provider
from tests.integration.codemode.serving.console.conftest import SAME_ORIGIN, add, browser_of
from tests.integration.codemode.serving.console.tokens import token_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from fastapi import FastAPI

    from tests.issuer import Issuer

PLACE = "https://console.example"
CALLBACK = f"{PLACE}/console/login/issuer/callback"
SECRET = "secret-of-the-console+/="


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with provider.running() as running:
        running.client("console", secret=SECRET, redirect=CALLBACK)
        yield running


def settings_of(folder: Path, issuer: Issuer, **tokens: Any) -> Settings:
    (folder / "secret").write_text(SECRET, encoding="utf-8")
    own = {
        "issuer": issuer.url,
        "audience": "codemode",
        "jwks_url": f"{issuer.url}/jwks",
        "role_claim": "groups",
        "roles": {"staff": "support", "leads": "approver"},
        "scopes": ["groups"],
        "client_id": "console",
        "client_secret": {"file": str(folder / "secret")},
    }
    return Settings.model_validate(
        {
            "state_folder": str(folder / "state"),
            "policy": {"roles": ["support"]},
            "server": {"public_url": PLACE, "tokens": {**own, **tokens}},
        }
    )


@asynccontextmanager
async def console(folder: Path, issuer: Issuer, **tokens: Any) -> AsyncIterator[FastAPI]:
    settings = settings_of(folder, issuer, **tokens)
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        yield create_app(service, Callers.of(settings, service.store))


async def begin(browser: httpx2.AsyncClient, back: str = "") -> str:
    """Begin a login, and return the address at which the issuer sends the browser back."""
    started = await browser.get("/console/login/issuer", params={"next": back} if back else {})
    assert started.status_code == 303, started.text
    async with httpx2.AsyncClient() as client:
        agreed = await client.get(started.headers["location"])
    assert agreed.status_code == 302, agreed.text
    return agreed.headers["location"]


async def log_in(browser: httpx2.AsyncClient, back: str = "") -> httpx2.Response:
    return await browser.get(await begin(browser, back), headers={"Sec-Fetch-Site": "cross-site"})


async def test_a_person_logs_in_at_the_issuer_and_has_the_role_of_a_group(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        form = await browser.get("/console/login?next=/console/catalog%3Fpage%3D2")
        link = f"{PLACE}/console/login/issuer?next=%2Fconsole%2Fcatalog%3Fpage%3D2"
        assert f'href="{link}">Log in with {urlsplit(issuer.url).netloc}</a>' in form.text
        let_in = await log_in(browser, "/console/catalog?page=2")
        assert '<meta http-equiv="refresh" content="0;url=/console/catalog?page=2">' in let_in.text
        cookies = let_in.headers.get_list("set-cookie")
        session = next(text for text in cookies if text.startswith(COOKIE))
        assert session.endswith("; HttpOnly; Max-Age=43200; Path=/console; SameSite=strict; Secure")
        page = await browser.get("/console/keys")
        assert "Ann" in page.text
        assert (await browser.get("/console/policy")).status_code == 403, "support approves nothing"
    asked = issuer.asked[0]
    assert (asked["scope"], asked["code_challenge_method"]) == ("openid profile groups", "S256")
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3


async def test_an_approver_of_the_issuer_is_one_in_the_console(tmp_path: Path, issuer: Issuer) -> None:
    issuer.groups["ann"] = ["leads"]
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await log_in(browser)
        assert (await browser.get("/console/policy")).status_code == 200


async def test_a_public_client_logs_in_by_pkce_alone(tmp_path: Path, issuer: Issuer) -> None:
    issuer.client("public", redirect=CALLBACK)
    async with (
        console(tmp_path, issuer, client_id="public", client_secret=None) as app,
        browser_of(app, PLACE) as browser,
    ):
        await log_in(browser)
        assert (await browser.get("/console/catalog")).status_code == 200
    assert "client_secret" not in issuer.posted[0]


async def test_the_attempt_is_kept_from_scripts_and_ends_with_its_answer(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        started = await browser.get("/console/login/issuer")
        cookie = started.headers["set-cookie"]
        assert cookie.endswith("; HttpOnly; Max-Age=600; Path=/console/login/issuer; SameSite=lax; Secure")
        assert not any(text in cookie for text in parse_qs(urlsplit(started.headers["location"]).query)["state"])
        await log_in(browser)
        assert ATTEMPT_COOKIE not in browser.cookies


async def refused(answer: httpx2.Response, reason: str, status: int = 401) -> None:
    assert (answer.status_code, reason in answer.text) == (status, True), answer.text
    assert not any(text.startswith(COOKIE) for text in answer.headers.get_list("set-cookie"))


async def test_a_stolen_state_opens_nothing_in_another_browser(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as victim, browser_of(app, PLACE) as thief:
        address = await begin(victim)
        await refused(await thief.get(address), "began in another browser", 400)
        await begin(thief)  # with an attempt of its own
        await refused(await thief.get(address), "belongs to another attempt")
    assert not issuer.posted, "no code was exchanged"


async def test_a_replayed_code_opens_nothing(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        address = await begin(browser)
        cookie = browser.cookies[ATTEMPT_COOKIE]
        await browser.get(address)
        browser.cookies.delete(COOKIE)
        await refused(await browser.get(address), "began in another browser", 400)
        browser.cookies.set(ATTEMPT_COOKIE, cookie, domain="console.example", path="/console/login/issuer")
        await refused(await browser.get(address), "invalid_grant")


async def test_a_code_of_somebody_elses_attempt_is_not_exchanged(tmp_path: Path, issuer: Issuer) -> None:
    """The attacker's code with the victim's own state: the verifier is another one."""
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as victim, browser_of(app, PLACE) as other:
        own, foreign = await begin(victim), await begin(other)
        code = parse_qs(urlsplit(foreign).query)["code"][0]
        mixed = own.replace(parse_qs(urlsplit(own).query)["code"][0], code)
        await refused(await victim.get(mixed), "invalid_grant")


async def test_a_changed_attempt_opens_nothing(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        address = await begin(browser)
        id_, ends, page = browser.cookies[ATTEMPT_COOKIE].split(".")
        browser.cookies.clear()
        later = f"{id_}.{int(ends) + 1}.{page}"
        browser.cookies.set(ATTEMPT_COOKIE, later, domain="console.example", path="/console/login/issuer")
        await refused(await browser.get(address), "belongs to another attempt")


async def test_an_attempt_ends_after_ten_minutes(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        address = await begin(browser)
        id_, _, page = browser.cookies[ATTEMPT_COOKIE].split(".")
        browser.cookies.clear()
        early = f"{id_}.{int(time.time()) - 1}.{page}"
        browser.cookies.set(ATTEMPT_COOKIE, early, domain="console.example", path="/console/login/issuer")
        await refused(await browser.get(address), "has taken too long", 400)


@pytest.mark.parametrize("iss", ["https://evil.example", ""], ids=["another", "none, although it names itself"])
async def test_an_answer_of_another_issuer_is_refused(tmp_path: Path, issuer: Issuer, iss: str) -> None:
    issuer.answer["iss"] = iss
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await refused(await log_in(browser), "came from another issuer")
    assert not issuer.posted, "no code was sent to an issuer that it may not belong to"


WRONG = {
    "expired": ({"exp": int(time.time()) - 120}, "it has expired"),
    "another audience": ({"aud": "others"}, "it is for another audience"),
    "another issuer": ({"iss": "https://evil.example"}, "it is from another issuer"),
    "another attempt": ({"nonce": "n"}, "it is for another attempt"),
    "shared with another client": ({"aud": ["console", "others"]}, "it is for another client"),
    "for another client": ({"aud": ["console", "others"], "azp": "others"}, "it is for another client"),
    "no subject": ({"sub": None}, "one of its claims"),
    "no role here": ({"groups": ["visitors"]}, "it grants no role on this server"),
    "groups of another form": ({"groups": {"staff": True}}, "it grants no role on this server"),
}


@pytest.mark.parametrize(("claims", "reason"), WRONG.values(), ids=WRONG)
async def test_an_identity_token_that_is_wrong_in_any_way_opens_nothing(
    tmp_path: Path, issuer: Issuer, claims: dict[str, Any], reason: str
) -> None:
    issuer.id_claims = claims
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await refused(await log_in(browser), f"identity token is rejected: {reason}")
        assert (await browser.get("/console/catalog")).status_code == 303


async def test_a_person_who_refuses_is_told_so_and_no_text_of_the_address_is_shown(
    tmp_path: Path, issuer: Issuer
) -> None:
    issuer.person = None
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await refused(await log_in(browser), "the issuer refused it (access_denied)")
        address = (await begin(browser)).replace("access_denied", "Call+555-1234")
        answer = await browser.get(address)
        await refused(answer, "the issuer refused it.")
        assert "555" not in answer.text


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/console//evil.example", "/v1/tools", "/console/\\evil"]
)
async def test_the_login_at_the_issuer_leads_nowhere_else(tmp_path: Path, issuer: Issuer, target: str) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        assert 'content="0;url=/console/"' in (await log_in(browser, target)).text


async def test_logging_out_ends_the_session_of_a_login(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await log_in(browser)
        cookie = browser.cookies[COOKIE]
        form = {"csrf_token": token_of(await browser.get("/console/catalog"))}
        origin = {**SAME_ORIGIN, "Origin": PLACE}
        answer = await browser.post("/console/logout", data=form, headers=origin)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")
        browser.cookies.set(COOKIE, cookie)
        assert (await browser.get("/console/catalog")).status_code == 303


async def test_a_login_ends_after_its_time(tmp_path: Path, issuer: Issuer) -> None:
    settings = settings_of(tmp_path, issuer)
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        callers = Callers.of(settings, service.store)
        app = create_app(service, callers)
        async with browser_of(app, PLACE) as browser:
            await log_in(browser)
        id_ = f"token:{issuer.url}#ann"
        assert callers.person(id_, "support", "Ann", time.time() + 10) is not None
        assert callers.person(id_, "support", "Ann", time.time() - 1) is None
        assert callers.person(id_, "admin", "Ann", time.time() + 10) is None, "a role that is no longer granted"
        assert callers.person(f"token:https://evil.example#{'ann'}", "support", "", time.time() + 10) is None


async def test_sessions_of_logins_end_when_the_login_is_turned_off(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await log_in(browser)
        cookie = browser.cookies[COOKIE]
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        browser.cookies.set(COOKIE, cookie)
        assert (await browser.get("/console/catalog")).status_code == 200, "another server of the project knows it"
    async with (
        console(tmp_path, issuer, client_id="", client_secret=None) as app,
        browser_of(app, PLACE) as browser,
    ):
        browser.cookies.set(COOKIE, cookie)
        assert (await browser.get("/console/catalog")).status_code == 303


async def test_neither_secret_nor_token_is_in_what_the_server_stores_or_says(
    tmp_path: Path, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        await log_in(browser)
        issuer.clients["console"].secret = "changed meanwhile"
        answer = await log_in(browser)
        await refused(answer, "invalid_client")
        assert SECRET not in answer.text
    own = [record.getMessage() for record in caplog.records if record.name.startswith("codemode")]
    assert f"token:{issuer.url}#ann logged in at the issuer" in own
    stored = [file.read_bytes().decode("latin-1") for file in (tmp_path / "state").rglob("*") if file.is_file()]
    said = "".join([*own, *stored])
    assert SECRET not in said
    assert "eyJ" not in said


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"token_endpoint": "http://10.0.0.1/token"}, "must be a public https host"),
        ({"token_endpoint": None}, "names no token_endpoint"),
        ({"issuer": "https://evil.example"}, "publishes no metadata"),
    ],
)
async def test_metadata_that_lead_elsewhere_begin_no_login(
    tmp_path: Path, issuer: Issuer, metadata: dict[str, Any], reason: str
) -> None:
    issuer.metadata = metadata
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        answer = await browser.get("/console/login/issuer")
        assert answer.status_code == 502
        assert reason in answer.text


async def test_keys_open_the_console_beside_the_issuer(tmp_path: Path, issuer: Issuer) -> None:
    async with console(tmp_path, issuer) as app, browser_of(app, PLACE) as browser:
        answer = await browser.post("/console/login", data={"key": "wrong"})
        assert answer.status_code == 401
        assert answer.text.count("This is not a key of this server") == 1
        assert "Log in with" in answer.text


def test_a_login_needs_the_address_of_the_server(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(
        "server:\n  tokens: {issuer: 'https://i', audience: a, jwks_url: 'https://i/k', client_id: c}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError, match=r"tokens\.client_id needs public_url"):
        load_settings(file)
