"""Run programs: the sandbox executes them, the preflight judges them, the gateway makes their calls."""

from __future__ import annotations

import uuid
from itertools import count
from typing import TYPE_CHECKING, Any

from codemode.errors import CodeModeError, UpstreamError
from codemode.executions.execution import ExecutionOutcome
from codemode.executions.ledger import Ledger
from codemode.executions.paging import collect, whole_list
from codemode.executions.preflight import check
from codemode.gateway.call import ToolCall
from sandbox import CallFailed, Limits, Sandbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.gateway.call import ToolOutcome
    from codemode.gateway.gateway import Gateway
    from codemode.settings import LimitSettings, SandboxSettings
    from sandbox import Call, CallSite

MIB = 1024 * 1024


class Executor:
    """Owns the sandbox, and runs one program after another, or many at a time, against the gateway given."""

    def __init__(self, sandbox: SandboxSettings, limits: LimitSettings) -> None:
        self._sandbox = Sandbox(limits=_limits(limits), workers=sandbox.workers, require=sandbox.require)

    async def start(self) -> None:
        """Start the fork server. Raises `sandbox.SandboxError` where this machine does not give what is required."""
        await self._sandbox.start()

    async def aclose(self) -> None:
        """End every worker and the fork server."""
        await self._sandbox.aclose()

    @property
    def isolation(self) -> Mapping[str, str]:
        """The layers of isolation in force, as a child found them by trying."""
        return self._sandbox.isolation

    async def run(self, code: str, gateway: Gateway) -> ExecutionOutcome:
        """Execute `code` with every tool of the gateway's catalog bound in its namespace.

        Never raises for what the program or a tool did. Raises `sandbox.SandboxError` where no program can run.
        """
        execution = f"ex_{uuid.uuid4().hex}"
        ledger = Ledger()

        async def preflight(sites: tuple[CallSite, ...]) -> None:
            check(sites, gateway.catalog)

        async def made(call: ToolCall, make: Callable[[ToolCall], Awaitable[ToolOutcome]]) -> Any:
            ledger.start(call)
            outcome = await make(call)
            ledger.finish(call, outcome)
            if outcome.error is not None:
                raise _for_program(outcome.error)
            return outcome.value

        async def answer(call: Call) -> Any:
            wish = whole_list(call.tool, gateway.catalog)
            if wish is None:
                return await made(ToolCall(execution, call.path, call.tool, call.arguments), gateway.call)
            numbers = count(1)

            def get_page(arguments: dict[str, Any]) -> Awaitable[Any]:
                page = ToolCall(execution, f"{call.path}/{next(numbers)}", wish.tool.id, arguments)
                return made(page, gateway.call_page)

            try:
                return await collect(wish, call.arguments, get_page)
            except CodeModeError as error:
                raise _for_program(error) from None

        names = tuple(gateway.catalog.namespaces)
        ended = await self._sandbox.run(code, names=names, call=answer, preflight=preflight)
        return ExecutionOutcome(
            id=execution,
            status=ended.status,
            value=ended.value,
            has_value=ended.has_value,
            output=ended.output,
            output_truncated=ended.output_truncated,
            failure=ended.failure,
            calls=ledger.close(),
            usage=ended.usage,
            isolation=ended.isolation,
            limit=ended.limit,
            notes=ended.notes,
        )


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        wall_s=settings.wall_s,
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_mib * MIB,
        source_bytes=settings.source_bytes,
        output_bytes=settings.output_bytes,
        result_bytes=settings.result_bytes,
        calls=settings.calls,
        calls_in_flight=settings.calls_in_flight,
    )


def _for_program(error: CodeModeError) -> CallFailed:
    if isinstance(error, UpstreamError):
        return CallFailed(
            error.for_model(),
            kind=error.code,
            status=error.status,
            body=error.body,
            retry_after_s=error.retry_after_s,
        )
    return CallFailed(error.for_model(), kind=error.code)
