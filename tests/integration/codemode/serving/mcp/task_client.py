"""A client of the extension `io.modelcontextprotocol/tasks`, made of the official SDK's parts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import mcp_types
from mcp.client.extension import ClientExtension, ResultClaim
from pydantic import ConfigDict

from codemode.serving.mcp import tasks

if TYPE_CHECKING:
    from mcp import Client


class Created(mcp_types.Result):
    """A `CreateTaskResult`."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    status_message: str
    ttl_ms: int | None
    poll_interval_ms: int


class Tasks(ClientExtension):
    """Declares the extension, and keeps the tasks that a server creates."""

    identifier = tasks.EXTENSION

    def __init__(self) -> None:
        self.created: list[Created] = []

    def claims(self) -> list[ResultClaim[Created]]:
        async def resolve(created: Created, _context: Any) -> mcp_types.CallToolResult:
            self.created.append(created)
            return mcp_types.CallToolResult(content=[])

        return [ResultClaim(result_type="task", model=Created, resolve=resolve)]


class Answer(mcp_types.Result):
    """Any result."""

    model_config = ConfigDict(extra="allow")


class Request(mcp_types.Request[dict[str, Any], str]):
    """Any request."""


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    answer = await client.session.send_request(Request(method=method, params=params), Answer)
    return answer.model_dump(by_alias=True, exclude_none=True)


async def ended(client: Client, task: str) -> dict[str, Any]:
    """A task once it no longer works."""
    while (state := await ask(client, "tasks/get", taskId=task))["status"] == "working":  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return state
