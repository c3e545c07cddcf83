"""Run programs: the sandbox executes them, the preflight judges them, the gateway makes their calls."""

from __future__ import annotations

import uuid
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codemode.errors import CodeModeError
from codemode.executions.execution import ExecutionOutcome
from codemode.executions.ledger import Ledger, unwatched
from codemode.executions.preflight import check
from codemode.executions.run import Run
from codemode.gateway.caller import LOCAL
from sandbox import CallFailed, Limits, Sandbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from codemode.settings import LimitSettings, SandboxSettings
    from sandbox import Call, CallSite

    Question = Callable[..., Awaitable[Any]]

MIB = 1024 * 1024


def new_execution() -> str:
    """An id that no other execution has."""
    return f"ex_{uuid.uuid4().hex}"


def nothing() -> None:
    """What is to be done when a program has begun, where nobody waits for it."""


class Executor:
    """Owns the sandbox, and runs one program after another, or many at a time, against the gateway given."""

    def __init__(self, sandbox: SandboxSettings, limits: LimitSettings) -> None:
        self._sandbox = Sandbox(limits=_limits(limits), workers=sandbox.workers, require=sandbox.require)
        self._calls_in_flight = limits.calls_in_flight

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

    async def run(
        self,
        code: str,
        gateway: Gateway,
        caller: Caller = LOCAL,
        *,
        execution: str = "",
        questions: Mapping[str, Question] = MappingProxyType({}),
        begun: Callable[[], None] = nothing,
        watch: Callable[[LedgerEntry], None] = unwatched,
    ) -> ExecutionOutcome:
        """Execute `code` with every tool of the gateway's catalog bound in its namespace.

        `execution` is its id, a new one where none is given. `questions` are functions that it finds beside the tools,
        by their signature (`search(queries)`), which check their own arguments (pydantic): they are no calls of tools,
        and stand in no ledger.
        `begun` is called when the program is compiled and about to run, if it comes to that; `watch` with each call
        when it is refused, sent, and ended.
        Never raises for what the program or a tool did. Raises `sandbox.SandboxError` where no program can run.
        """
        run = Run(
            execution or new_execution(), gateway, caller, calls_in_flight=self._calls_in_flight, ledger=Ledger(watch)
        )
        asked = {signature.partition("(")[0]: question for signature, question in questions.items()}
        asked = {name: question for name, question in asked.items() if name not in gateway.catalog.namespaces}

        async def answer(call: Call) -> Any:
            question = asked.get(call.tool)
            return await run.answer(call) if question is None else await _answered(question, call)

        async def preflight(sites: tuple[CallSite, ...]) -> None:
            begun()
            check((site for site in sites if site.name not in asked), gateway.catalog)

        signatures = (signature for signature in questions if signature.partition("(")[0] in asked)
        names = (*gateway.catalog.namespaces, *signatures)
        ended = await self._sandbox.run(code, names=names, call=answer, preflight=preflight)
        return ExecutionOutcome(
            id=run.execution,
            status=ended.status,
            value=ended.value,
            has_value=ended.has_value,
            output=ended.output,
            output_truncated=ended.output_truncated,
            failure=ended.failure,
            calls=run.ledger.close(),
            usage=ended.usage,
            isolation=ended.isolation,
            limit=ended.limit,
            notes=(*ended.notes, *run.ledger.notes()),
        )


async def _answered(question: Question, call: Call) -> Any:
    try:
        return await question(**call.arguments)
    except CodeModeError as error:
        raise CallFailed(error.for_model(), kind=error.code) from None
    except ValidationError as error:
        said = (f"{'.'.join(map(str, one['loc'][:1]))}: {one['msg']}" for one in error.errors(include_url=False))
        message = f"{call.tool}(): {'; '.join(dict.fromkeys(said))}"
        raise CallFailed(message, kind="arguments_invalid") from None


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        wall_s=settings.wall_s,
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_mib * MIB,
        source_bytes=settings.source_bytes,
        output_bytes=settings.output_bytes,
        result_bytes=settings.result_bytes,
        calls=settings.calls,
        calls_in_flight=max(settings.calls, 1),  # which of them are sent at one time is decided here, and recorded
    )
