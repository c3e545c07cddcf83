"""The pages that describe a server: `/`, `/openapi.json` and `/docs`."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shlex
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from fastapi import FastAPI

import codemode
from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.web.problems import ERRORS_PAGE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.conftest import Gym

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Page(HTMLParser):
    """The tags, attributes and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        given = dict(attrs)
        self.attributes |= given.keys()
        self.ids |= {given["id"] or ""} if "id" in given else set()
        self.links |= {given["href"] or ""} if "href" in given else set()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with CodeMode.from_functions(shop=[len]) as service:
        app = create_app(service, Callers({"key": Caller("key")}, KeyFile(tmp_path / "keys.json")))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://api.example") as client:
            yield client


async def test_the_root_says_where_things_are(client: httpx2.AsyncClient) -> None:
    about = (await client.get("/")).json()
    assert (about["name"], about["version"], about["errors"]) == ("codemode", codemode.__version__, ERRORS_PAGE)
    for path in (about["docs"], about["openapi"], about["health"]["live"], about["health"]["health"]):
        assert (await client.get(path)).status_code == 200, path
    assert about["mcp"] == "/mcp"


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_page_loads_and_runs_nothing(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path, headers=BROWSER)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    assert not page.tags & {"script", "link", "img", "iframe", "object", "form"}
    assert not {name for name in page.attributes if name.startswith("on")} | page.attributes & {"src", "style"}
    policy = answer.headers["content-security-policy"]
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert "unsafe" not in policy


async def test_the_page_of_operations_has_each_with_a_command(client: httpx2.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    text = (await client.get("/docs")).text
    page = Page(text)
    names = {operation["operationId"] for found in document["paths"].values() for operation in found.values()}
    assert names | document["components"]["schemas"].keys() <= page.ids
    assert {link.removeprefix("#") for link in page.links} <= page.ids
    commands = [shlex.split(html.unescape(found)) for found in re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL)]
    assert len(commands) == len(names)
    bodies = [command[command.index("-d") + 1] for command in commands if "-d" in command]
    assert {"queries": ["list clients"]} in [json.loads(body) for body in bodies]
    assert "http://api.example/v1/executions/EXECUTION/cancel" in text


async def test_texts_are_escaped(client: httpx2.AsyncClient) -> None:
    page = await client.get("/docs", headers={"Host": 'api.example"><script>alert(1)</script>'})
    assert "<script" not in page.text


async def test_a_mounted_application_names_its_own_addresses(gym: Gym) -> None:
    server = codemode.app(gym.settings(), allow_anybody=True)
    outer = FastAPI(lifespan=server.lifespan)
    outer.mount("/codemode", server)
    async with outer.router.lifespan_context(outer):
        transport = httpx2.ASGITransport(outer)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            about: dict[str, Any] = (await client.get("/codemode/")).json()
            assert (about["docs"], about["mcp"]) == ("/codemode/docs", "/codemode/mcp")
            document = (await client.get(about["openapi"])).json()
            assert document["servers"] == [{"url": "/codemode"}]
            text = (await client.get(about["docs"])).text
            assert "http://localhost/codemode/v1/search" in text
