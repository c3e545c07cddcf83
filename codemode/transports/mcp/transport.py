"""Tools of an MCP server, called over one connection that is reopened when it is lost.

The official SDK speaks the protocol, in both its eras. Its objects stay in this module, except for the definitions that
`McpTransport.start` returns.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, PARSE_ERROR, REQUEST_TIMEOUT

from codemode.catalog.tool import Effect
from codemode.errors import (
    AnswerInvalid,
    CallError,
    CredentialsMissing,
    SourceError,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.text.prose import shorten
from codemode.transports.content import ContentStore
from codemode.transports.http.certificates import distrusted
from codemode.transports.http.rate_limit import Pace
from codemode.transports.mcp.authorization import Authorization
from codemode.transports.mcp.definition_repairs import left_out
from codemode.transports.mcp.elicitation import Exchanges, question_in
from codemode.transports.mcp.keepalive import PATIENCE_S, answers
from codemode.transports.mcp.process import ANSWER_TOO_LARGE
from codemode.transports.mcp.repairs import with_output_schema
from codemode.transports.mcp.results import error_text, value_of
from codemode.transports.questions import InputRequired
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from mcp.shared.dispatcher import ProgressFnT

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext
    from codemode.transports.mcp.connections import Connect

    Definitions = tuple[mcp_types.Tool, ...]

log = logging.getLogger(__name__)


#: First and longest back-off between reconnections, in seconds.
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0

#: Seconds between two reads of a tool list that changes repeatedly.
RELISTED_EVERY_S = 1.0

#: Largest number of tools of one server, and of pages in its list: some lists never end.
MOST_TOOLS, MOST_PAGES = 10_000, 1_000

#: Characters of a server's error in a message. The error's body has all of it.
_LONGEST_ERROR = 2_000

#: What the SDK reports for an unparsable HTTP answer, and for one that is an error.
_UNPARSED, _NO_RESULT = " for union[JSONRPC", "JSONRPCResponse.result\n  Field required"

#: Characters of a progress message.
_PROGRESS_CHARACTERS = 200


class McpTransport:
    """Calls the tools of one server.

    `connect` opens a connection. It receives a callback to call when the connection ends by itself, if that is known.
    `authorization` knows why a server at a URL rejects requests. With `is_process`, a server that lets a call time out
    and answers no ping is replaced. `on_change` receives the definitions when the server reports a change, and after a
    reconnection that changed them. `left_out` says which definitions cannot be used.
    """

    idempotency_header = ""

    def __init__(
        self,
        source: str,
        connect: Connect,
        *,
        timeout_s: float = 30.0,
        concurrency: int = 32,
        contents: ContentStore | None = None,
        secrets: tuple[str, ...] = (),
        on_change: Callable[[Definitions], None] = lambda _: None,
        is_process: bool = False,
        authorization: Authorization | None = None,
    ) -> None:
        self._authorization = authorization or Authorization(source)
        self._is_process = is_process
        self._probe: asyncio.Task[None] | None = None
        self._source = source
        self._connect = connect
        self._timeout_s = timeout_s
        self._pace = Pace(concurrency)
        self._contents = contents or ContentStore()
        self._lasting = self._known = Redactor(secrets)
        self._tokens: tuple[str, ...] = ()
        self.on_change = on_change
        self._definitions: Definitions = ()
        self.left_out: tuple[str, ...] = ()
        self._instructions = ""
        self._client: Client | None = None
        self._exchanges = Exchanges()
        self._connections = 0
        self._settled = asyncio.Event()  # connected, or known to be unreachable
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._changed = asyncio.Event()  # reported by the server, list not read since
        self._failure = ""
        self._rejection: CallError | None = None
        self._owner: asyncio.Task[None] | None = None

    async def start(self) -> Definitions:
        """Connect and return the tools. Reconnect in the background until `aclose`.

        Raises SourceError if the first attempt fails.
        """
        self._owner = asyncio.create_task(self._keep_connected(), name=f"mcp {self._source}")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), self._timeout_s)
        self._tried.set()  # from now on, report changed definitions
        if self._client is None:
            reason = self._failure or f"sent no tool list within {self._timeout_s:g} s"
            message = f"the MCP server of {self._source} {self._redactor.text(reason)}"
            raise SourceError(message)
        return self._definitions

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Call a tool. `tool.invocation` is its name on the server.

        Returns the structured result, else the text (or its JSON data), else a list of contents with content references
        for images and resources. Raises UpstreamError for an error result, InputRequired for a question to a person,
        UpstreamTimeout, UpstreamUnreachable.
        """
        by_wire_name = {parameter.name: parameter.wire_name for parameter in tool.parameters}
        contents = self._contents.of(context.owner)
        sent = {by_wire_name[name]: contents.as_base64(value) for name, value in arguments.items()}
        is_sent = asyncio.Event()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._settled.wait()
                async with self._pace:
                    await context.before_send()
                    again = tool.effect is Effect.READ
                    result = await self._send(str(tool.invocation), sent, context, is_sent, again=again)
        except TimeoutError:
            if not is_sent.is_set():
                raise self._unreachable() from None
            self._suspect(PATIENCE_S)
            message = f"{self._source} did not answer within {self._timeout_s:g} s"
            raise UpstreamTimeout(message) from None
        except asyncio.CancelledError:
            if is_sent.is_set():  # its time has not run out yet
                self._suspect(self._timeout_s)
            raise
        try:
            value = await asyncio.to_thread(value_of, result, contents)  # a large result takes long
        except (ValueError, RecursionError) as error:
            message = f"{self._source} returned an unusable result: {_reason(error)}"
            raise AnswerInvalid(message) from None
        label = (result.meta or {}).get("ifc")
        if isinstance(label, dict):
            context.on_label(label)
        if result.is_error:
            message = f"{self._source}: {shorten(error_text(result, value), _LONGEST_ERROR)}"
            raise UpstreamError(self._redactor.text(message), body=self._redactor.value(value))
        return self._redactor.value(value)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Raise CallError: paging is up to the arguments of each server's tools."""
        message = f"{tool.id} has no pages: call it without .items or .pages"
        raise CallError(message)

    @property
    def definitions(self) -> Definitions:
        """The tools in the server's last list, empty if there was none."""
        return self._definitions

    @property
    def instructions(self) -> str:
        """The server's instructions for models, empty if there are none."""
        return self._instructions

    async def aclose(self) -> None:
        """Close the connection. A server process started for it ends."""
        for task in (self._probe, self._owner):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._owner = self._probe = None
        await self._authorization.aclose()

    @property
    def needs_login(self) -> bool:
        """Whether the server rejected the last attempt to connect, because of its credentials."""
        return isinstance(self._rejection, CredentialsMissing)

    @property
    def _redactor(self) -> Redactor:
        """What redacts all secrets, with the present access tokens and the last few before them."""
        tokens = self._authorization.secrets
        if tokens != self._tokens:
            self._tokens, self._known = tokens, self._lasting.extended(tokens)
        return self._known

    async def _send(
        self, name: str, arguments: dict[str, Any], context: CallContext, is_sent: asyncio.Event, *, again: bool
    ) -> mcp_types.CallToolResult:
        """Return the result. If the connection was lost and `again` is safe, retry once over a new one."""
        if is_sent.is_set() or not self._settled.is_set():
            await self._settled.wait()
            await context.before_send()
        client = self._client
        if client is None:
            raise self._unreachable()
        is_sent.set()
        try:
            return await self._asking(client, name, arguments, context)
        except MCPError as error:
            if self._is_over(error):
                if self._client is client:
                    self._lose()
                if again or error.code == INVALID_REQUEST:
                    return await self._send(name, arguments, context, is_sent, again=False)
                message = f"{self._source} closed the connection before it answered"
                raise UpstreamTimeout(message) from None
            raise self._failed(error) from None
        except (ValueError, RuntimeError) as error:  # raised by the SDK for an invalid result
            message = f"{self._source} returned an unusable result: {_reason(error)}"
            raise AnswerInvalid(self._redactor.text(message)) from None

    async def _asking(
        self, client: Client, name: str, arguments: dict[str, Any], context: CallContext
    ) -> mcp_types.CallToolResult:
        """Call a tool. Raises InputRequired if the server asks a person and got no answer."""
        progress = self._progress(context.on_progress)
        async with self._exchanges.under_way(context.answers) as exchange:
            try:
                result = await client.call_tool(name, arguments, progress_callback=progress)
            except MCPError as error:
                asks = question_in(error) or exchange.asks
                if asks is None or self._is_over(error):
                    raise
                raise InputRequired(self._source, self._redactor.value(asks)) from None
        if result.is_error and exchange.asks is not None:
            raise InputRequired(self._source, self._redactor.value(exchange.asks))
        return result

    def _is_over(self, error: MCPError) -> bool:
        """Return whether the connection has ended, or the session, so that the request was rejected."""
        is_session = error.code == INVALID_REQUEST and error.message == "Session terminated"
        return error.code == CONNECTION_CLOSED or is_session

    def _suspect(self, patience_s: float) -> None:
        """Check in the background whether the server still answers, after a call got no answer."""
        if self._is_process and self._client is not None and (self._probe is None or self._probe.done()):
            self._probe = asyncio.create_task(self._replace_if_silent(self._client, patience_s))

    async def _replace_if_silent(self, client: Client, patience_s: float) -> None:
        if not await answers(client, patience_s) and self._client is client:
            log.warning("the MCP server of %s does not answer, not even a ping: it is restarted", self._source)
            self._lose()

    def _lose(self) -> None:
        self._client = None
        self._settled.clear()
        self._lost.set()

    def _failed(self, error: MCPError) -> CallError:
        rejection = self._authorization.rejection(error)
        if rejection is not None:
            self._redactor.clean(rejection)
            return rejection
        if error.code == PARSE_ERROR and _UNPARSED in error.message:  # its message is a page long
            if _NO_RESULT in error.message:
                return UpstreamError(f"{self._source}: an unreadable error")
            return AnswerInvalid(f"{self._source}: the answer is unreadable")
        message = self._redactor.text(f"{self._source}: {shorten(error.message, _LONGEST_ERROR)}")
        if error.code == REQUEST_TIMEOUT:
            self._suspect(PATIENCE_S)
            return UpstreamTimeout(message)
        if error.code in (ANSWER_TOO_LARGE, PARSE_ERROR):
            return AnswerInvalid(message)
        return UpstreamError(message)

    def _progress(self, heard: Callable[[str], None]) -> ProgressFnT:
        """Return a callback of the SDK that passes progress messages on, without secrets."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            numbers = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            heard(self._redactor.text(f"{numbers} {message or ''}".strip()[:_PROGRESS_CHARACTERS]))

        return progressed

    def _unreachable(self) -> CallError:
        if self._rejection is not None:
            return self._rejection
        reason = self._failure or f"no call could be sent within {self._timeout_s:g} s"
        message = f"the MCP server of {self._source} is unavailable: {self._redactor.text(reason)}"
        return UpstreamUnreachable(message, source=self._source)

    async def _keep_connected(self) -> None:
        """Keep the server connected. The task that opens a connection must close it."""
        wait_s = FIRST_WAIT_S
        while True:
            self._lost.clear()
            began, connections = time.monotonic(), self._connections
            try:
                await self._connection()
                self._report("closed the connection")
            except Exception as error:  # noqa: BLE001 -- one server's failure must not affect others
                self._rejection = self._authorization.rejection(error)
                rejected = self._rejection and f"cannot be used: {self._rejection}"
                self._report(rejected or f"cannot be reached: {_reason(error)}")
                if self._connections == connections:
                    self._settled.set()
            finally:
                self._client = None
                self._tried.set()
            if time.monotonic() - began > LONGEST_WAIT_S:
                wait_s = FIRST_WAIT_S
            await asyncio.sleep(wait_s)
            self._settled.clear()
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _connection(self) -> None:
        """Open a connection and wait until it is lost."""
        timeout_s = self._timeout_s
        async with (
            Client(
                self._connect(self._lose),
                read_timeout_seconds=timeout_s,
                message_handler=self._heard,
                elicitation_callback=self._exchanges.asked,
                cache=None,
            ) as client,
            _beside(_listen(client, self._changed)),
        ):
            self._changed.clear()
            await self._list(client)
            self._instructions = self._redactor.text(client.instructions or "")
            self._client = client
            self._connections += 1
            self._failure, self._rejection = "", None
            self._settled.set()
            self._tried.set()
            async with _beside(self._relist(client)):
                await self._lost.wait()

    def _report(self, failure: str) -> None:
        if failure != self._failure and self._tried.is_set():  # the first is raised, repeats are not logged
            log.warning("the MCP server of %s %s", self._source, self._redactor.text(failure))
        self._failure = failure

    async def _list(self, client: Client) -> None:
        """Read all pages of the tool list, and report a changed list."""
        tools: list[mcp_types.Tool] = []
        cursors: set[str] = set()
        notes: list[str] = []
        cursor: str | None = None
        while True:
            try:
                page = await client.list_tools(cursor=cursor)
            except MCPError:
                if cursor != "":  # some servers end a list with it
                    raise
                break
            if cursor == "" and {tool.name for tool in page.tools} <= {tool.name for tool in tools}:
                break
            tools += map(with_output_schema, page.tools)
            notes += left_out(page)
            cursor = page.next_cursor
            if cursor is None or len(tools) > MOST_TOOLS:
                break
            if cursor in cursors or len(cursors) == MOST_PAGES:
                log.warning("the MCP server of %s sends an endless tool list: its first pages are used", self._source)
                break
            cursors.add(cursor)
        self.left_out = tuple(notes)
        before, self._definitions = self._definitions, tuple(tools[:MOST_TOOLS])
        if self._tried.is_set() and before != self._definitions:
            self.on_change(self._definitions)

    async def _heard(self, message: object) -> None:
        """Handle a notification of the era with sessions."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._changed.set()

    async def _relist(self, client: Client) -> None:
        """Read the tool list again after each change, in the background: changes may never end."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._list(client)
            except (MCPError, ValueError) as error:
                reason = self._redactor.text(_reason(error))
                log.warning("the MCP server of %s sent no tool list after a change: %s", self._source, reason)
            await asyncio.sleep(RELISTED_EVERY_S)


async def _listen(client: Client, changed: asyncio.Event) -> None:
    """Listen for changes of the tool list, in the era without sessions."""
    with suppress(MCPError, ListenNotSupportedError, SubscriptionLost):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                changed.set()


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run work in the background during the block."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _reason(error: BaseException) -> str:
    """Return the first cause in a group of errors, on one line."""
    if distrust := distrusted(error):
        return distrust
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
