"""Tools of an MCP server: one connection, made anew when it is lost, over which calls go.

The protocol, in both eras, is that of the official SDK; its objects do not leave this module, but for the definitions
that `McpTransport.start` returns.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, PARSE_ERROR, REQUEST_TIMEOUT

from codemode.catalog.tool import Effect
from codemode.errors import AnswerInvalid, CallError, SourceError, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from codemode.text.prose import shorten
from codemode.transports.content import ContentStore
from codemode.transports.http.certificates import distrusted
from codemode.transports.mcp.keepalive import PATIENCE_S, answers
from codemode.transports.mcp.process import ANSWER_TOO_LARGE
from codemode.transports.mcp.results import value_of
from codemode.transports.rate_limit import Pace
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from mcp.shared.dispatcher import ProgressFnT

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext
    from codemode.transports.mcp.connections import Connect

    Definitions = tuple[mcp_types.Tool, ...]

log = logging.getLogger(__name__)


#: Waits between attempts to connect again: the first, and the longest.
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0

#: Between two readings of the list of a server that says again and again that it has changed.
RELISTED_EVERY_S = 1.0

#: Tools that one server may have, and pages of its list: more is a server that never ends it.
MOST_TOOLS, MOST_PAGES = 10_000, 1_000

#: Characters of an error of a server that its message has; its body has all of it.
_LONGEST_ERROR = 2_000

#: What the SDK says of an answer over HTTP that is no message, and of one among these that is an error.
_UNPARSED, _NO_RESULT = " for union[JSONRPC", "JSONRPCResponse.result\n  Field required"

#: Characters of what a server says of its progress.
_SAID_CHARACTERS = 200


class McpTransport:
    """Calls the tools of one server. `connect` gives a new connection each time it is called, and calls what it is
    given when that has ended by itself, where it can know.

    With `is_process` a server that lets a call time out and answers no ping is ended, and a new one connected to.
    `on_change` is given the definitions whenever the server says that they have changed, and after each new connection
    with others than before.
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
    ) -> None:
        self._is_process = is_process
        self._probe: asyncio.Task[None] | None = None
        self._source = source
        self._connect = connect
        self._timeout_s = timeout_s
        self._pace = Pace(concurrency)
        self._contents = contents or ContentStore()
        self._redactor = Redactor(secrets)
        self.on_change = on_change
        self._definitions: Definitions = ()
        self._client: Client | None = None
        self._connections = 0
        self._settled = asyncio.Event()  # connected, or known not to be there
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._changed = asyncio.Event()  # the server has said so, and its list was not read since
        self._failure = ""
        self._owner: asyncio.Task[None] | None = None

    async def start(self) -> Definitions:
        """Connect and list the tools. Raises SourceError where the first attempt fails; others go on until `aclose`."""
        self._owner = asyncio.create_task(self._keep_connected(), name=f"mcp {self._source}")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), self._timeout_s)
        self._tried.set()  # from now on whoever waits for definitions is told
        if self._client is None:
            reason = self._failure or f"gave no list of tools within {self._timeout_s:g} s"
            message = f"the MCP server of {self._source} {self._redactor.text(reason)}"
            raise SourceError(message)
        return self._definitions

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Call a tool; `tool.invocation` is its name at the server.

        Returns the structured result, else the text (as data where it is JSON), else a list of the contents, with
        images and resources as content references. Raises UpstreamError for a result that says it is an error,
        UpstreamTimeout, UpstreamUnreachable.
        """
        by_wire_name = {parameter.name: parameter.wire_name for parameter in tool.parameters}
        sent = {by_wire_name[name]: value for name, value in arguments.items()}
        has_left = asyncio.Event()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._settled.wait()
                async with self._pace:
                    await context.before_send()
                    again = tool.effect is Effect.READ
                    result = await self._sent(str(tool.invocation), sent, context, has_left, again=again)
        except TimeoutError:
            if not has_left.is_set():
                raise self._unreachable() from None
            self._suspect(PATIENCE_S)
            message = f"{self._source} gave no answer within {self._timeout_s:g} s"
            raise UpstreamTimeout(message) from None
        except asyncio.CancelledError:
            if has_left.is_set():  # it has not had its time yet
                self._suspect(self._timeout_s)
            raise
        try:
            value = value_of(result, self._contents.of(context.owner))
        except (ValueError, RecursionError) as error:
            message = f"{self._source} gave a result that cannot be used: {_reason(error)}"
            raise AnswerInvalid(message) from None
        if result.is_error:
            said = value if isinstance(value, str) else json.dumps(value)
            message = f"{self._source}: {shorten(said, _LONGEST_ERROR)}"
            raise UpstreamError(self._redactor.text(message), body=self._redactor.value(value))
        return self._redactor.value(value)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Raises CallError: what pages a server has, its arguments say."""
        message = f"{tool.id} has no pages: call it as it is"
        raise CallError(message)

    @property
    def definitions(self) -> Definitions:
        """The tools as the server listed them last; none where it never did."""
        return self._definitions

    async def aclose(self) -> None:
        """Close the connection; a server that was started for it ends."""
        for task in (self._probe, self._owner):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._owner = self._probe = None

    async def _sent(
        self, name: str, arguments: dict[str, Any], context: CallContext, has_left: asyncio.Event, *, again: bool
    ) -> mcp_types.CallToolResult:
        """The result; over a new connection once more where the old one was lost and `again` does no harm."""
        if has_left.is_set() or not self._settled.is_set():
            await self._settled.wait()
            await context.before_send()
        client = self._client
        if client is None:
            raise self._unreachable()
        has_left.set()
        try:
            return await client.call_tool(name, arguments, progress_callback=self._progress(context.on_progress))
        except MCPError as error:
            if self._is_over(error):
                if self._client is client:
                    self._lose()
                if again or error.code == INVALID_REQUEST:
                    return await self._sent(name, arguments, context, has_left, again=False)
                message = f"{self._source} closed the connection before it answered"
                raise UpstreamTimeout(message) from None
            raise self._failed(error) from None
        except (ValueError, RuntimeError) as error:  # what the SDK raises for a result that is none, or not as declared
            message = f"{self._source} gave a result that cannot be used: {_reason(error)}"
            raise AnswerInvalid(self._redactor.text(message)) from None

    def _is_over(self, error: MCPError) -> bool:
        """Whether the connection has ended; or the session, with which the request was refused."""
        is_session = error.code == INVALID_REQUEST and error.message == "Session terminated"
        return error.code == CONNECTION_CLOSED or is_session

    def _suspect(self, patience_s: float) -> None:
        """A call got no answer: look whether the server does anything at all."""
        if self._is_process and self._client is not None and (self._probe is None or self._probe.done()):
            self._probe = asyncio.create_task(self._replace_if_silent(self._client, patience_s))

    async def _replace_if_silent(self, client: Client, patience_s: float) -> None:
        if not await answers(client, patience_s) and self._client is client:
            log.warning("the MCP server of %s answers nothing, not even a ping: it is started anew", self._source)
            self._lose()

    def _lose(self) -> None:
        self._client = None
        self._settled.clear()
        self._lost.set()

    def _failed(self, error: MCPError) -> CallError:
        if error.code == PARSE_ERROR and _UNPARSED in error.message:  # with a page of reasons
            if _NO_RESULT in error.message:
                return UpstreamError(f"{self._source}: an error that cannot be read")
            return AnswerInvalid(f"{self._source}: the answer cannot be read")
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
            heard(self._redactor.text(f"{numbers} {message or ''}".strip()[:_SAID_CHARACTERS]))

        return progressed

    def _unreachable(self) -> UpstreamUnreachable:
        reason = self._failure or f"no call could be sent within {self._timeout_s:g} s"
        message = f"the MCP server of {self._source} is not there: {self._redactor.text(reason)}"
        return UpstreamUnreachable(message, source=self._source)

    async def _keep_connected(self) -> None:
        """The task that owns the connection: what opens it must be what closes it."""
        wait_s = FIRST_WAIT_S
        while True:
            self._lost.clear()
            began, connections = time.monotonic(), self._connections
            try:
                await self._connection()
                self._report("closed the connection")
            except Exception as error:  # noqa: BLE001 -- whatever a server does, the others are untouched
                self._report(f"cannot be reached: {_reason(error)}")
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
        """One connection, from its begin until it is lost."""
        timeout_s = self._timeout_s
        async with (
            Client(
                self._connect(self._lose), read_timeout_seconds=timeout_s, message_handler=self._heard, cache=None
            ) as client,
            _beside(_listen(client, self._changed)),
        ):
            self._changed.clear()
            await self._list(client)
            self._client = client
            self._connections += 1
            self._failure = ""
            self._settled.set()
            self._tried.set()
            async with _beside(self._relist(client)):
                await self._lost.wait()

    def _report(self, failure: str) -> None:
        if failure != self._failure and self._tried.is_set():  # the first is raised; the same again is not said
            log.warning("the MCP server of %s %s", self._source, self._redactor.text(failure))
        self._failure = failure

    async def _list(self, client: Client) -> None:
        """All pages of the list; a list that is not as before is handed on."""
        found: list[mcp_types.Tool] = []
        cursors: set[str] = set()
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
            if cursor in cursors or len(cursors) == MOST_PAGES:
                log.warning("the MCP server of %s never ends its list: the first pages are used", self._source)
                break
            cursors.add(cursor)
        before, self._definitions = self._definitions, tuple(found[:MOST_TOOLS])
        if self._tried.is_set() and before != self._definitions:
            self.on_change(self._definitions)

    async def _heard(self, message: object) -> None:
        """A notification of the era with sessions."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._changed.set()

    async def _relist(self, client: Client) -> None:
        """Read the list again whenever it has changed, beside the calls: a server may say so without end."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._list(client)
            except (MCPError, ValueError) as error:
                reason = self._redactor.text(_reason(error))
                log.warning("the MCP server of %s gave no list after a change: %s", self._source, reason)
            await asyncio.sleep(RELISTED_EVERY_S)


async def _listen(client: Client, changed: asyncio.Event) -> None:
    """Listen for changes of the list of tools, in the era without sessions."""
    with suppress(MCPError, ListenNotSupportedError, SubscriptionLost):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                changed.set()


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Have it done while the block runs."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _reason(error: BaseException) -> str:
    """The first cause in a group of errors, in one line."""
    if said := distrusted(error):
        return said
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
