"""The peers: other servers for the same programs and the same upstream service.

    python -m benchmarks.path_parts.peers NAME UPSTREAM_URL

Prints its port. Raises if the package of the peer is missing.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI, Request

from benchmarks.path_parts.upstream import KEY, document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

HEADERS = {"Authorization": f"Bearer {KEY}"}

#: Open connections of each client: as many as codemode's own by default.
CONNECTIONS = 32


def fastmcp(url: str) -> Any:
    """Return FastMCP's code mode on the upstream document, behind its HTTP server without sessions."""
    import httpx2
    from fastmcp import FastMCP
    from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider

    client = httpx2.AsyncClient(base_url=url, headers=HEADERS, limits=httpx2.Limits(max_connections=CONNECTIONS))
    server = FastMCP.from_openapi(document(url), client=client)
    server.add_transform(CodeMode(max_tool_calls=None, sandbox_provider=MontySandboxProvider(limits=None)))
    return server.http_app(stateless_http=True, json_response=True)


def floor_httpx2(url: str) -> FastAPI:
    """Return routes that make the calls with httpx2."""
    import httpx2

    async def read(client: Any, number: int) -> int:
        answer = await client.get(f"/items/{number}", headers=HEADERS)
        return int(answer.json()["n"])

    limits = httpx2.Limits(max_connections=CONNECTIONS)
    return _floor(lambda: httpx2.AsyncClient(base_url=url, limits=limits), read)


def floor_aiohttp(url: str) -> FastAPI:
    """Return routes that make the calls with aiohttp."""
    import aiohttp

    async def read(client: Any, number: int) -> int:
        async with client.get(f"{url}/items/{number}", headers=HEADERS) as answer:
            return int((await answer.json())["n"])

    return _floor(lambda: aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)), read)


def _floor(opened: Callable[[], Any], read: Callable[[Any, int], Any]) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened() as app.state.client:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/empty")
    async def empty() -> int:
        return 2

    @app.post("/sequential/{count}")
    async def sequential(count: int, request: Request) -> int:
        return sum([await read(request.app.state.client, number) for number in range(count)])

    @app.post("/parallel/{count}")
    async def parallel(count: int, request: Request) -> int:
        return sum(await asyncio.gather(*(read(request.app.state.client, number) for number in range(count))))

    return app


def pydantic_ai(url: str) -> FastAPI:
    """Return an agent with the code mode of pydantic-ai's harness, in a route: the harness has no server of its own.

    The model is a function that sends the program of the request, and then the result.
    """
    import httpx2
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai_harness import CodeMode

    limits = httpx2.Limits(max_connections=CONNECTIONS)
    client = httpx2.AsyncClient(base_url=url, headers=HEADERS, limits=limits)

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        returned = next((part for part in last.parts if isinstance(part, ToolReturnPart)), None)
        if returned is not None:
            return ModelResponse(parts=[TextPart(returned.model_response_str())])
        code = next(part.content for part in last.parts if isinstance(part, UserPromptPart))
        return ModelResponse(parts=[ToolCallPart("run_code", {"code": code})])

    agent = Agent(FunctionModel(answer), capabilities=[CodeMode()])

    @agent.tool_plain  # type: ignore[untyped-decorator,unused-ignore]  # not installed for all that look
    async def get_item(n: int) -> dict[str, Any]:
        """Read an item."""
        item: dict[str, Any] = (await client.get(f"/items/{n}")).json()
        return item

    app = FastAPI()

    @app.post("/run")
    async def run(request: Request) -> str:
        return str((await agent.run((await request.body()).decode())).output)

    return app


PEERS: dict[str, Callable[[str], Any]] = {
    "fastmcp": fastmcp,
    "floor_httpx2": floor_httpx2,
    "floor_aiohttp": floor_aiohttp,
    "pydantic_ai": pydantic_ai,
}


def main(name: str, url: str) -> None:
    """Serve a peer on a free port of loopback."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio then sets TCP_NODELAY
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    server = uvicorn.Server(uvicorn.Config(PEERS[name](url), log_level="warning", access_log=False))
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main(*sys.argv[1:])
