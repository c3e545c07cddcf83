"""A service whose source has one account for each caller, and the browsers of two people at its console."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any

import httpx2

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings
from tests.integration.codemode.sources.openapi.authorized_api import authorized_api

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.records import StoredExecution
    from tests.integration.codemode.sources.openapi.authorized_api import ApiSite

PUBLIC = "http://console.example"
ANN, BOB = Caller("ann"), Caller("bob")
KEYS = {"key-of-ann": ANN, "key-of-bob": BOB}
SAME_ORIGIN = {"Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}
FROM_ISSUER = {"Sec-Fetch-Site": "cross-site"}


@dataclass
class Bank:
    """The API, a server over it, and its folder."""

    site: ApiSite
    service: CodeMode
    app: Any
    folder: Path

    @asynccontextmanager
    async def browser(self, key: str) -> AsyncIterator[Browser]:
        """Return the browser of somebody who has logged in to the console."""
        transport = httpx2.ASGITransport(self.app)
        async with httpx2.AsyncClient(transport=transport, base_url=PUBLIC, headers={"Accept": "text/html"}) as client:
            answer = await client.post("/console/login", data={"key": key}, headers=SAME_ORIGIN)
            assert answer.status_code == 303
            yield Browser(client)

    async def ended(self, execution: str, caller: Caller) -> StoredExecution:
        """Wait for the end of an execution that goes on by itself."""
        async for event in self.service.executions.events(execution, caller):
            if event.type == "status" and event.data["status"] == "paused":
                return await self.service.executions.get(execution, caller)
        return await self.service.executions.get(execution, caller)


class Browser:
    """A browser at the console."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def token(self) -> str:
        """Return the form token of the session."""
        page = await self.client.get("/console/accounts")
        found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert found is not None, page.text
        return found[1]

    async def begin(self, source: str = "bank", connection: str = "mine") -> str:
        """Press "Log in", and return the address of the issuer."""
        answer = await self.press(f"{source}/{connection}/login")
        found = re.search(r'content="0;url=([^"]+)"', answer.text)
        assert found is not None, answer.text
        return unescape(found[1])

    async def press(self, path: str, **fields: str) -> httpx2.Response:
        """Press the button of a form."""
        data = {"csrf_token": await self.token(), **fields}
        return await self.client.post(f"/console/accounts/{path}", data=data, headers=SAME_ORIGIN)

    async def come_back(self, address: str) -> httpx2.Response:
        """Open the address to which the issuer has sent the browser."""
        return await self.client.get(address, headers=FROM_ISSUER)


async def agreed(address: str) -> str:
    """Agree at the issuer, and return the address to which it sends the browser back."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(address)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def settings_of(site: ApiSite, folder: Path, mine: dict[str, Any] | None = None, **sections: Any) -> Settings:
    """Return the settings of a server whose callers each have an account at the API."""
    source = {"location": site.document, "connections": {"mine": mine or {"owner": "caller"}}, "base_url": site.url}
    return Settings.model_validate(
        {
            "sources": {"bank": source},
            "server": {"public_url": PUBLIC},
            "state_folder": str(folder / "state"),
            "cache_folder": str(folder / "cache"),
            "policy": {"default": {"write": "allow"}},
            **sections,
        }
    )


@asynccontextmanager
async def bank(folder: Path, **sections: Any) -> AsyncIterator[Bank]:
    """Run the API and a server over it."""
    async with (
        authorized_api(publishes=True) as site,
        CodeMode.from_settings(settings_of(site, folder, **sections)) as service,
    ):
        callers = Callers(KEYS, KeyFile(folder / "keys.json"))
        yield Bank(site, service, create_app(service, callers), folder)
