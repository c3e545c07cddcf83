"""Fakes for tests: one-line tools, and a transport that records calls and answers them from a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.transports.base import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.transports.base import CallContext


def make_tool(
    id: str,  # noqa: A002 -- the field's name
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    required: tuple[str, ...] = (),
    summary: str = "",
    effect: Effect = Effect.READ,
    aliases: tuple[str, ...] = (),
    source: str = "fake",
    invocation: Any = None,
) -> Tool:
    """Return a tool whose `parameters` are JSON Schemas by name."""
    made = [
        Parameter(
            name=name,
            wire_name=name,
            location=Location.ARGUMENT,
            required=name in required,
            schema=Schema.of(schema),
            description=str(schema.get("description", "")),
        )
        for name, schema in (parameters or {}).items()
    ]
    return Tool(
        id=id,
        source=source,
        summary=summary,
        description=summary,
        parameters=tuple(sorted(made, key=lambda parameter: not parameter.required)),
        effect=effect,
        invocation=invocation,
        aliases=aliases,
        key=id,
    )


class RecordingTransport:
    """A transport that answers with `answer(tool, arguments)`, which may raise. Recorded calls are in `sent`."""

    idempotency_header = ""

    def __init__(self, answer: Callable[[Tool, Mapping[str, Any]], Any]) -> None:
        self._answer = answer
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Record the call and answer it."""
        await context.before_send()
        self.sent.append((tool.id, dict(arguments)))
        return self._answer(tool, arguments)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Record the call and answer it with one page."""
        return await self.call(tool, arguments, context)

    async def call_response(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Record the call and answer it with status 200, without headers."""
        return Page(await self.call(tool, arguments, context), [], None, status=200)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
