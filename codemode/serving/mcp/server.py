"""The MCP server: two tools, `search` and `execute`, over stdio or streamable HTTP.

The official SDK implements both eras of the protocol: up to 2025-11-25 with sessions, 2026-07-28 without.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from codemode.catalog.definitions import native
from codemode.errors import CodeModeError, JournalUnavailable
from codemode.executions.executor import nothing
from codemode.gateway.caller import LOCAL, Caller
from codemode.search.request import SearchRequest
from codemode.serving.executions import run_or_continue
from codemode.serving.mcp.background import Background
from codemode.serving.mcp.call_log import CallLog
from codemode.serving.mcp.conversations import McpConversations
from codemode.serving.mcp.elicitation import ask_now
from codemode.serving.mcp.greeting import instructions
from codemode.serving.mcp.in_client import InClient, Round, requests_of, round_of
from codemode.serving.mcp.known_definitions import KnownDefinitions
from codemode.serving.mcp.menu import ChangingServer, ChangingTaskServer, McpMenus, mcp_tool
from codemode.serving.mcp.modes import mode_of_request
from codemode.serving.mcp.progress import progress
from codemode.serving.mcp.request_state import boundary
from codemode.serving.mcp.results import outcome_of, result_of
from codemode.serving.mcp.session_tasks import SessionTasks
from codemode.serving.mcp.task_server import TaskServer
from codemode.serving.mcp.tasks import McpTasks, declares_tasks
from codemode.serving.mcp.unrepeated import Unrepeated
from codemode.serving.modes import ModeRejected, native_tools
from codemode.serving.two_tools import ExecuteArguments, answer_search, problem_of
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.server import ServerRequestContext

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.service import CodeMode
    from codemode.serving.mcp.greeting import Input
    from codemode.settings import ModeName

    Context = ServerRequestContext[Any]
    Answer = mcp_types.CallToolResult | mcp_types.InputRequiredResult | dict[str, Any]

#: Maximum number of sessions whose first tool list and introductions are kept.
_SESSIONS = 10_000

#: Marks search as read-only, so that clients need not ask the user first.
_READS = mcp_types.ToolAnnotations(read_only_hint=True)

#: Marks execute as a tool that may run as a task, in sessions.
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
        self._menus = McpMenus(service)
        only_menus = service.settings.server.mcp == "menu" and not service.settings.has_mixed_modes
        self._has_tasks = service.settings.keeps_journal and not only_menus
        self._conversations = McpConversations()
        self._log = CallLog()
        self._background = Background(service, turn)
        self._in_client = InClient(service)
        self._tasks = McpTasks(service, caller_of, credentials_of, self._in_client)
        self.server = self._server()

    async def serve_stdio(self, input_: Input) -> None:
        """Serve one client on standard input and output until they are closed."""
        async with stdio_server() as (read, write):
            await self.server.run(read, Unrepeated(write, input_), self.server.create_initialization_options())

    def _server(self) -> Server[Any]:
        """Return the server. With a journal it has tasks, unless all clients get menus, and seals request states."""
        settings = self._service.settings
        is_menu, is_mixed = settings.server.mcp == "menu", settings.has_mixed_modes
        options: dict[str, Any] = {"on_list_tools": self._list, "on_call_tool": self._call}
        options |= {"version": version("codemode"), "instructions": instructions(is_menu=is_menu, is_mixed=is_mixed)}
        if is_menu or is_mixed:
            options["on_subscriptions_listen"] = self._menus.listen
        server: Server[Any]
        if not self._has_tasks:
            server = (ChangingServer if is_menu or is_mixed else Server)("codemode", **options)
        else:
            server = self._with_tasks((ChangingTaskServer if is_mixed else TaskServer)("codemode", **options))
        server.add_request_handler("logging/setLevel", mcp_types.SetLevelRequestParams, self._log.set_level)
        if settings.keeps_journal:
            server.middleware.append(boundary(self._service, self._caller_of))
        return server

    def _with_tasks(self, server: TaskServer) -> TaskServer:
        in_session = SessionTasks(
            self._service,
            self._caller_of,
            self._credentials_of,
            self._wait_until_opened,
            self._background,
            self._conversations,
        )
        server.route_tasks(self._tasks, in_session)
        return server

    async def _list(
        self, context: Context, _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        """Return the tools of the request's mode. The two definitions are byte-identical within a session."""
        caller = self._caller_of(context)
        session = _session(context)
        try:
            mode = mode_of_request(context, caller, self._service.settings)
            known = self._known(caller) if mode == "code" else None
            if known is not None and session is not None:
                tools = self._given.setdefault((session, caller.role), self._described(known))
                return mcp_types.ListToolsResult(tools=tools)
            await self._wait_until_opened()
            return mcp_types.ListToolsResult(tools=await self._tools(mode, session, caller))
        except ModeRejected as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except (CodeModeError, SandboxError) as error:
            raise MCPError(INTERNAL_ERROR, _message_of(error)) from None

    async def _tools(self, mode: ModeName, session: str | None, caller: Caller) -> list[mcp_types.Tool]:
        """Return the tools of a mode."""
        if mode == "off":
            return []
        if mode == "native":
            catalog = (await self._service.view(caller)).catalog
            listed = native_tools(catalog, self._service.settings.native_tools)
            return [mcp_tool(native(tool)["function"], tool.effect) for tool in listed]
        code = await self._code(session, caller) if mode != "menu" else []
        if mode == "code":
            return code
        names = {tool.name for tool in code}
        return [*code, *(tool for tool in await self._menus.tools(session, caller) if tool.name not in names)]

    async def _code(self, session: str | None, caller: Caller) -> list[mcp_types.Tool]:
        """Return search, execute and the pins."""
        if session is None:
            return await self._definitions(caller)
        if (session, caller.role) not in self._given:
            self._given[session, caller.role] = await self._definitions(caller)
        self._given.move_to_end((session, caller.role))
        if len(self._given) > _SESSIONS:
            self._given.popitem(last=False)
        return self._given[session, caller.role]

    def _known(self, caller: Caller) -> list[dict[str, Any]] | None:
        """Return the cached definitions while the service is starting, or None."""
        if self._opened is None or self._opened.done() or self._service.strict:
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

    async def _call(self, context: Context, params: mcp_types.CallToolRequestParams) -> Answer:
        """Answer a tool call. Errors go into the result, where the model reads them."""
        caller = self._caller_of(context)
        try:
            mode = mode_of_request(context, caller, self._service.settings)
            await self._wait_until_opened()
            if params.request_state is not None and self._service.settings.keeps_journal:
                return await self._continued(params, params.request_state, caller, context)
            if mode == "off":
                return _error("no tools are offered to this client: the mode is off")
            if mode in ("menu", "native"):
                return await self._native(mode, context, params, caller)
            return await self._code_call(mode, context, params, caller)
        except ValidationError as error:
            return _error(f"{params.name}: {problem_of(error)}")
        except (CodeModeError, SandboxError) as error:
            return _error(_message_of(error))
        except Busy as busy:
            return _error(str(busy))

    async def _code_call(
        self, mode: ModeName, context: Context, params: mcp_types.CallToolRequestParams, caller: Caller
    ) -> Answer:
        """Answer a call of search, execute or a pin, and in the mode `hybrid` one of a menu's tools."""
        arguments = params.arguments or {}
        match params.name:
            case "search":
                return await self._search(SearchRequest.model_validate(arguments), caller, _session(context))
            case "execute":
                return await self._execute(ExecuteArguments.model_validate(arguments), caller, context)
        program = await self._service.program_of(params.name, arguments, caller)
        if program is not None:
            return await self._execute(ExecuteArguments(code=program), caller, context)
        if mode == "hybrid":
            return await self._native(mode, context, params, caller)
        return _error(f"there is no tool {params.name!r} here: search finds tools, execute calls them in a program")

    async def _native(
        self, mode: ModeName, context: Context, params: mcp_types.CallToolRequestParams, caller: Caller
    ) -> Answer:
        """Call a tool of the caller's view, or answer a meta-tool."""
        session = _session(context)
        answer = await self._menus.answered(context, session, caller, params) if mode != "native" else None
        if answer is not None:
            return mcp_types.CallToolResult(content=[_text(answer)])
        program = await self._menus.program(session, caller, params.name, params.arguments or {})
        if program is not None:
            return await self._execute(ExecuteArguments(code=program), caller, context)
        advice = "request_tool loads a tool by what it should do" if mode != "native" else "every tool is listed"
        return _error(f"there is no tool {params.name!r}: {advice}")

    async def _wait_until_opened(self) -> None:
        if self._opened is not None:
            await asyncio.shield(self._opened)

    async def _search(self, request: SearchRequest, caller: Caller, session: str | None) -> mcp_types.CallToolResult:
        """Answer a search. A session is told the introduction of each namespace once, other clients in each answer."""
        async with self._turn(caller):
            answer = await answer_search(self._service, request, caller)
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

    async def _execute(self, asked: ExecuteArguments, caller: Caller, context: Context) -> Answer:
        """Run or continue an execution. Return its result, a task, or what the person at the client must answer."""
        if self._has_tasks and asked.code and not asked.dry_run and declares_tasks(context):
            with suppress(JournalUnavailable):  # it runs unrecorded then
                return await self._execute_as_task(asked, caller, context)
        return await self._answered(await self._run(asked, caller, context), caller, context)

    async def _execute_as_task(self, asked: ExecuteArguments, caller: Caller, context: Context) -> Answer:
        async with self._watched(context) as watch:
            running = await self._background.begin(
                asked, caller, self._credentials_of(context), watch, conversation=self._conversations.of(context)
            )
            stored = await self._tasks.finished(running, caller)
        if stored is None:
            return await self._tasks.created(running.execution, caller)
        answer = await self._answered(outcome_of(stored), caller, context)
        is_waiting = stored.status == "paused" and isinstance(answer, mcp_types.CallToolResult)
        return await self._tasks.created(running.execution, caller) if is_waiting else answer

    async def _run(self, asked: ExecuteArguments, caller: Caller, context: Context) -> ExecutionOutcome:
        async with self._turn(caller) as begun, self._watched(context) as watch:
            return await run_or_continue(
                self._service,
                asked,
                caller,
                credentials=self._credentials_of(context),
                conversation=self._conversations.of(context),
                begun=begun,
                watch=watch,
            )

    @asynccontextmanager
    async def _watched(self, context: Context) -> AsyncIterator[Callable[[LedgerEntry], None]]:
        """Report progress and log messages of a program while the block runs, as far as the client asks for them."""
        wall_s = self._service.settings.limits.wall_s
        async with progress(context, wall_s) as report, self._log.messages(context) as log:

            def watch(entry: LedgerEntry) -> None:
                report(entry)
                log(entry)

            yield watch

    async def _continued(
        self, params: mcp_types.CallToolRequestParams, state: str, caller: Caller, context: Context
    ) -> Answer:
        """Record the answers of the person at the client, and continue the execution."""
        asked = Round.of(state)
        left = await self._in_client.answer(asked, params.input_responses or {}, caller)
        ended = await self._run(ExecuteArguments(resume_from=asked.execution), caller, context)
        return await self._answered(ended, caller, context, left)

    async def _answered(
        self, ended: ExecutionOutcome, caller: Caller, context: Context, left: frozenset[str] = frozenset()
    ) -> Answer:
        """Return the result of an outcome. If the person at the client may decide on pending calls, ask there first.

        Clients in sessions are asked at once, and the execution continues. Others get the questions as the answer.
        """
        session = context.session
        while ended.status == "paused" and ended.pending:
            calls = await self._in_client.waiting(ended.id, caller, session.client_capabilities, left)
            asked = round_of(ended.id, calls, left)
            if calls and context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return mcp_types.InputRequiredResult(input_requests=requests_of(calls), request_state=asked.state())
            if not calls or not session.can_send_request:
                break
            answers = await ask_now(context, calls, self._service.settings.approvals.wait_s)
            left = await self._in_client.answer(asked, answers, caller)
            ended = await self._run(ExecuteArguments(resume_from=ended.id), caller, context)
        return await result_of(self._service, ended, caller)


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
