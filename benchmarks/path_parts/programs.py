"""The programs, and the requests that run them on each server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.path_parts.processes import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Program:
    """A program that makes `calls` calls. Its value is the sum of the items' numbers, or 2 if it is empty.

    It sleeps `pause_s` seconds first, if it makes none.
    """

    name: str
    calls: int = 0
    is_parallel: bool = False
    pause_s: float = 0.0

    @property
    def value(self) -> int:
        """The value of the program."""
        return sum(range(self.calls)) if self.calls else 2

    def code(self, call: str) -> list[str]:
        """Return its lines for an engine whose expression for a call is `call`. The last one is the value."""
        if not self.calls:
            return [*(["import time", f"time.sleep({self.pause_s})"] if self.pause_s else ()), "1 + 1"]
        if self.is_parallel:
            lines = ["import asyncio", "async def read(n):", f"    return ({call})['n']"]
            return [*lines, f"sum(await asyncio.gather(*[read(n) for n in range({self.calls})]))"]
        return ["total = 0", f"for n in range({self.calls}):", f"    total += ({call})['n']", "total"]


PROGRAMS = (
    Program("empty"),
    Program("1 call", 1),
    Program("5 calls", 5),
    Program("50 calls", 50),
    Program("50 parallel", 50, is_parallel=True),
)
EMPTY, ONE, FIVE, FIFTY, PARALLEL = PROGRAMS


@dataclass(frozen=True, slots=True)
class Asked:
    """The requests for one program, and the text that each right answer contains."""

    requests: tuple[bytes, ...]
    expected: bytes


def of_codemode(program: Program) -> Asked:
    """Return the requests of `POST /v1/execute`, one for each key."""
    call = "await shop.items.get_item(n=n)" if program.is_parallel else "shop.items.get_item(n=n)"
    body = json.dumps({"code": "\n".join(program.code(call))})
    requests = tuple(_post("/v1/execute", body, f"Authorization: Bearer {key}\r\n") for key in KEYS)
    return Asked(requests, f'"value":{program.value},'.encode())


def of_fastmcp(program: Program) -> Asked:
    """Return a call of FastMCP's `execute` tool."""
    *lines, last = program.code("await call_tool('get_item', {'n': n})")
    arguments = {"code": "\n".join([*lines, f"return {last}"])}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "execute", "arguments": arguments}}
    request = _post("/mcp", json.dumps(message), "Accept: application/json, text/event-stream\r\n")
    return Asked((request,), f'"text":"{program.value}"'.encode())


def of_pydantic_ai(program: Program) -> Asked:
    """Return a request of the route around pydantic-ai's agent."""
    return Asked((_post("/run", "\n".join(program.code("await get_item(n=n)"))),), f'"{program.value}"'.encode())


def of_floor(program: Program) -> Asked:
    """Return a request of the route that makes the calls itself."""
    kind = "parallel" if program.is_parallel else "sequential"
    path = f"/{kind}/{program.calls}" if program.calls else "/empty"
    return Asked((_post(path, ""),), str(program.value).encode())


#: How each peer is asked.
OF_PEERS: dict[str, Callable[[Program], Asked]] = {
    "fastmcp": of_fastmcp,
    "floor_httpx2": of_floor,
    "floor_aiohttp": of_floor,
    "pydantic_ai": of_pydantic_ai,
}


def _post(path: str, body: str, headers: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
