"""A service that counts its requests, and a CodeMode over it that records executions."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OWNER = Caller("key-1", "default")
OTHER = Caller("key-2", "default")
APPROVER = Caller("key-3", "approver")


class Upstream:
    """Answers `{"n": …, "count": …}`. `seen` lists each request as `METHOD /path?query`, with its key if it had one.

    Paths in `held` wait for `release`, `broken` answer with status 500, `busy` with 503, and `puzzling` with a page
    where JSON is declared. `refusals` of a path are answered with 429 and `Retry-After: 1` first.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.keys: list[str] = []
        self.held: dict[str, asyncio.Event] = {}
        self.broken: set[str] = set()
        self.puzzling: set[str] = set()
        self.busy: set[str] = set()
        self.refusals: Counter[str] = Counter()
        self.came = asyncio.Condition()

    def hold(self, path: str) -> asyncio.Event:
        """Make requests of a path wait for the event."""
        return self.held.setdefault(path, asyncio.Event())

    async def wait_for(self, count: int) -> None:
        """Wait until this many requests have arrived."""
        async with self.came:
            await self.came.wait_for(lambda: len(self.seen) >= count)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, *_ = head.split()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        await reader.readexactly(int(headers.get("content-length", "0")))
        self.seen.append(f"{method} {target}")
        self.keys.append(headers.get("idempotency-key", ""))
        async with self.came:
            self.came.notify_all()
        path = target.partition("?")[0]
        if path in self.held:
            await self.held[path].wait()
        if self.refusals[path]:
            self.refusals[path] -= 1
            writer.write(b"HTTP/1.1 429 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        status = "500 Broken" if path in self.broken else "503 Busy" if path in self.busy else "200 OK"
        query = target.partition("?")[2]
        answer: Any = {"n": query.partition("=")[2], "count": len(self.seen)}
        if path == "/list":
            start = int(dict(parse_qsl(query)).get("offset", "0"))
            answer = {"items": [*range(start, min(start + 2, 5))], "total": 5}
        body = b"<p>thank you" if path in self.puzzling else json.dumps(answer).encode()
        header = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{header}Connection: close\r\n\r\n".encode() + body)


def document(*, extra: bool = False) -> dict[str, Any]:
    """Return a document with `up.x.get`, `post`, `put` and `drop` (destructive), each with an optional `n`.

    `secret` takes a password, `list` has five numbers in pages of two.
    """
    number = [{"name": "n", "in": "query", "schema": {"type": "integer"}}]
    more = [*number, {"name": "more", "in": "query", "required": True, "schema": {"type": "string"}}]
    secret = [{"name": "word", "in": "query", "schema": {"type": "string", "format": "password"}}]
    answer = {"200": {"description": ""}}
    methods: dict[str, tuple[str, list[Any]]] = {
        "get": ("get", number),
        "post": ("post", number),
        "put": ("put", number),
        "drop": ("delete", more if extra else number),
    }
    methods["secret"] = ("delete", secret)
    places: list[Any] = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("offset", "limit")]
    methods["list"] = ("get", places)
    rows = {"type": "object", "properties": {"items": {"type": "array"}, "total": {"type": "integer"}}}
    page = {"200": {"description": "", "content": {"application/json": {"schema": rows}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "X", "version": "1"},
        "paths": {
            f"/{name}": {
                method: {
                    "operationId": name,
                    "tags": ["x"],
                    "parameters": parameters,
                    "responses": page if name == "list" else answer,
                }
            }
            for name, (method, parameters) in methods.items()
        },
    }


class Place:
    """A folder with a configuration and its service. `service` may be entered repeatedly."""

    def __init__(self, folder: Path, upstream: Upstream, port: int) -> None:
        self.folder = folder
        self.upstream = upstream
        self.port = port

    def settings(self, *, source: dict[str, Any] | None = None, **sections: Any) -> Settings:
        """Return the settings, with changes."""
        (self.folder / "x.json").write_text(json.dumps(sections.pop("document", document())), encoding="utf-8")
        up = {"location": str(self.folder / "x.json"), "base_url": f"http://127.0.0.1:{self.port}", **(source or {})}
        folders = {"state_folder": str(self.folder / "state"), "cache_folder": str(self.folder / "cache")}
        return Settings.model_validate({"sources": {"up": up}, **folders, **sections})

    def service(self, **sections: Any) -> CodeMode:
        """Return a CodeMode over the service, to be entered."""
        return CodeMode.from_settings(self.settings(**sections))


@asynccontextmanager
async def place(folder: Path) -> AsyncIterator[Place]:
    """Serve the upstream and yield its place."""
    upstream = Upstream()
    async with listening(upstream.answer) as port:
        yield Place(folder, upstream, port)
