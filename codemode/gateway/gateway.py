"""The gateway: every call of every face passes `Gateway.call`."""

from __future__ import annotations

import logging
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.catalog.arguments import validate
from codemode.catalog.observed import ObservedShapes
from codemode.catalog.tool import Effect
from codemode.errors import (
    AccessDenied,
    AnswerInvalid,
    ApprovalRequired,
    CallerNotLetIn,
    CallError,
    CodeModeError,
    EndUnknown,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.gateway.call import CallState, JudgedCall, ToolOutcome
from codemode.gateway.policy import AccessPolicy, AccessRequest, Decision, Ruling
from codemode.sources.destination import HERE
from codemode.transports.content import OWNER
from codemode.transports.departure import DEPARTURE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.gateway.call import ToolCall
    from codemode.gateway.caller import Caller
    from codemode.gateway.policy import Tally
    from codemode.sources.destination import Destination
    from codemode.transports.base import Transport

    Send = Callable[[Transport, Tool, Mapping[str, Any]], Awaitable[Any]]

log = logging.getLogger(__name__)

#: What a proxy answers where the service behind it did not, or not in time: Bad Gateway, Gateway Timeout.
_OF_PROXIES = (502, 504)

#: What stands in the ledger of a call whose caller would not be let in any more.
_NOT_LET_IN = Ruling(Decision.DENY, "the key of the program is no longer good")

#: Errors that the operator is told of, each once.
_TOLD_AT_MOST = 100


class Gateway:
    """Resolve, validate, decide, send: one door for all calls against one catalog, which is the caller's view."""

    def __init__(
        self,
        catalog: Catalog,
        transports: Mapping[str, Transport],
        shapes: ObservedShapes | None = None,
        policy: AccessPolicy | None = None,
        destinations: Mapping[str, Destination] = MappingProxyType({}),
    ) -> None:
        self.catalog = catalog
        self._transports = transports
        self._destinations = destinations
        self._shapes = ObservedShapes() if shapes is None else shapes
        self._policy = policy or AccessPolicy()
        self._only_reads: CodeModeError | None = None
        self._told: set[str] = set()

    def only_reading(self, why: CodeModeError) -> Gateway:
        """The same door, at which a call that may change something ends with the error `why`; nothing is sent."""
        other = copy(self)
        other._only_reads = why
        return other

    def judge(self, call: ToolCall) -> JudgedCall:
        """Resolve, validate and decide, on the arguments as they would be sent; an allowed call is counted.

        A program that runs does not outlive the rights of its caller.
        """
        try:
            tool = self.catalog.get(call.tool)
        except CodeModeError as error:
            return JudgedCall(call, error=error)
        try:
            arguments = validate(tool, call.arguments)
        except CodeModeError as error:
            return JudgedCall(call, tool, error=error)
        if not call.caller.is_let_in():
            return JudgedCall(call, tool, arguments, _NOT_LET_IN, CallerNotLetIn(tool.id))
        request = AccessRequest(tool, arguments, call.caller.role)
        ruling = self._policy.ruling(request)
        if ruling.decision is Decision.ALLOW:
            ruling = self._policy.count(request, call.tally) or ruling
        refusal = _refusal(tool, ruling)
        if tool.effect is not Effect.READ:
            refusal = refusal or self._only_reads
        return JudgedCall(call, tool, arguments, ruling, refusal)

    def recount(self, tool: str, caller: Caller, tally: Tally) -> None:
        """Count a call that was allowed before, for the calls that come after it."""
        if tool in self.catalog:
            self._policy.count(AccessRequest(self.catalog.get(tool), {}, caller.role), tally)

    def destination(self, tool: Tool) -> Destination:
        """Where calls of the tool go, and as whom."""
        return self._destinations.get(tool.source, HERE)

    def takes_key(self, tool: Tool) -> bool:
        """Whether the service of the tool knows a second attempt at a write by its idempotency key."""
        return bool(getattr(self._transports.get(tool.source), "idempotency_header", ""))

    async def send(self, judged: JudgedCall) -> ToolOutcome:
        """Send a call that was judged, if it is allowed. Never raises for what the caller or the other side did."""

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any]) -> Any:
            caller = judged.call.caller
            value = await transport.call(tool, arguments, caller.credentials)
            self._shapes.observe(tool, value, caller.id)
            return value

        return await self._pass(judged, send)

    async def send_page(self, judged: JudgedCall) -> ToolOutcome:
        """The same for a page of a list; the value is the transport's page."""

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any]) -> Any:
            return await transport.call_page(tool, arguments, judged.call.caller.credentials)

        return await self._pass(judged, send)

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Judge and send in one."""
        return await self.send(self.judge(call))

    async def _pass(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        tool = judged.tool
        if judged.error is not None or tool is None:
            return ToolOutcome(tool.id if tool else judged.call.tool, judged.state, error=judged.error)
        owner = OWNER.set(judged.call.caller.id)
        transport, departure = self._transports[tool.source], DEPARTURE.get()
        try:
            if not getattr(transport, "has_pace", False):
                await departure.leave()
            value = await send(transport, tool, judged.arguments)
        except CallError as error:
            self._tell(error)
            return ToolOutcome(tool.id, _state_after(error, tool, has_left=departure.has_left), error=error)
        finally:
            OWNER.reset(owner)
        return ToolOutcome(tool.id, CallState.COMMITTED, value=value)

    def _tell(self, error: CallError) -> None:
        """Tell the operator, once, what the program is not told: addresses, and lines of the configuration."""
        said = str(error)
        if said != error.for_model() and said not in self._told and len(self._told) < _TOLD_AT_MOST:
            self._told.add(said)
            log.warning("%s", said)


def _state_after(error: CallError, tool: Tool, *, has_left: bool) -> CallState:
    """What is known of a call that ended in an error: of one that may have changed something, whether it did."""
    is_write = tool.effect is not Effect.READ
    match error:
        case UpstreamTimeout() if has_left:
            return CallState.UNKNOWN
        case UpstreamTimeout():
            return CallState.NOT_STARTED
        case UpstreamUnreachable():
            return CallState.NOT_STARTED
        case EndUnknown():
            return CallState.UNKNOWN
        case AnswerInvalid() if is_write:
            return CallState.COMMITTED
        case UpstreamError(status=status) if is_write and status in _OF_PROXIES:
            return CallState.UNKNOWN
        case _:
            return CallState.FAILED


def _refusal(tool: Tool, ruling: Ruling) -> CodeModeError | None:
    match ruling.decision:
        case Decision.ALLOW:
            return None
        case Decision.DENY:
            return AccessDenied(tool.id, ruling.rule, ruling.reason)
        case Decision.ASK:
            return ApprovalRequired(tool.id, ruling.rule, ruling.reason)
