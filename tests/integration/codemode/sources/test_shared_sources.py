"""Two services on one PostgreSQL agree on names, documents and learned shapes."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.names import plain_ids
from codemode.catalog.tool import Tool
from codemode.executions.journal.configured import store_of
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Secrets, Settings
from codemode.sources.loaded import Surface
from codemode.sources.stable_ids import StableIds
from tests.integration.codemode.executions.journal.conftest import new_database, postgres
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

__all__ = ["postgres"]

ANN = Caller("ann")


class Api:
    """Serves its document under `/api.json`, and `answer` under all other paths."""

    def __init__(self) -> None:
        self.operations = {"/orders": "listOrders"}
        self.answer: Any = {"id": 1}
        self.fetched = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = await reader.readuntil(b"\r\n\r\n")
        is_document = head.startswith(b"GET /api.json ")
        self.fetched += is_document
        body = json.dumps(self.document() if is_document else self.answer).encode()
        headers = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body)

    def document(self) -> dict[str, Any]:
        """Return the document."""
        answers = {"200": {"description": ""}}
        paths = {path: {"get": {"operationId": id_, "responses": answers}} for path, id_ in self.operations.items()}
        return {"openapi": "3.1.0", "info": {"title": "X", "version": "1"}, "paths": paths}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    api = Api()
    async with listening(api.serve) as port:
        api.url = f"http://127.0.0.1:{port}"
        yield api


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


def settings(folder: Path, name: str, url: str, api: Api) -> Settings:
    (folder / "key").write_text("the key of both", encoding="utf-8")
    return Settings.model_validate(
        {
            "name": "shop",
            "sources": {"shop": {"location": f"{api.url}/api.json", "base_url": api.url}},
            "journal": {"url": url, "key": {"file": str(folder / "key")}},
            "state_folder": str(folder / name),
            "cache_folder": str(folder / name / "cache"),
        }
    )


@asynccontextmanager
async def server(folder: Path, name: str, url: str, api: Api) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(settings(folder, name, url, api)) as service:
        yield service


def after(function: Callable[..., Awaitable[Any]], then: Callable[[], None]) -> Callable[..., Awaitable[Any]]:
    async def both(*arguments: Any) -> Any:
        result = await function(*arguments)
        then()
        return result

    return both


def ids(service: CodeMode) -> list[str]:
    return sorted(tool.id for tool in service.catalog)


async def test_a_second_server_fetches_no_document_and_sees_what_the_first_finds_changed(
    tmp_path: Path, url: str, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path, "a", url, api) as first, server(tmp_path, "b", url, api) as second:
        assert ids(first) == ids(second) == ["shop.orders.list_orders"]
        assert api.fetched == 1
        api.operations["/refunds"] = "listRefunds"
        published = asyncio.Event()
        monkeypatch.setattr(
            second.discovery._live, "_publish_to", after(second.discovery._live._publish_to, published.set)
        )
        await first.reload()
        await published.wait()
        assert ids(first) == ids(second) == ["shop.orders.list_orders", "shop.refunds.list_refunds"]
        assert api.fetched == 2


async def test_what_one_server_learns_of_answers_another_shows(tmp_path: Path, url: str, api: Api) -> None:
    async with server(tmp_path, "a", url, api) as first, server(tmp_path, "b", url, api) as second:
        api.answer = {"id": 1, "total": 2.5}
        learned = threading.Event()
        second.store.on_change("shapes", lambda _: learned.set())
        assert (await first.execute("shop.orders.list_orders()", caller=ANN)).ok
        await asyncio.to_thread(learned.wait)
        found = await second.search("orders", caller=ANN)
        assert "total" in found.text
        assert "total" not in (await second.search("orders", caller=Caller("bob"))).text


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (({"list"}, {"List"}), ({"shop.list"}, {"shop.list_9482636f"})),  # two operations, one name
        (
            ({"list"}, {"list", "List"}),
            ({"shop.list"}, {"shop.list", "shop.list_9482636f"}),
        ),  # one operation, two names
    ],
)
async def test_of_two_servers_that_name_tools_at_the_same_moment_the_first_decides(
    tmp_path: Path, url: str, api: Api, paths: tuple[set[str], set[str]], names: tuple[set[str], set[str]]
) -> None:
    named = [asyncio.Event(), asyncio.Event()]

    async def read(number: int) -> set[str]:
        store = store_of(settings(tmp_path, str(number), url, api), Secrets())

        async def make(given: Mapping[str, str]) -> Surface:
            ids = plain_ids("shop", [(path,) for path in sorted(paths[number])], known_ids=given)
            if number == 1:
                named[1].set()
                await named[0].wait()  # the names are made, and the first server stores its own
            return Surface(tuple(Tool(id_, source="shop", summary="", key=key) for key, id_ in ids.items()))

        if number == 0:
            await named[1].wait()
        surface = await StableIds(store).named("shop", make)
        named[number].set()
        await asyncio.to_thread(store.close)
        return {tool.id for tool in surface.tools}

    assert tuple(await asyncio.gather(read(0), read(1))) == names
