"""`POST /v1/menu`: the tools to offer for a message, and answers to the meta-tools that a model called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode


class MenuRequest(BaseModel):
    """A message with what was said before it, as OpenAI messages.

    With `meta_tools` those are offered by which a model asks for more. Its calls of them come back in `calls`, with the
    history, and are answered in `answers`, in their order.
    """

    model_config = ConfigDict(extra="forbid")

    message: str = Field(default="", max_length=100_000)
    history: list[dict[str, Any]] = Field(default_factory=list, max_length=10_000)
    summary: str = Field(default="", max_length=100_000)
    meta_tools: bool = False
    calls: list[dict[str, Any]] = Field(default_factory=list, max_length=100)


def add_menu_route(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the route to an application; `authenticated` is its dependency on a key."""

    @app.post("/v1/menu", tags=["tools"], dependencies=[authenticated])
    async def menu(body: MenuRequest, request: Request) -> dict[str, Any]:
        """Select a menu. `tools` are definitions for chat completions, `prompt` belongs into the system prompt."""
        caller = request.state.caller
        if not (body.meta_tools or body.calls):
            found = await service.select_menu(body.message, body.history, summary=body.summary, caller=caller)
            return {**found.to_json(), "answers": []}
        session = await service.menu_session(caller)
        found = await session.offer(body.message, body.history, body.summary)
        answers = [await session.handle(call) for call in body.calls]
        if any(answer is not None and answer.loaded for answer in answers):
            found = await session.offer(body.message, body.history, body.summary)
        return {**found.to_json(), "answers": [None if one is None else one.to_json() for one in answers]}
