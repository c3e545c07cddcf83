"""The MCP server: two tools, `search` and `execute`, over stdio or streamable HTTP.

The official SDK implements both eras of the protocol: up to 2025-11-25 with sessions, 2026-07-28 without.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import INTERNAL_ERROR
from pydantic import ValidationError

from codemode.errors import CodeModeError
from codemode.executions.executor import nothing
from codemode.gateway.call import CallState
from codemode.gateway.caller import LOCAL, Caller
from codemode.search.request import SearchRequest
from codemode.serving.executions import run_or_continue
from codemode.serving.mcp.greeting import INSTRUCTIONS, MENU_INSTRUCTIONS
from codemode.serving.mcp.known_definitions import KnownDefinitions
from codemode.serving.mcp.menu import ChangingServer, McpMenus
from codemode.serving.mcp.tasks import McpTasks, TaskServer
from codemode.serving.mcp.unrepeated import Unrepeated
from codemode.serving.model_text import shown_to_model
from codemode.serving.two_tools import ExecuteArguments, problem_of
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.server import ServerRequestContext

    from codemode.executions.ledger import LedgerEntry
    from codemode.service import CodeMode
    from codemode.serving.mcp.greeting import Input

    Context = ServerRequestContext[Any]

#: Maximum number of sessions whose first tool list and introductions are kept.
_SESSIONS = 10_000

#: Seconds between two progress notifications while a program runs.
PROGRESS_S = 1.0

#: Key of a result's `_meta` with the continuation of a paused execution. Clients do not show it to their model.
CONTINUATION = "codemode/continuation"

#: Marks search as read-only, so that clients need not ask the user first.
_READS = mcp_types.ToolAnnotations(read_only_hint=True)

#: Marks execute as a tool that may run as a task.
_TASKS = mcp_types.ToolExecution(task_support="optional")


class Busy(Exception):
    """The server is overloaded. The message says when to try again."""


@asynccontextmanager
async def _no_queue(_: Caller) -> AsyncIterator[Callable[[], None]]:
    """A process with one client needs no queue."""
    yield nothing


class McpFace:
    """An MCP server around a service. Until `opened` is done, the service is starting and requests wait.

    `caller_of` returns who sent a request, and `credentials_of` the credentials it carries for upstream services.
    `turn` queues work. It yields a function to call once a program has started, or raises Busy.
    """

    def __init__(
        self,
        service: CodeMode,
        *,
        opened: asyncio.Future[None] | None = None,
        caller_of: Callable[[Context], Caller] = lambda _: LOCAL,
        credentials_of: Callable[[Context], Mapping[str, str]] = lambda _: {},
        turn: Callable[[Caller], AbstractAsyncContextManager[Callable[[], None]]] = _no_queue,
    ) -> None:
        self._service = service
        self._opened = opened
        self._caller_of = caller_of
        self._credentials_of = credentials_of
        self._turn = turn
        self._given: OrderedDict[tuple[str, str], list[mcp_types.Tool]] = OrderedDict()
        self._told: OrderedDict[tuple[str, str], set[str]] = OrderedDict()
        self._menus = McpMenus(service) if service.settings.server.mcp == "menu" else None
        self.server = self._server()

    async def serve_stdio(self, input_: Input) -> None:
        """Serve one client on standard input and output until they are closed."""
        async with stdio_server() as (read, write):
            await self.server.run(read, Unrepeated(write, input_), self.server.create_initialization_options())

    def _server(self) -> Server[Any]:
        handlers: dict[str, Any] = {"on_list_tools": self._list, "on_call_tool": self._call}
        if self._menus is None:
            if not self._service.settings.keeps_journal:
                return Server("codemode", version=version("codemode"), instructions=INSTRUCTIONS, **handlers)
            server = TaskServer("codemode", version=version("codemode"), instructions=INSTRUCTIONS, **handlers)
            tasks = McpTasks(self._service, self._caller_of, self._credentials_of, self._wait_until_opened)
            tasks.serve(server)
            return server
        handlers["on_subscriptions_listen"] = self._menus.listen
        return ChangingServer("codemode", version=version("codemode"), instructions=MENU_INSTRUCTIONS, **handlers)

    async def _list(
        self, context: Context, _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        """Return the two definitions, byte-identical within a session, or the current menu."""
        caller = self._caller_of(context)
        session = _session(context)
        known = self._known(caller)
        if known is not None and session is not None:
            tools = self._given.setdefault((session, caller.role), self._described(known))
            return mcp_types.ListToolsResult(tools=tools)
        try:
            await self._wait_until_opened()
        except (CodeModeError, SandboxError) as error:
            raise MCPError(INTERNAL_ERROR, _message_of(error)) from None
        if self._menus is not None:
            return mcp_types.ListToolsResult(tools=await self._menus.tools(session, caller))
        if session is None:
            return mcp_types.ListToolsResult(tools=await self._definitions(caller))
        if (session, caller.role) not in self._given:
            self._given[session, caller.role] = await self._definitions(caller)
        self._given.move_to_end((session, caller.role))
        if len(self._given) > _SESSIONS:
            self._given.popitem(last=False)
        return mcp_types.ListToolsResult(tools=self._given[session, caller.role])

    def _known(self, caller: Caller) -> list[dict[str, Any]] | None:
        """Return the cached definitions while the service is starting, or None."""
        if self._opened is None or self._opened.done() or self._menus is not None or self._service.strict:
            return None
        return KnownDefinitions(self._service.settings).read(caller.role)

    async def _definitions(self, caller: Caller) -> list[mcp_types.Tool]:
        return self._described(await self._service.definitions(caller))

    def _described(self, definitions: list[dict[str, Any]]) -> list[mcp_types.Tool]:
        functions = [definition["function"] for definition in definitions]
        return [
            mcp_types.Tool(
                name=one["name"],
                description=one["description"],
                input_schema=one["parameters"],
                annotations=_READS if one["name"] == "search" else None,
                execution=_TASKS if one["name"] == "execute" and self._service.settings.keeps_journal else None,
            )
            for one in functions
        ]

    async def _call(self, context: Context, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        """Answer a tool call. Errors go into the result, where the model reads them."""
        caller = self._caller_of(context)
        arguments = params.arguments or {}
        try:
            await self._wait_until_opened()
            if self._menus is not None:
                return await self._native(self._menus, context, params, caller)
            match params.name:
                case "search":
                    return await self._search(SearchRequest.model_validate(arguments), caller, _session(context))
                case "execute":
                    return await self._execute(ExecuteArguments.model_validate(arguments), caller, context)
            program = await self._service.program_of(params.name, arguments, caller)
            if program is not None:
                return await self._execute(ExecuteArguments(code=program), caller, context)
        except ValidationError as error:
            return _error(f"{params.name}: {problem_of(error)}")
        except (CodeModeError, SandboxError) as error:
            return _error(_message_of(error))
        except Busy as busy:
            return _error(str(busy))
        return _error(f"there is no tool {params.name!r} here: search finds tools, execute calls them in a program")

    async def _native(
        self, menus: McpMenus, context: Context, params: mcp_types.CallToolRequestParams, caller: Caller
    ) -> mcp_types.CallToolResult:
        """Call a tool of the caller's view, or answer a meta-tool."""
        session = _session(context)
        answer = await menus.answered(context, session, caller, params)
        if answer is not None:
            return mcp_types.CallToolResult(content=[_text(answer)])
        program = await menus.program(session, caller, params.name, params.arguments or {})
        if program is not None:
            return await self._execute(ExecuteArguments(code=program), caller, context)
        return _error(f"there is no tool {params.name!r}: request_tool loads a tool by what it should do")

    async def _wait_until_opened(self) -> None:
        if self._opened is not None:
            await asyncio.shield(self._opened)

    async def _search(self, request: SearchRequest, caller: Caller, session: str | None) -> mcp_types.CallToolResult:
        """Answer a search. A session is told the introduction of each namespace once, other clients in each answer."""
        async with self._turn(caller):
            answer = await self._service.search(**request.model_dump(), caller=caller)
        return mcp_types.CallToolResult(content=[_text(answer.introduced(self._told_in(session, caller)))])

    def _told_in(self, session: str | None, caller: Caller) -> set[str]:
        """Return the namespaces that a session was told about."""
        if session is None:
            return set()
        told = self._told.setdefault((session, caller.id), set())
        self._told.move_to_end((session, caller.id))
        if len(self._told) > _SESSIONS:
            self._told.popitem(last=False)
        return told

    async def _execute(self, asked: ExecuteArguments, caller: Caller, context: Context) -> mcp_types.CallToolResult:
        async with self._turn(caller) as begun, _progress(context, self._service.settings.limits.wall_s) as watch:
            ended = await run_or_continue(
                self._service, asked, caller, credentials=self._credentials_of(context), begun=begun, watch=watch
            )
        can_resume = self._service.settings.keeps_journal
        text, data = shown_to_model(ended, self._service.hooks, can_resume=can_resume)
        meta = {CONTINUATION: ended.continuation} if ended.continuation else None
        return mcp_types.CallToolResult(
            content=[_text(text)], structured_content=data, is_error=not ended.ok, _meta=meta
        )


