"""Executions that continue after their request has been answered."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, ProgramWaiting, WrongArgument
from codemode.executions.ledger import unwatched
from codemode.executions.plans.plan import may_be_plan
from codemode.executions.programs import Request
from codemode.serving.executions import BEYOND_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.two_tools import ExecuteArguments


@dataclass(frozen=True, slots=True)
class Running:
    """A started execution. `stopped` is done once it has ended or paused."""

    execution: str
    stopped: asyncio.Task[None]


class Background:
    """Starts executions. Each holds a turn of its caller until it stops."""

    def __init__(
        self, service: CodeMode, turn: Callable[[Caller], AbstractAsyncContextManager[Callable[[], None]]]
    ) -> None:
        self._service = service
        self._turn = turn
        self._holding: set[asyncio.Task[None]] = set()

    async def begin(
        self,
        asked: ExecuteArguments,
        caller: Caller,
        credentials: Mapping[str, str],
        watch: Callable[[LedgerEntry], None] = unwatched,
        *,
        conversation: str = "",
    ) -> Running:
        """Start or resume a recorded execution. Raises the errors of `turn`, `Executions.start` and `resume`."""
        if asked.dry_run:
            raise WrongArgument("a dry run is not recorded, and cannot be a task: call execute without a task")
        started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        request = Request(asked.code, credentials, asked.resume_from, conversation=conversation, watch=watch)
        holding = asyncio.create_task(self._hold(request, caller, started))
        self._holding.add(holding)
        holding.add_done_callback(self._holding.discard)
        try:
            return Running(await started, holding)
        except asyncio.CancelledError:
            holding.cancel()
            raise

    async def _hold(self, request: Request, caller: Caller, started: asyncio.Future[str]) -> None:
        executions = self._service.executions
        try:
            async with self._turn(caller) as begun:
                if request.code or may_be_plan(request.resume_from):
                    try:
                        execution = await executions.start(replace(request, begun=begun), caller)
                    except ProgramWaiting as twin:
                        execution = twin.execution
                        begun()
                else:
                    execution = request.resume_from
                    await executions.resume(execution, caller, request.credentials)
                    begun()
                started.set_result(execution)
                with suppress(CodeModeError):  # the caller of the request learns it from the execution
                    await executions.wait(execution, caller, self._service.settings.limits.wall_s + BEYOND_S)
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)
