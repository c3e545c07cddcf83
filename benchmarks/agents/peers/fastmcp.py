"""FastMCP's code mode: an MCP server in process with the tools of the task, behind three tools of its own.

FastMCP has no agent. The loop is ours, with the peer's definitions, results and errors.
"""

from __future__ import annotations

import re
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import FastMCPError
from fastmcp.experimental.transforms.code_mode import CodeMode as FastMcpCodeMode
from fastmcp.tools.base import Tool as FastMcpTool
from pydantic_monty import Monty  # noqa: F401 -- FastMCP imports it when the first program runs

from benchmarks.agents.service_tools import tools_of
from codemode.bench.players import record_of, with_instructions
from codemode.model.answer import Answer, rejected
from codemode.model.definitions import Definition, Offer
from codemode.serving.agent.fenced import FencedModel
from codemode.serving.agent.models import model_of
from codemode.serving.agent.transcript import read_history
from codemode.serving.agent.turn import Turn
from codemode.settings import Secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from benchmarks.agents.service_tools import ServiceTool
    from codemode.bench.results import TurnRecord
    from codemode.bench.suite import Episode, Task
    from codemode.service import CodeMode
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentSettings, ModeName

#: A call in a program of this peer.
_CALLING = re.compile(r"\bcall_tool\(")


class FastMcpPlayer:
    """A model with the tools of FastMCP's code mode."""

    mode = "fastmcp"
    packages = ("fastmcp",)

    def __init__(self, settings: AgentSettings, model: Model | None = None) -> None:
        self.model = settings.model
        self._settings = settings
        self._model = model
        self._history: dict[int, tuple[dict[str, Any], ...]] = {}

    def with_model(self, model: Model) -> FastMcpPlayer:
        """Return a player with the same settings and another model."""
        return FastMcpPlayer(self._settings, model)

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Send the message to the model, with the conversation so far."""
        settings = with_instructions(self._settings, task)
        history = read_history(self._history.pop(id(episode), ()) if index else ())
        async with self._opened(settings) as model, Client(_server(await tools_of(service))) as client:
            turn = Turn(
                settings,
                model if settings.use_function_calling else FencedModel(model),
                _Toolbox(client, await client.list_tools()),
                message=task.messages[index],
                history=history,
                plan=None,
            )
            record, result = await record_of(task.messages[index], turn.events())
        if index + 1 < len(task.messages):
            self._history[id(episode)] = result.messages
        return record

    @asynccontextmanager
    async def _opened(self, settings: AgentSettings) -> AsyncIterator[Model]:
        """Yield the given model, or one whose connections are closed at the end."""
        if self._model is not None:
            yield self._model
            return
        async with aclosing(model_of(settings, Secrets())) as model:
            yield model


class _Toolbox:
    """The definitions of FastMCP's code mode, and calls of them."""

    mode: ModeName = "native"

    def __init__(self, client: Any, listed: Sequence[Any]) -> None:
        self._client = client
        self._offer = Offer(tuple(map(_definition, listed)))

    async def offer(self, message: str, history: Sequence[Mapping[str, Any]]) -> Offer:
        return self._offer

    async def call(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answer:
        try:
            result = await self._client.call_tool(name, arguments, raise_on_error=False)
        except FastMCPError as error:
            return rejected(str(error), malformed=True)
        text = "\n".join(getattr(part, "text", str(part)) for part in result.content)
        return Answer(text, "rejected" if result.is_error else "answered")

    async def names(self, offer: Offer) -> frozenset[str]:
        return frozenset(offer.names)

    async def calling(self) -> re.Pattern[str]:
        return _CALLING


def _definition(tool: Any) -> Definition:
    return Definition({"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema})


def _server(tools: Sequence[ServiceTool]) -> Any:
    server = FastMCP("tools")
    for tool in tools:
        server.add_tool(_Tool.of(tool))
    server.add_transform(FastMcpCodeMode())
    return server


class _Tool(FastMcpTool):
    """A tool of the task in FastMCP's catalog."""

    _target: ServiceTool

    @classmethod
    def of(cls, target: ServiceTool) -> _Tool:
        made = cls(name=target.name, description=target.description, parameters=target.parameters)
        made._target = target
        return made

    async def run(self, arguments: dict[str, Any]) -> Any:
        return self.convert_result(await self._target.call(**arguments))


player = FastMcpPlayer
