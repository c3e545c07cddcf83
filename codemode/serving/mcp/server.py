"""The MCP server: two tools, `search` and `execute`, over stdio or streamable HTTP.

The official SDK implements both eras of the protocol: up to 2025-11-25 with sessions, 2026-07-28 without.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.errors import CodeModeError
from codemode.gateway.caller import LOCAL, Caller
from codemode.model.background import Background, no_queue
from codemode.model.modes import ModeRejected, depends_on_tools
from codemode.model.tools import CallOptions, ModelTools, error_text
from codemode.serving.mcp.call_log import CallLog
from codemode.serving.mcp.changing import ChangingServer, ChangingTaskServer, ToolChanges
from codemode.serving.mcp.conversations import McpConversations, mode_of_request
from codemode.serving.mcp.greeting import instructions
from codemode.serving.mcp.in_client import InClient, Round, requests_of, round_of
from codemode.serving.mcp.known_definitions import KnownDefinitions
from codemode.serving.mcp.progress import progress
from codemode.serving.mcp.questions import ask_now
from codemode.serving.mcp.request_state import boundary
from codemode.serving.mcp.results import error_result, result_of
from codemode.serving.mcp.tasks import McpTasks, TaskServer, declares_tasks
from codemode.serving.mcp.unrepeated import Unrepeated
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from mcp.server import ServerRequestContext

    from codemode.executions.types.ledger import LedgerEntry
    from codemode.model.answer import Answer
    from codemode.model.background import Turn
    from codemode.service import CodeMode
    from codemode.serving.mcp.greeting import Input

    Context = ServerRequestContext[Any]
    Reply = mcp_types.CallToolResult | mcp_types.InputRequiredResult | dict[str, Any]


class Busy(Exception):
    """The server is overloaded. The message says when to try again."""


class McpServer:
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
        turn: Turn = no_queue,
    ) -> None:
        self._service = service
        self._opened = opened
        self._caller_of = caller_of
        self._credentials_of = credentials_of
        only_menus = service.settings.server.mcp == "menu" and not service.settings.has_mixed_modes
        self._has_tasks = service.settings.keeps_journal and not only_menus
        self._conversations = McpConversations(service, caller_of, Background(service.programs, turn))
        self._changes = ToolChanges()
        self._log = CallLog()
        self._in_client = InClient(service)
        self._tasks = McpTasks(service, self._conversations, credentials_of, self._in_client)
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
            options["on_subscriptions_listen"] = self._changes.listen
        server: Server[Any]
        if not self._has_tasks:
            server = (ChangingServer if is_menu or is_mixed else Server)("codemode", **options)
        else:
            server = task_server = (ChangingTaskServer if is_mixed else TaskServer)("codemode", **options)
            task_server.route_tasks(self._tasks)
        server.add_request_handler("logging/setLevel", mcp_types.SetLevelRequestParams, self._log.set_level)
        if settings.keeps_journal:
            server.middleware.append(boundary(self._service, self._caller_of))
        return server

    # --- tools/list -------------------------------------------------------------------------------------------

    async def _list(
        self, context: Context, _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        """Return the tools of the request's mode. In the mode `code` they are byte-identical within a session."""
        caller = self._caller_of(context)
        try:
            if depends_on_tools(self._service.settings.modes):
                await self._wait_until_opened()
            mode = mode_of_request(context, caller, self._service.settings, self._service.visible)
            kept = self._conversations.remembered(context, caller, mode) if mode == "code" else None
            tools = kept.listed if kept is not None else None
            if tools is None:
                known = self._known(caller) if mode == "code" else None
                if known is None:
                    await self._wait_until_opened()
                    known = await self._conversations.tools(context).definitions("mcp")
                tools = [mcp_types.Tool.model_validate(one) for one in known]
            if kept is not None:
                kept.listed = tools
            return mcp_types.ListToolsResult(tools=tools)
        except ModeRejected as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except (CodeModeError, SandboxError) as error:
            raise MCPError(INTERNAL_ERROR, error_text(error)) from None

    def _known(self, caller: Caller) -> list[dict[str, Any]] | None:
        """Return the cached definitions while the service is starting, or None."""
        if self._opened is None or self._opened.done() or self._service.strict:
            return None
        return KnownDefinitions(self._service.settings).read(caller.role)

    async def _wait_until_opened(self) -> None:
        if self._opened is not None:
            await asyncio.shield(self._opened)

    # --- tools/call -------------------------------------------------------------------------------------------

    async def _call(self, context: Context, params: mcp_types.CallToolRequestParams) -> Reply:
        """Answer a tool call. Errors go into the result, where the model reads them."""
        try:
            await self._wait_until_opened()
            tools = self._conversations.tools(context)
            if params.request_state is not None and self._service.settings.keeps_journal:
                return await self._continued(tools, params, params.request_state, context)
            if self._has_tasks and declares_tasks(context):
                reply = await self._as_task(tools, params, context)
                if reply is not None:
                    return reply
            async with self._options(context) as options:
                answer = await tools.call(params.name, params.arguments or {}, options=options)
            if answer.loaded or answer.changes_offer:
                await self._changes.tell(context)
            return await self._asked(tools, answer, context)
        except (CodeModeError, SandboxError) as error:
            return error_result(error_text(error))
        except Busy as busy:
            return error_result(str(busy))

    async def _as_task(
        self, tools: ModelTools, params: mcp_types.CallToolRequestParams, context: Context
    ) -> Reply | None:
        """Answer a call that may become a task. Return None for other calls."""
        async with self._options(context) as options:
            running = await tools.begin(params.name, params.arguments or {}, options=options)
            if running is None:
                return None
            ended = await self._tasks.finished(running, tools.caller)
        if ended is None:
            return await self._tasks.created(running.execution, tools.caller)
        reply = await self._asked(tools, await tools.shown(ended), context)
        is_waiting = ended.status == "paused" and isinstance(reply, mcp_types.CallToolResult)
        return await self._tasks.created(running.execution, tools.caller) if is_waiting else reply

    @asynccontextmanager
    async def _options(self, context: Context) -> AsyncIterator[CallOptions]:
        """Report progress and log messages of a program while the block runs, as far as the client asks for them."""
        settings = self._service.settings
        async with progress(context, settings.limits.wall_s) as report, self._log.messages(context) as log:

            def watch(entry: LedgerEntry) -> None:
                report(entry)
                log(entry)

            yield CallOptions(self._credentials_of(context), within_s=settings.server.answer_within_s, watch=watch)

    async def _continued(
        self, tools: ModelTools, params: mcp_types.CallToolRequestParams, state: str, context: Context
    ) -> Reply:
        """Record the answers of the person at the client, and continue the execution."""
        asked = Round.of(state)
        left = await self._in_client.answer(asked, params.input_responses or {}, tools.caller)
        async with self._options(context) as options:
            answer = await tools.resume(asked.execution, options=options)
        return await self._asked(tools, answer, context, left)

    async def _asked(
        self, tools: ModelTools, answer: Answer, context: Context, left: frozenset[str] = frozenset()
    ) -> Reply:
        """Return the result of an answer. If the person at the client may decide on pending calls, ask there first.

        Clients in sessions are asked at once, and the execution continues. Others get the questions as the answer.
        """
        session = context.session
        while answer.status == "paused" and answer.waiting:
            execution = answer.execution
            calls = await self._in_client.waiting(execution, tools.caller, session.client_capabilities, left)
            asked = round_of(execution, calls, left)
            if calls and context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return mcp_types.InputRequiredResult(input_requests=requests_of(calls), request_state=asked.state())
            if not calls or not session.can_send_request:
                break
            answers = await ask_now(context, calls, self._service.settings.approvals.wait_s)
            left = await self._in_client.answer(asked, answers, tools.caller)
            async with self._options(context) as options:
                answer = await tools.resume(execution, options=options)
        return result_of(answer)
