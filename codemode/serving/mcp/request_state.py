"""Sealing of the request state that a client echoes (MCP 2026-07-28, multi round-trip requests).

A state is valid for one caller, one request and a limited time. Its key is derived from the journal's key, so that
every server of the journal can open it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateBoundary, RequestStateSecurity

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import ServerRequestContext

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


class _JournalCodec:
    """Seals under a key of the journal, which is known once the service has been opened."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service

    def seal(self, payload: bytes) -> str:
        """See `mcp.server.request_state.RequestStateCodec`."""
        return self._codec().seal(payload)

    def unseal(self, token: str) -> bytes:
        """See `mcp.server.request_state.RequestStateCodec`."""
        return self._codec().unseal(token)

    def _codec(self) -> AESGCMRequestStateCodec:
        return AESGCMRequestStateCodec([self._service.executions.digest("key of MCP request states")])


def boundary(service: CodeMode, caller_of: Callable[[ServerRequestContext[Any]], Caller]) -> RequestStateBoundary:
    """Return the middleware that seals outgoing states and opens incoming ones."""
    security = RequestStateSecurity(
        codec=_JournalCodec(service),
        ttl=service.settings.approvals.wait_s,
        bind_principal=lambda context: caller_of(context).id,
    )
    return RequestStateBoundary(security, default_audience=f"codemode {service.settings.project}")
