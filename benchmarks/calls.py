"""Processor time of a tool call: `Gateway.call` beside httpx2 alone, against the same loopback server.

    python -m benchmarks.calls [--calls 2000] [--tools 20 20000]

The server runs in its own process, so only the client's processor time counts. The clients take turns in batches. The
medians are printed in microseconds, and the median of the ratios to httpx2. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from codemode.catalog.catalog import Catalog
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.gateway import Gateway
from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.credentials import Credential
from codemode.transports.auth.requirements import Authentication, Configured, SchemeKind
from codemode.transports.http.addresses import PermittedOrigins, origin
from codemode.transports.http.connection import Request
from codemode.transports.http.network import open_pool
from codemode.transports.http.transport import HttpTransport, Reach

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Call = Callable[[], Awaitable[object]]

#: Goal: the processor time of a call, as a share of that of a request by httpx2, with any number of tools.
GOAL = 0.6

#: Calls in a batch: enough to measure, few enough for frequent turns.
BATCH = 50

SERVER = """
import asyncio
body = b'{"id": 7, "name": "a thing", "tags": ["one", "two"], "owner": {"id": 1, "name": "ann"}}'
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)

class Answering(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.came = transport, b""

    def data_received(self, data):
        self.came += data
        while b"\\r\\n\\r\\n" in self.came:
            self.came = self.came.partition(b"\\r\\n\\r\\n")[2]
            self.transport.write(head + body)

async def main():
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def document(tools: int) -> dict[str, Any]:
    """Return an OpenAPI document with `tools` operations, each with three parameters and a response schema."""
    thing = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    parameters = [
        {"name": "thing_id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "expand", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}},
    ]
    answer = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
    paths = {
        f"/group{number}/things/{{thing_id}}": {
            "get": {"operationId": f"getThing{number}", "parameters": parameters, "responses": answer}
        }
        for number in range(tools)
    }
    schemes = {"Token": {"type": "http", "scheme": "bearer"}}
    components = {"schemas": {"Thing": thing}, "securitySchemes": schemes}
    return {"openapi": "3.1.0", "paths": paths, "components": components, "security": [{"Token": []}]}


async def cpu_us(call: Call, calls: int) -> float:
    """Return the processor time of this process per call, in microseconds, over `calls` sequential calls."""
    started = time.process_time()
    for _ in range(calls):
        await call()
    return (time.process_time() - started) / calls * 1e6


async def measure(url: str, sizes: list[int], calls: int) -> bool:
    """Print a line for each number of tools. Return whether all are within the goal."""
    target = f"{url}/group7/things/7?expand=a&expand=b&limit=10"
    headers = [("Authorization", "Bearer a-token-of-usual-length"), ("Accept", "application/json")]
    async with httpx2.AsyncClient(trust_env=False) as client, httpcore2.AsyncConnectionPool() as pool:

        async def plain() -> None:
            (await client.get(target, headers=headers)).json()

        async def bare() -> None:
            response = await pool.request("GET", target, headers=headers)
            assert response.status == 200

        place = origin(url)
        pinned = open_pool(PermittedOrigins((place,)))

        async def alone() -> None:
            response = await pinned.send(Request("GET", place, target.removeprefix(url), headers))
            while await response.read():
                pass
            response.close()

        good = True
        for size in sizes:
            gateway, call = _gateway(url, size)
            ways: dict[str, Call] = {"gateway": call, "httpx2": plain, "httpcore2": bare, "connection": alone}
            for way in ways.values():
                await cpu_us(way, BATCH)
            rounds = [{name: await cpu_us(way, BATCH) for name, way in ways.items()} for _ in range(calls // BATCH)]
            middle = {name: statistics.median(times[name] for times in rounds) for name in ways}
            share = statistics.median(times["gateway"] / times["httpx2"] for times in rounds)
            good = good and share <= GOAL
            print(
                f"{size:>7,} tools: a call {middle['gateway']:6.0f} us, httpx2 {middle['httpx2']:6.0f}, "
                f"httpcore2 {middle['httpcore2']:6.0f}, its connection alone {middle['connection']:6.0f}; "
                f"{share:.2f} of httpx2"
            )
            await gateway.aclose()
        await pinned.aclose()
        return good


def _gateway(url: str, size: int) -> tuple[HttpTransport, Call]:
    tools = load_openapi(document(size), name="api").tools
    token = Configured(SchemeKind.BEARER, Credential.bearer("a-token-of-usual-length"))
    transport = HttpTransport(Reach("api", url), authentication=Authentication("api", [token]))
    gateway = Gateway(Catalog(tools), {"api": transport})
    name = tools[size // 2].id
    arguments = {"thing_id": 7, "expand": ["a", "b"], "limit": 10}

    async def call() -> None:
        outcome = await gateway.call(ToolCall("ex_1", "1", name, dict(arguments)))
        assert outcome.state is CallState.COMMITTED, outcome.error

    return transport, call


async def with_server(sizes: list[int], calls: int) -> bool:
    """Start the server process and measure against it."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        return await measure(f"http://127.0.0.1:{port}", sizes, calls)
    finally:
        process.terminate()
        await process.wait()


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--tools", type=int, nargs="+", default=[20, 20_000])
    options = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, httpx2 {version('httpx2')}")
    sys.exit(0 if asyncio.run(with_server(options.tools, options.calls)) else 1)


if __name__ == "__main__":
    main()
