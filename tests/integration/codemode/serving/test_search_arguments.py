"""Every face takes the same arguments of a search, and refuses the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from codemode import CodeMode, Settings
from codemode.errors import CodeModeError
from codemode.gateway.caller import LOCAL, Caller
from codemode.model.definitions import Offer
from codemode.serving.agent.toolbox import Toolbox
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.server import McpServer
from codemode.settings import AgentSettings
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    #: The text of the answer, or None for arguments that are refused.
    Search = Callable[[dict[str, Any]], Awaitable[str | None]]

TAKEN: list[dict[str, Any]] = [
    {"queries": "cancel an order"},
    {"queries": ["cancel an order", "find an order"]},
    {"queries": ["cancel an order"], "namespace": "shop", "detail": "full"},
    {"queries": "order", "source": "shop", "limit": 1, "offset": 1},
    {"queries": "order", "effect": "write"},
    {"queries": "order", "limit": 200},
]
REFUSED: list[dict[str, Any]] = [
    {},
    {"queries": []},
    {"queries": 3},
    {"queries": ["x", None]},
    {"queries": ["x"] * 21},
    {"queries": "x" * 1001},
    {"queries": "x", "detail": "ful"},
    {"queries": "x", "effect": "raed"},
    {"queries": "x", "limit": 0},
    {"queries": "x", "limit": 201},
    {"queries": "x", "offset": -1},
    {"queries": "x", "namespaces": "shop"},
]


def cancel_order(number: int) -> bool:
    """Cancel an order."""
    return number > 0


def find_order(name: str) -> int:
    """Find an order."""
    return len(name)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate(folders)
    async with CodeMode.from_settings(settings, functions={"shop": [cancel_order, find_order]}) as service:
        yield service


def in_python(service: CodeMode) -> Search:
    async def search(arguments: dict[str, Any]) -> str | None:
        try:
            return (await service.search(**arguments)).text
        except (CodeModeError, TypeError):
            return None

    return search


def over_http(service: CodeMode, folder: Path) -> Search:
    application = create_app(service, Callers({"a-key": Caller("ann")}, KeyFile(folder / "keys.json")))

    async def search(arguments: dict[str, Any]) -> str | None:
        transport = DescribedTransport(application)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            headers = {"Authorization": "Bearer a-key"}
            answer = await client.post("/v1/search", json=arguments, headers=headers)
        assert answer.status_code in (200, 422), answer.text
        return str(answer.json()["text"]) if answer.status_code == 200 else None

    return search


def over_mcp(service: CodeMode, _: Path) -> Search:
    async def search(arguments: dict[str, Any]) -> str | None:
        async with Client(McpServer(service).server) as client:
            result = await client.call_tool("search", arguments)
        (content,) = result.content
        assert content.type == "text"
        return None if result.is_error else content.text

    return search


def by_an_agent(service: CodeMode, _: Path) -> Search:
    toolbox = Toolbox(service, AgentSettings(), LOCAL, {})

    async def search(arguments: dict[str, Any]) -> str | None:
        answered = await toolbox.call("search", arguments, Offer())
        return answered.text if answered.ok else None

    return search


def in_a_program(service: CodeMode, _: Path) -> Search:
    async def search(arguments: dict[str, Any]) -> str | None:
        outcome = await service.execute(f"search(**{arguments!r})")
        return str(outcome.value) if outcome.ok else None

    return search


@pytest.mark.parametrize("face", [over_http, over_mcp, by_an_agent, in_a_program])
async def test_a_face_takes_and_refuses_what_python_does(
    service: CodeMode, tmp_path: Path, face: Callable[[CodeMode, Path], Search]
) -> None:
    reference, search = in_python(service), face(service, tmp_path)
    for arguments in TAKEN:
        expected = await reference(arguments)
        assert expected is not None, arguments
        assert await search(arguments) == expected, arguments
    for arguments in REFUSED:
        assert await reference(arguments) is None, arguments
        assert await search(arguments) is None, arguments
