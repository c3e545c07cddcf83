"""`POST /v1/menu`: select the tools to offer for a message, and answer a model's calls of meta-tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode


class MenuRequest(BaseModel):
    """A message and its history, as OpenAI messages.

    With `meta_tools`, the menu includes tools by which a model asks for more tools. Send the model's calls of them in
    `calls`, together with the history. The response has one entry in `answers` for each call, in the same order.
    """

    model_config = ConfigDict(extra="forbid")

    message: str = Field(default="", max_length=100_000)
    history: list[dict[str, Any]] = Field(default_factory=list, max_length=10_000)
    summary: str = Field(default="", max_length=100_000)
    meta_tools: bool = False
    calls: list[dict[str, Any]] = Field(default_factory=list, max_length=100)


def add_menu_route(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the route to an application. `authenticated` is the dependency that requires a key."""

    @app.post("/v1/menu", tags=["tools"], dependencies=[authenticated])
    async def menu(body: MenuRequest, request: Request) -> dict[str, Any]:
        """Select a menu. `tools` holds chat completion definitions; add `prompt` to the system prompt."""
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
