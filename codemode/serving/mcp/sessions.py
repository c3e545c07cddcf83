"""Limit the open MCP sessions of each caller, so that one key cannot use up the sessions of all.

The SDK closes a session when its client ends it, or after `IDLE_S` without a request. It does not report this, so the
same is derived here from the requests that pass through.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers

from codemode.serving.web.admission import Overloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import Message, Scope, Send

#: Seconds without a request after which the SDK closes a session.
IDLE_S = 1800.0

#: Maximum sessions of one caller: a tenth of the SDK's limit for all.
MOST = 1_000

#: Seconds after which a rejected client may try again.
_AGAIN_S = 60

_NAME = "mcp-session-id"
_ERRORS = 400  # the first status of an error


@dataclass(slots=True, eq=False)
class _Session:
    """An open session. It has no name while it is being opened, or once it has ended."""

    name: str = ""
    under_way: int = 0
    idle_since: float = 0.0


class McpSessions:
    """The open sessions of each caller."""

    def __init__(self, *, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._open: dict[str, list[_Session]] = {}

    @contextmanager
    def request(self, caller: str, scope: Scope, send: Send) -> Iterator[Send]:
        """Wrap one request; yield the `send` for its answer. Raises Overloaded if the caller has too many sessions."""
        session = self._session(caller, Headers(scope=scope))
        if session is None:
            yield send
            return
        session.under_way += 1

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _ERRORS:
                session.name = Headers(raw=message["headers"]).get(_NAME, session.name)
                if scope["method"] == "DELETE":
                    session.name = ""
            await send(message)

        try:
            yield watch
        finally:
            session.under_way -= 1
            session.idle_since = self._clock()
            if not session.name:
                self._keep(caller, [one for one in self._open.get(caller, ()) if one is not session])

    def _session(self, caller: str, headers: Headers) -> _Session | None:
        """Return the session of a request, or a new one. Return None in the session-less era."""
        name = headers.get(_NAME)
        if name is not None:
            return next((one for one in self._open.get(caller, ()) if one.name == name), None)
        if headers.get("mcp-protocol-version") not in (None, *HANDSHAKE_PROTOCOL_VERSIONS):
            return None
        closed = self._clock() - IDLE_S
        there = [one for one in self._open.get(caller, ()) if one.under_way or one.idle_since > closed]
        if len(there) >= self._most:
            message = (
                f"{len(there):,} MCP sessions of this key are open: end unused ones (DELETE with their "
                f"Mcp-Session-Id) or wait; a session closes after {IDLE_S / 60:g} minutes without a request"
            )
            raise Overloaded(message, _AGAIN_S)
        session = _Session()
        self._keep(caller, [*there, session])
        return session

    def _keep(self, caller: str, sessions: list[_Session]) -> None:
        if sessions:
            self._open[caller] = sessions
        else:
            self._open.pop(caller, None)
