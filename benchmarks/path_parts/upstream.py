"""The upstream service: answers each request 5 ms after it arrives.

    python -m benchmarks.path_parts.upstream

Prints its port. It speaks as little HTTP as the clients need, so that it takes little processor time.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

#: Time of an answer in seconds.
ANSWER_S = 0.005

#: The key that clients send.
KEY = "upstream-key"


def document(url: str = "") -> dict[str, Any]:
    """Return the OpenAPI document: one operation, which reads an item by its number."""
    number = {"name": "n", "in": "path", "required": True, "schema": {"type": "integer"}}
    owner = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    properties = {"n": {"type": "integer"}, "name": {"type": "string"}, "owner": owner}
    content = {"application/json": {"schema": {"type": "object", "properties": properties}}}
    answers = {"200": {"description": "The item", "content": content}}
    read = {"operationId": "get_item", "tags": ["items"], "parameters": [number], "responses": answers}
    return {
        "openapi": "3.1.0",
        "info": {"title": "shop", "version": "1"},
        **({"servers": [{"url": url}]} if url else {}),
        "paths": {"/items/{n}": {"get": {"summary": "Read an item", **read}}},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


class Upstream(asyncio.Protocol):
    """One connection. Its requests come one after the other."""

    def __init__(self) -> None:
        self._received = b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a complete request later."""
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._loop.call_later(ANSWER_S, self._answer, head.split(b" ", 2)[1])

    def _answer(self, path: bytes) -> None:
        number = int(path.rpartition(b"/")[2])
        item = {"n": number, "name": f"item {number}", "tags": ["new", "red"], "owner": {"id": 7, "name": "Ann"}}
        body = json.dumps(item).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        assert isinstance(self._transport, asyncio.WriteTransport)
        self._transport.write(head + body)


async def main() -> None:
    """Listen on a free port, and print it."""
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
