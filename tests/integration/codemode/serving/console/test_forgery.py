"""Changes come from our own pages, and pages run nothing of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.serving.console.headers import POLICY
from tests.integration.codemode.serving.console.conftest import KEY, SAME_ORIGIN, log_in
from tests.integration.codemode.serving.console.tokens import token_of

if TYPE_CHECKING:
    import httpx2


async def is_logged_in(browser: httpx2.AsyncClient) -> bool:
    return (await browser.get("/console/catalog")).status_code == 200


@pytest.mark.parametrize("form", [{}, {"csrf_token": "guessed"}, {"csrf_token": "é"}])
async def test_a_form_without_its_token_changes_nothing(browser: httpx2.AsyncClient, form: dict[str, str]) -> None:
    await log_in(browser)
    answer = await browser.post("/console/logout", data=form, headers=SAME_ORIGIN)
    assert answer.status_code == 403
    assert "no valid form token; nothing was done" in answer.text
    assert await is_logged_in(browser)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://console.example:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_site_changes_nothing_even_with_the_token(
    browser: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    await log_in(browser)
    form = {"csrf_token": token_of(await browser.get("/console/catalog"))}
    assert (await browser.post("/console/logout", data=form, headers=headers)).status_code == 403
    assert await is_logged_in(browser)
    assert (await browser.post("/console/login", data={"key": KEY}, headers=headers)).status_code == 403


async def test_a_script_sends_the_token_as_a_header(browser: httpx2.AsyncClient) -> None:
    await log_in(browser)
    token = token_of(await browser.get("/console/catalog"))
    answer = await browser.post("/console/logout", headers={**SAME_ORIGIN, "X-CSRF-Token": token})
    assert answer.status_code == 303


async def test_a_token_is_of_one_session(browser: httpx2.AsyncClient) -> None:
    await log_in(browser)
    other = token_of(await browser.get("/console/catalog"))
    browser.cookies.clear()
    await log_in(browser)
    assert (await browser.post("/console/logout", data={"csrf_token": other}, headers=SAME_ORIGIN)).status_code == 403


@pytest.mark.parametrize("path", ["/console/login", "/console/catalog", "/console/nothing", "/console/static/icon.svg"])
async def test_every_answer_has_the_headers(browser: httpx2.AsyncClient, path: str) -> None:
    await log_in(browser)
    headers = (await browser.get(path)).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if "/static/" in path else "no-store")


def test_the_policy_allows_no_inline_script_and_no_other_host() -> None:
    assert POLICY["default-src"] == "'none'"
    assert POLICY["frame-ancestors"] == "'none'"
    allowed = {part for value in POLICY.values() for part in value.split()}
    assert allowed == {"'none'", "'self'", "data:"}


async def test_an_unknown_page_is_a_page(browser: httpx2.AsyncClient) -> None:
    await log_in(browser)
    answer = await browser.get("/console/nothing")
    assert answer.status_code == 404
    assert "<h1>404 Not Found</h1>" in answer.text
    data = await browser.get("/console/nothing", params={"format": "json"})
    assert (data.status_code, data.json()["code"]) == (404, "not_found")
    assert data.headers["content-type"] == "application/problem+json"
