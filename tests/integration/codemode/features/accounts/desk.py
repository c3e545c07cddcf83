"""A service that says as whom each request came, and a CodeMode whose source has several accounts there."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

ANN, BOB = Caller("key-ann", "support"), Caller("key-bob", "sales")
BOSS = Caller("key-boss", "approver")

#: The accounts at the service, by the token that is sent.
TOKENS = {"t-desk": "desk", "t-sales": "sales", "t-robot": "robot"}

CONNECTIONS: dict[str, Any] = {
    "desk": {"owner": "role:support", "credentials": [{"kind": "bearer", "token": {"env": "DESK"}}]},
    "shop": {"owner": "role:sales", "credentials": [{"kind": "bearer", "token": {"env": "SALES"}}]},
    "robot": {"credentials": [{"kind": "bearer", "token": {"env": "ROBOT"}}]},
}


class Service:
    """Answers each request with the account whose token it has. `seen` lists `METHOD /path ACCOUNT`."""

    def __init__(self) -> None:
        self.accounts = dict(TOKENS)
        self.seen: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, *_ = head.split()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        lower = {name.lower(): value for name, value in headers.items()}
        await reader.readexactly(int(lower.get("content-length", "0")))
        token = lower.get("authorization", "").removeprefix("Bearer ")
        account = self.accounts.get(token)
        path, _, query = target.partition("?")
        self.seen.append(f"{method} {path} {account}")
        status, value = ("200 OK", self._value(path, query, account)) if account else ("401 No", {"error": "who?"})
        body = json.dumps(value).encode()
        more = "Location: /jobs/7\r\n" if path == "/job" else ""
        status = "202 Later" if path == "/job" and account else status
        header = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n"
        writer.write(f"{header}Connection: close\r\n\r\n".encode() + body)

    def _value(self, path: str, query: str, account: str | None) -> Any:
        if path == "/list":
            start = int(dict(one.split("=") for one in query.split("&") if one).get("offset", "0"))
            return {"items": [f"{account}-{n}" for n in range(start, min(start + 2, 5))], "total": 5}
        return {"me": account}


def document() -> dict[str, Any]:
    """Return a document with `up.x.who`, `write`, `job` (which goes on) and the list `list`."""
    text = {"type": "object", "properties": {"me": {"type": "string"}}}
    rows = {"type": "object", "properties": {"items": {"type": "array"}, "total": {"type": "integer"}}}
    numbers = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("offset", "limit")]

    def operation(name: str, schema: Any, parameters: Any = ()) -> dict[str, Any]:
        answer = {"200": {"description": "", "content": {"application/json": {"schema": schema}}}}
        return {"operationId": name, "tags": ["x"], "parameters": list(parameters), "responses": answer}

    return {
        "openapi": "3.1.0",
        "info": {"title": "X", "version": "1"},
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/who": {"get": operation("who", text)},
            "/write": {"post": operation("write", text)},
            "/job": {"post": operation("job", text)},
            "/list": {"get": operation("list", rows, numbers)},
        },
    }


class Desk:
    """A folder with a configuration. `service` may be entered repeatedly."""

    def __init__(self, folder: Path, service: Service, port: int) -> None:
        self.folder = folder
        self.upstream = service
        self.port = port

    def settings(self, connections: Mapping[str, Any] = CONNECTIONS, **sections: Any) -> Settings:
        """Return the settings, with changes."""
        (self.folder / "x.json").write_text(json.dumps(document()), encoding="utf-8")
        up = {
            "location": str(self.folder / "x.json"),
            "base_url": f"http://127.0.0.1:{self.port}",
            "connections": dict(connections),
        }
        folders = {"state_folder": str(self.folder / "state"), "cache_folder": str(self.folder / "cache")}
        policy = {"roles": ["support", "sales"], **sections.pop("policy", {})}
        return Settings.model_validate({"sources": {"up": up}, "policy": policy, **folders, **sections})

    def service(self, connections: Mapping[str, Any] = CONNECTIONS, **sections: Any) -> CodeMode:
        """Return a CodeMode over the service, to be entered."""
        return CodeMode.from_settings(self.settings(connections, **sections))


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """Serve the service and yield its place."""
    service = Service()
    async with listening(service.answer) as port:
        yield Desk(folder, service, port)