@asynccontextmanager
async def _progress(context: Context, total_s: float) -> AsyncIterator[Callable[[LedgerEntry], None]]:
    """Report progress while the block runs, as seconds elapsed of the program's time limit."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    ended = 0
    latest = ""

    def watch(entry: LedgerEntry) -> None:
        nonlocal ended, latest
        ended += entry.duration_s > 0
        latest = f"{entry.tool} {_stage(entry)}"

    async def report() -> None:
        while True:
            await asyncio.sleep(PROGRESS_S)
            message = f"{ended} call{'' if ended == 1 else 's'} ended; {latest}" if latest else "running"
            await context.session.report_progress(min(loop.time() - began, total_s), total_s, message)

    reporting = asyncio.create_task(report())
    try:
        yield watch
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)


def _stage(entry: LedgerEntry) -> str:
    return str(entry.state) if entry.state is not CallState.UNKNOWN else entry.progress or "is running"


def _session(context: Context) -> str | None:
    """Return the session id: the HTTP header (None in the session-less era), or "stdio"."""
    if context.request is None:
        return "stdio"
    identifier: str | None = context.request.headers.get("mcp-session-id")
    return identifier


def _text(text: str) -> mcp_types.TextContent:
    return mcp_types.TextContent(type="text", text=text)


def _message_of(error: CodeModeError | SandboxError) -> str:
    if isinstance(error, CodeModeError):
        return error.for_model()
    return "this server cannot run programs at present; its operator can diagnose this with `codemode doctor`"


def _error(message: str) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(content=[_text(message)], is_error=True)
