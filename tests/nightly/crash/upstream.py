"""A service that counts: `python -m tests.nightly.crash.upstream [ADDRESS]`, a process that outlives every server.

It notes each request before it does anything else, and answers after a few milliseconds. `GET /seen` gives all as
`[method, path, tag, label, key]`, and forgets them.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

#: Seconds that an answer takes at most: so that several calls are under way when a server is killed.
LONGEST_S = 0.02


class Counting:
    """What was seen, in the order in which it came."""

    def __init__(self) -> None:
        self._seen: list[tuple[str, str, str, str, str]] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, target, *_ = head.split()
                headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                await reader.readexactly(int(headers.get("content-length", "0")))
                body = json.dumps(await self._done(method, target, headers.get("idempotency-key", ""))).encode()
                header = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(header.encode() + body)
                await writer.drain()
        writer.close()

    async def _done(self, method: str, target: str, key: str) -> object:
        parts = urlsplit(target)
        if parts.path == "/seen":
            seen, self._seen = self._seen, []
            return seen
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self._seen.append((method, parts.path, query.get("tag", ""), query.get("label", ""), key))
        await asyncio.sleep(random.uniform(0, LONGEST_S))  # noqa: S311
        return {"label": query.get("label", ""), "text": "x" * random.choice((10, 10, 10, 9000))}  # noqa: S311


async def main(address: str = "127.0.0.1") -> None:
    """Serve until standard input ends, after saying the port."""
    server = await asyncio.start_server(Counting().answer, address, 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
