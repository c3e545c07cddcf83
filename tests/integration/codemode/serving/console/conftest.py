"""A server of one Python function, its key file, and browsers that are logged in or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI

KEY = "a-key-of-a-person"

#: What a browser sends with a form of the same origin.
SAME_ORIGIN = {"Origin": "http://console.example", "Sec-Fetch-Site": "same-origin"}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def key_file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "keys.json")


@pytest.fixture
async def app(key_file: KeyFile) -> AsyncIterator[FastAPI]:
    async with CodeMode.from_functions(shop=[add]) as service:
        yield create_app(service, Callers({KEY: Caller("person", label="Ada")}, key_file))


def browser_of(app: FastAPI, base_url: str = "http://console.example") -> httpx2.AsyncClient:
    """Return a client with a cookie jar."""
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=base_url, headers={"Accept": "text/html"})


async def log_in(browser: httpx2.AsyncClient, key: str = KEY, **more: str) -> httpx2.Response:
    """Send the login form."""
    return await browser.post("/console/login", data={"key": key, **more}, headers=SAME_ORIGIN)


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with browser_of(app) as client:
        yield client
