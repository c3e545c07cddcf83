"""A key opens a session, and the session ends with the key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx2
import pytest
from fastapi import FastAPI

import codemode
from codemode import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.console.session import COOKIE
from codemode.settings import Settings
from tests.integration.codemode.serving.console.conftest import KEY, SAME_ORIGIN, add, browser_of, log_in
from tests.integration.codemode.serving.console.tokens import token_of

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.serving.auth.keys import KeyFile
    from tests.conftest import Gym


async def test_a_page_leads_to_the_login_and_back(browser: httpx2.AsyncClient) -> None:
    refused = await browser.get("/console/catalog?page=2")
    assert (refused.status_code, refused.headers["location"]) == (
        303,
        "/console/login?next=%2Fconsole%2Fcatalog%3Fpage%3D2",
    )
    form = await browser.get(refused.headers["location"])
    assert 'name="next" value="/console/catalog?page=2"' in form.text
    let_in = await log_in(browser, next="/console/catalog?page=2")
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/console/catalog?page=2")
    page = await browser.get("/console/catalog")
    assert page.status_code == 200
    assert "Ada" in page.text


async def test_the_cookie_is_kept_from_scripts_and_other_sites(app: FastAPI) -> None:
    async with browser_of(app, "https://console.example") as browser:
        answer = await browser.post("/console/login", data={"key": KEY})
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(
        rf"{COOKIE}=[\w-]{{43}}\.[\w-]{{22}}; HttpOnly; Max-Age=43200; Path=/console; SameSite=strict; Secure", cookie
    )


async def test_a_wrong_key_opens_nothing(browser: httpx2.AsyncClient) -> None:
    answer = await log_in(browser, "wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "not a key of this server" in answer.text
    assert "wrong" not in answer.text


async def test_attempts_are_limited(browser: httpx2.AsyncClient) -> None:
    statuses = [(await log_in(browser, "wrong")).status_code for _ in range(4)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


async def test_a_revoked_key_ends_its_session(app: FastAPI, key_file: KeyFile) -> None:
    key, text = key_file.create(role="default")
    async with browser_of(app) as browser:
        await log_in(browser, text)
        assert (await browser.get("/console/catalog")).status_code == 200
        key_file.revoke(key.id)
        assert (await browser.get("/console/catalog")).status_code == 303


async def test_logging_out_ends_the_session(browser: httpx2.AsyncClient) -> None:
    await log_in(browser)
    cookie = browser.cookies[COOKIE]
    form = {"csrf_token": token_of(await browser.get("/console/catalog"))}
    answer = await browser.post("/console/logout", data=form, headers=SAME_ORIGIN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")
    browser.cookies.set(COOKIE, cookie)
    assert (await browser.get("/console/catalog")).status_code == 303


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/console//evil.example", "/v1/tools", "/console/\\evil", ""]
)
async def test_the_login_leads_nowhere_else(browser: httpx2.AsyncClient, target: str) -> None:
    assert (await log_in(browser, next=target)).headers["location"] == "/console/"


async def test_a_link_of_another_site_loads_the_page_again_with_the_cookie(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/console/catalog?page=3", headers={"Sec-Fetch-Site": "cross-site"})
    assert '<meta http-equiv="refresh" content="0;url=/console/catalog?page=3">' in page.text


async def test_a_client_with_a_key_needs_no_session(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/console/catalog?format=json", headers={"Authorization": f"Bearer {KEY}"})
    assert answer.json()["total"] == 1
    refused = await browser.get("/console/catalog?format=json")
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")


async def test_htmx_is_led_to_the_login(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/console/catalog", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/console/login")


async def test_a_server_without_keys_needs_no_login_on_its_own_machine(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    settings = Settings(state_folder=tmp_path_factory.mktemp("open"))
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        app = create_app(service, Callers.of(settings))
        async with browser_of(app, "http://127.0.0.1:8080") as browser:
            assert (await browser.get("/console/catalog")).status_code == 200
            assert (await browser.post("/console/logout")).status_code == 403
        async with browser_of(app, "http://rebound.example") as browser:
            assert (await browser.get("/console/catalog")).status_code == 400


async def test_the_console_can_be_turned_off(key_file: KeyFile) -> None:
    settings = Settings.model_validate({"console": False})
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        app = create_app(service, Callers({}, key_file, had_keys=True))
        async with browser_of(app) as browser:
            assert (await browser.get("/console/catalog")).status_code == 404


async def test_a_mounted_console_stays_below_its_mount(gym: Gym, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(KEY, encoding="utf-8")
    settings = gym.settings(server={"keys": [{"file": str(path)}]})
    server = codemode.app(settings)
    outer = FastAPI(lifespan=server.lifespan)
    outer.mount("/tools", server)
    async with server.lifespan(), browser_of(outer) as browser:
        refused = await browser.get("/tools/console/catalog?page=2")
        assert refused.headers["location"] == "/tools/console/login?next=%2Ftools%2Fconsole%2Fcatalog%3Fpage%3D2"
        let_in = await browser.post("/tools/console/login", data={"key": KEY, "next": "/tools/console/catalog"})
        assert let_in.headers["location"] == "/tools/console/catalog"
        assert "Path=/tools/console;" in let_in.headers["set-cookie"]
        page = await browser.get("/tools/console/catalog")
        assert page.status_code == 200
        assert 'href="/tools/console/static/console.css"' in page.text
        form = {"csrf_token": token_of(page)}
        assert (await browser.post("/tools/console/logout", data=form)).headers["location"] == "/tools/console/login"


async def test_the_index_names_the_console(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/", headers={"Accept": "application/json"})).json()["console"] == "/console"
    assert '<a href="/console">' in (await browser.get("/")).text


async def test_wrong_keys_from_many_addresses_of_one_network_are_counted_together(app: FastAPI) -> None:
    """Whoever has an IPv6 network has more addresses than there are attempts."""
    statuses = []
    for number in range(12):
        transport = httpx2.ASGITransport(app=app, client=(f"2001:db8::{number:x}", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://console.example") as browser:
            statuses.append((await log_in(browser, key="wrong")).status_code)
    assert statuses[0] == 401
    assert statuses[-1] == 429
