from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import pytest

from codemode import CodeMode, tool
from codemode.serving.agent import Agent
from codemode.settings import AgentSettings, Settings
from codemode.testing.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from codemode.testing.model_server import Script

    Connect = Callable[..., Agent]


class Shop:
    """Orders of a shop, and what was done to them."""

    def __init__(self) -> None:
        self.cancelled: list[int] = []
        self.asked: list[int] = []
        self.locked: set[int] = set()

    @tool(effect="read")
    def find_order(self, number: Annotated[int, "As printed on the receipt"]) -> dict[str, Any]:
        """Find an order by its number."""
        if number == 0:
            message = "orders count from 1"
            raise ValueError(message)
        self.asked.append(number)
        return {"number": number, "total": number * 10}

    @tool(effect="write")
    def cancel_order(self, number: int) -> Any:
        """Cancel an order."""
        if number in self.locked:
            return {"error": f"order {number} is locked"}
        self.cancelled.append(number)
        return "cancelled"


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def others() -> int:
    """The number of tools beside those of the shop; a test may set another."""
    return 0


def other(number: int) -> Callable[[str], str]:
    def look_up(name: str) -> str:
        """Look up a name in one of the other lists of the company."""
        return name

    look_up.__name__ = f"look_up_{number}"
    return look_up


@pytest.fixture
async def service(shop: Shop, tmp_path: Path, others: int) -> AsyncIterator[CodeMode]:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache", pins=("shop.find_order",))
    functions: dict[str, list[Any]] = {"shop": [shop.find_order, shop.cancel_order]}
    if others:
        functions["lists"] = [other(number) for number in range(others)]
    async with CodeMode.from_settings(settings, functions=functions) as service:
        yield service


@pytest.fixture
async def served() -> AsyncIterator[Callable[[Script], Any]]:
    """Serve a script as a model; `served(script)` is awaited and gives the server."""
    servers: list[ModelServer] = []

    async def serve(script: Script) -> ModelServer:
        server = await ModelServer(script).__aenter__()
        servers.append(server)
        return server

    yield serve
    for server in servers:
        await server.__aexit__(None, None, None)


@pytest.fixture
async def connect(
    service: CodeMode, served: Callable[[Script], Any], tmp_path: Path
) -> AsyncIterator[Callable[..., Any]]:
    """An agent on a script: `agent, server = await connect(script, mode="code")`."""
    agents: list[Agent] = []

    async def connected(script: Script, **settings: Any) -> tuple[Agent, ModelServer]:
        server = await served(script)
        key_file = tmp_path / "model-key"
        key_file.write_text(server.key, encoding="utf-8")
        given = {"model": "scripted", "base_url": server.base_url, "api_key": {"file": str(key_file)}, **settings}
        agents.append(Agent(service, AgentSettings.model_validate(given)))
        return agents[-1], server

    yield connected
    for agent in agents:
        await agent.aclose()
