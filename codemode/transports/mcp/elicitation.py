"""Questions of MCP servers to people (elicitation), and the answers that people gave earlier.

A question without an answer ends its call: the program pauses, and its call is sent again once somebody has answered.
A server in a session does not say about which call it asks. Its question is that of the only call under way, and a call
that brings answers is sent alone.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import mcp_types
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from codemode.text.prose import shorten
from codemode.transports.questions import question_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp import MCPError

#: Characters of a question that are kept.
_MESSAGE_CHARACTERS = 2_000

#: What a server is told that asks.
_AGAIN = "nobody has answered yet: the call is sent again after the answer"
_WHOSE = "several calls are under way, and the question belongs to one of them: make this call alone"

_NO_PAGE = "a question may send a person to a page at https:// or http:// only"

#: The key of a question in the error that its server gets.
_ASKS = "question"


class Exchange:
    """One call under way: the answers that it brings by `question_key`, and the question that it ended with."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asks: dict[str, Any] | None = None


class Exchanges:
    """The calls under way on one connection."""

    def __init__(self) -> None:
        self._calls: list[Exchange] = []
        self._changed = asyncio.Condition()
        self._is_alone = False

    @asynccontextmanager
    async def under_way(self, answers: Mapping[str, Any]) -> AsyncIterator[Exchange]:
        """Wait for other calls if this one brings answers, and the other way round. Then make the call in the block."""
        exchange = Exchange(answers)
        async with self._changed:
            await self._changed.wait_for(lambda: not self._is_alone and not (answers and self._calls))
            self._calls.append(exchange)
            self._is_alone = bool(answers)
        try:
            yield exchange
        finally:
            self._calls.remove(exchange)
            self._is_alone = False
            async with self._changed:
                self._changed.notify_all()

    async def asked(self, context: object, params: mcp_types.ElicitRequestParams) -> Any:
        """Answer a server's question. See `mcp.client.session.ElicitationFnT`."""
        if isinstance(params, mcp_types.ElicitRequestURLParams) and not _is_web_page(params.url):
            return mcp_types.ErrorData(code=INVALID_PARAMS, message=_NO_PAGE)
        asks = _question(params)
        call = self._calls[0] if len(self._calls) == 1 else None
        answer = call.answers.get(question_key(asks)) if call is not None else None
        if answer is not None:
            return mcp_types.ElicitResult.model_validate(answer)
        message = _AGAIN if call is not None else _WHOSE
        if call is not None:
            call.asks = asks
        return mcp_types.ErrorData(code=INTERNAL_ERROR, message=message, data={_ASKS: asks})


def question_in(error: MCPError) -> dict[str, Any] | None:
    """Return the question because of which a call ended with an error (multi round-trip requests), or None."""
    return error.data.get(_ASKS) if isinstance(error.data, dict) else None


def _is_web_page(url: str) -> bool:
    """Return whether a browser would open a page of a host: no script, file or program of the person's machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and url.isprintable() and " " not in url


def _question(params: mcp_types.ElicitRequestParams) -> dict[str, Any]:
    message = shorten(params.message, _MESSAGE_CHARACTERS)
    if isinstance(params, mcp_types.ElicitRequestURLParams):
        return {"mode": "url", "message": message, "url": params.url}
    return {"mode": "form", "message": message, "requestedSchema": params.requested_schema}
