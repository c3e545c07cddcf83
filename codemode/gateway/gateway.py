"""The gateway: every tool call passes `Gateway.call`, or its two halves `judge` and `send`."""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from codemode.catalog.arguments import validate
from codemode.catalog.observed import ObservedShapes, is_undocumented
from codemode.catalog.tool import Effect, Location
from codemode.errors import (
    AccessDenied,
    AnswerInvalid,
    ApprovalRequired,
    CallError,
    CallerUnknown,
    CodeModeError,
    CredentialsRevoked,
    EndUnknown,
    JournalUnavailable,
    OutsideHeader,
    ReadOnly,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.gateway.answer_checks import AnswerChecks
from codemode.gateway.answers import narrowed
from codemode.gateway.call import CallState, JudgedCall, ToolOutcome, state_of
from codemode.gateway.policy import READ_ONLY, AccessPolicy, AccessRequest, Decision, Ruling
from codemode.gateway.reached import outside_header, requests_of, strictest
from codemode.sources.destination import HERE
from codemode.transports.allowances import RateUnknown
from codemode.transports.base import CallContext, Page
from codemode.transports.content import ContentStore
from codemode.transports.http.headers import ACCEPT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool
    from codemode.gateway.call import ToolCall
    from codemode.gateway.caller import Caller
    from codemode.gateway.policy import Tally
    from codemode.sources.destination import Destination
    from codemode.transports.base import AnsweringTransport, Transport

    Send = Callable[[Transport, Tool, Mapping[str, Any], CallContext], Awaitable[Any]]

log = logging.getLogger(__name__)

#: Statuses of a proxy without an answer of its service: Bad Gateway, Gateway Timeout.
_OF_PROXIES = (502, 504)

#: The ruling in the ledger for a caller whose key or token is no longer valid.
_REVOKED = Ruling(Decision.DENY, "the key of the program is no longer valid")

#: Maximum number of different errors that are logged for the operator.
_LOGGED_AT_MOST = 100

_NO_CONTEXT = CallContext()


class Gateway:
    """Resolves, validates, decides and sends the calls to one catalog, which is the caller's view."""

    def __init__(
        self,
        catalog: Catalog,
        transports: Mapping[str, Transport],
        shapes: ObservedShapes | None = None,
        policy: AccessPolicy | None = None,
        destinations: Mapping[str, Destination] = MappingProxyType({}),
        checks: AnswerChecks | None = None,
        contents: ContentStore | None = None,
    ) -> None:
        self.catalog = catalog
        self._transports = transports
        self._destinations = destinations
        self._shapes = ObservedShapes() if shapes is None else shapes
        self._checks = AnswerChecks() if checks is None else checks
        self._contents = ContentStore() if contents is None else contents
        self._policy = policy or AccessPolicy()
        self._only_reads: CodeModeError | None = None
        self._logged: set[str] = set()

    def only_reading(self, why: CodeModeError) -> Gateway:
        """Return a gateway that only sends reads. Other calls end with the error `why`."""
        other = copy(self)
        other._only_reads = why
        return other

    def judge(self, call: ToolCall, *, unchecked: Collection[str] = ()) -> JudgedCall:
        """Resolve, validate and decide, with the arguments that will be sent. An allowed call is counted.

        The caller is checked with every call, so a running program loses the rights that its caller loses. The values
        of the arguments `unchecked` are not validated: the call is judged and will not be sent.
        """
        try:
            tool = self.catalog.get(call.tool)
        except CodeModeError as error:
            return JudgedCall(call, error=error)
        try:
            arguments = validate(tool, call.arguments, unchecked=unchecked)
        except CodeModeError as error:
            return JudgedCall(call, tool, error=error)
        lost = _lost_right(call.caller, tool.id)
        if lost is not None:
            return JudgedCall(call, tool, arguments, _REVOKED, lost)
        try:
            requests = requests_of(
                AccessRequest(tool, arguments, call.caller.role, call.caller.read_only), self.catalog
            )
        except CodeModeError as error:
            return JudgedCall(call, tool, arguments, error=error)
        tool = requests[0].tool  # its effect is the worst of all that the call reaches
        outside = call.within and outside_header(call.within, requests)
        if outside:
            return JudgedCall(call, tool, arguments, outside, OutsideHeader(tool.id, outside.rule, outside.reason))
        ruling = strictest(self._policy, requests)
        if ruling.decision is Decision.ALLOW:
            ruling = next(filter(None, (self._policy.count(one, call.tally) for one in requests)), ruling)
        refusal = _refusal(tool, ruling)
        if tool.effect is not Effect.READ:
            refusal = refusal or self._only_reads
        return JudgedCall(call, tool, arguments, ruling, refusal)

    def approve(self, judged: JudgedCall, by: str) -> JudgedCall:
        """Return a pending call as approved by a plugin.

        Unlike a person's, the approval counts for quotas. A gateway that only sends reads still refuses a write.
        """
        call, tool = judged.call, judged.tool
        if tool is None:
            return judged
        used_up = self._policy.count(AccessRequest(tool, judged.arguments, call.caller.role), call.tally)
        if used_up is not None:
            return judged.denied(used_up.rule, used_up.reason)
        refusal = self._only_reads if tool.effect is not Effect.READ else None
        return replace(judged.approved(by), error=refusal)

    def recount(self, tool: str, caller: Caller, tally: Tally) -> None:
        """Count a call that was allowed in an earlier run, so that quotas include it."""
        if tool in self.catalog:
            self._policy.count(AccessRequest(self.catalog.get(tool), {}, caller.role), tally)

    def destination(self, tool: Tool) -> Destination:
        """Where calls of the tool go, and as whom."""
        return self._destinations.get(tool.source, HERE)

    def result_schema(self, tool: Tool, caller: Caller) -> Schema | None:
        """Return the schema of a tool's result, or the one that the caller has observed if none says its fields."""
        observed = self._shapes.schema(caller.id, tool) if is_undocumented(tool) else None
        return observed or tool.returns

    def takes_key(self, tool: Tool) -> bool:
        """Return whether the service of the tool accepts idempotency keys."""
        return bool(self._transports[tool.source].idempotency_header)

    async def send(self, judged: JudgedCall, context: CallContext = _NO_CONTEXT) -> ToolOutcome:
        """Send a judged call, if it is allowed. Errors of the call are in the outcome; they are not raised.

        The owner, the credentials and the account of `context` are replaced by those of the call.
        """

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            return narrowed(tool, await transport.call(tool, arguments, context))

        return await self._pass(judged, context, send)

    async def send_page(
        self, judged: JudgedCall, context: CallContext = _NO_CONTEXT, *, query: str = ""
    ) -> ToolOutcome:
        """Send a judged call for one page of a list. The value is the transport's `Page`.

        `query` is the `next_query` of the page before.
        """

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            return narrowed(tool, await transport.call_page(tool, arguments, context))

        return await self._pass(judged, replace(context, query=query), send)

    async def send_response(self, judged: JudgedCall, context: CallContext = _NO_CONTEXT) -> ToolOutcome:
        """Send a judged call. The value is a `Page` with status and headers."""

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            answering = cast("AnsweringTransport", transport)  # as that of every tool with `headers`
            return narrowed(tool, await answering.call_response(tool, arguments, context))

        return await self._pass(judged, context, send)

    async def send_wait(
        self, judged: JudgedCall, context: CallContext = _NO_CONTEXT, *, first: Page, wait_s: float
    ) -> ToolOutcome:
        """Wait for the end of the work that a call began with the answer `first`. The value is the last answer."""

        async def send(transport: Transport, tool: Tool, _: Mapping[str, Any], context: CallContext) -> Any:
            answering = cast("AnsweringTransport", transport)
            return narrowed(tool, await answering.call_result(tool, first, context, wait_s))

        return await self._pass(judged, context, send)

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Judge and send a call."""
        arguments = await self.restored(call.arguments, call.caller)
        return await self.send(self.judge(replace(call, arguments=arguments)))

    async def restored(self, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        """Return arguments with content references as they are stored, for a call to be judged and shown by them."""
        restored: dict[str, Any] = await self._contents.restore(arguments, caller.id)
        return restored

    async def _pass(self, judged: JudgedCall, context: CallContext, send: Send) -> ToolOutcome:
        tool = judged.tool
        if judged.error is not None or tool is None:
            return ToolOutcome(tool.id if tool else judged.call.tool, judged.state, error=judged.error)
        caller, start = judged.call.caller, _Start(context.before_send)
        context = replace(
            context, owner=caller.id, credentials=caller.credentials, account=judged.account, before_send=start
        )
        choice = tool.account_parameter
        try:
            await self._contents.recall(judged.arguments, caller.id)
            sent = {name: value for name, value in judged.arguments.items() if name != choice}
            value = await send(self._transports[tool.source], tool, sent, context)
        except CallError as error:
            self._tell(error)
            state = _state_after(error, tool, has_started=start.has_started)
            if state is CallState.COMMITTED:
                error.args = (f"{error}; the service accepted the call, which was done: do not repeat it",)
            return ToolOutcome(tool.id, state, error=error)
        await self._contents.save(caller.id)
        if choice in judged.arguments and isinstance(value, Page) and value.next_arguments is not None:
            following = {**value.next_arguments, choice: judged.arguments[choice]}
            value = replace(value, next_arguments=following)
        state = state_of(tool.effect, CallState.COMMITTED)
        return ToolOutcome(tool.id, state, value=value, note=self._note(judged, tool, value))

    def _note(self, judged: JudgedCall, tool: Tool, answer: Any) -> str:
        """Compare an answer with its schema, and learn from it. Return how it differs.

        The schema is not that of another media type that the program chose.
        """
        caller = judged.call.caller
        chosen = tool.parameter(ACCEPT) if ACCEPT in judged.arguments else None
        if chosen is not None and chosen.location is Location.HEADER:
            return ""
        if isinstance(answer, Page):
            return self._checks.check(tool, answer.value, None)
        note = self._checks.check(tool, answer, self._shapes.steady(caller.id, tool))
        self._shapes.observe(tool, answer, caller.id)
        return note

    def _tell(self, error: CallError) -> None:
        """Log what an error hides from the program, such as addresses and configuration lines. Log it once."""
        said = str(error)
        if said != error.for_model() and said not in self._logged and len(self._logged) < _LOGGED_AT_MOST:
            self._logged.add(said)
            log.warning("%s", said)


@dataclass(slots=True)
class _Start:
    """Awaits `before_send`, and remembers that it allowed the call to be sent."""

    before_send: Callable[[], Awaitable[None]]
    has_started: bool = False

    async def __call__(self) -> None:
        await self.before_send()
        self.has_started = True


def _state_after(error: CallError, tool: Tool, *, has_started: bool) -> CallState:
    """Return the state of a call that ended in an error; for a write, whether it was done, if that is known."""
    is_write = tool.effect is not Effect.READ
    match error:
        case UpstreamTimeout() if has_started and is_write:
            return CallState.UNKNOWN
        case UpstreamTimeout() if not has_started:
            return CallState.NOT_STARTED
        case UpstreamUnreachable() | RateUnknown():
            return CallState.NOT_STARTED
        case EndUnknown() if is_write:
            return CallState.UNKNOWN
        case AnswerInvalid() if is_write:
            return CallState.COMMITTED
        case UpstreamError(status=status) if is_write and status in _OF_PROXIES:
            return CallState.UNKNOWN
        case _:
            return CallState.FAILED


def _lost_right(caller: Caller, tool: str) -> CallError | None:
    """Return the error of a call whose caller would not be authenticated now, None for any other."""
    try:
        return None if caller.is_still_good() else CredentialsRevoked(tool)
    except JournalUnavailable:
        return CallerUnknown(tool)


def _refusal(tool: Tool, ruling: Ruling) -> CodeModeError | None:
    match ruling.decision:
        case Decision.ALLOW:
            return None
        case Decision.DENY if ruling is READ_ONLY:
            return ReadOnly(tool.id, ruling.rule)
        case Decision.DENY:
            return AccessDenied(tool.id, ruling.rule, ruling.reason)
        case Decision.ASK:
            return ApprovalRequired(tool.id, ruling.rule, ruling.reason)
