"""The calls of one running program: judge, record and send them, and stop the program if one needs a person."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from codemode.catalog.saved import program_of
from codemode.errors import ArgumentsInvalid, CodeModeError, UpstreamError
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.plugins.plugin import Approved
from codemode.executions.run.paging import PartialLists, collect, whole_list
from codemode.executions.saved.inner_run import InnerRun
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.policy import Tally
from codemode.transports.base import CallContext
from codemode.transports.http.idempotency import key_of
from sandbox import CallFailed, Failure, ProgramStopped, room

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.saved import SavedProgram
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.paging import WholeList
    from codemode.executions.saved.inner_run import SavedCalls, Stop
    from codemode.executions.types.ledger import Ledger, LedgerEntry
    from codemode.executions.types.planned import PlannedCall
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from sandbox import Call

    Send = Callable[[JudgedCall, CallContext], Awaitable[ToolOutcome]]

#: Pending calls that the failure names individually.
_NAMED = 5


class CallSession:
    """Answers the calls of one program, and records them in `ledger`.

    `partial_lists` are the lists of which it read some pages. `waits` is the failure that stopped the program because
    a person must decide. Compare it by identity, because a program can raise a failure that looks the same. `plan` is
    the id of the plan that the program runs under.
    """

    plan = ""

    def __init__(
        self,
        execution: str,
        gateway: Gateway,
        caller: Caller,
        *,
        calls_in_flight: int,
        ledger: Ledger,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self.execution = execution
        self.ledger = ledger
        self.waits: Failure | None = None
        self.partial_lists = PartialLists()
        self._gateway = gateway
        self.caller = caller
        self._hooks = hooks
        self._tally = Tally()
        self._slots = asyncio.Semaphore(calls_in_flight)
        self._under_way = 0
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._asking = 0
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._is_over = False
        self._started: set[str] = set()
        self._differing: set[str] = set()  # tools whose answers differ from their schemas
        #: Runs the saved programs that this program calls.
        self.saved: SavedCalls | None = None

    @property
    def catalog(self) -> Catalog:
        """Return the catalog that the program can call."""
        return self._gateway.catalog

    @property
    def planned(self) -> tuple[PlannedCall, ...]:
        """Return the calls that a dry run listed."""
        return ()

    async def answer(self, call: Call, within: SavedProgram | None = None) -> Any:
        """Return the value of a call of the program, or of the saved program `within` that it runs.

        Raises CallFailed for the program to handle, and ProgramStopped to end the program.
        """
        try:
            with self._busy():
                arguments = await self._gateway.restored(call.arguments, self.caller)
            list_request = whole_list(call.tool, self._gateway.catalog)
            if list_request is not None:
                return await self._list(call._replace(arguments=arguments), list_request, within)
            value = await self._make(self._call(call.path, call.tool, arguments, within), self._gateway.send)
        except CodeModeError as error:
            raise for_program(error) from None
        self._note_total(call, value)
        return value

    async def _list(self, call: Call, wanted: WholeList, within: SavedProgram | None) -> Any:
        numbers = count(1)

        def get_page(arguments: dict[str, Any]) -> Awaitable[Any]:
            page = self._call(f"{call.path}/{next(numbers)}", wanted.tool.id, arguments, within)
            return self._make(page, self._gateway.send_page)

        return await collect(wanted, call.arguments, get_page, self.ledger.note)

    def _note_total(self, call: Call, value: Any) -> None:
        if isinstance(value, dict) and any(isinstance(item, list) for item in value.values()):
            self.partial_lists.add(self.catalog.get(call.tool), call.arguments, value)

    def _call(self, path: str, tool: str, arguments: dict[str, Any], within: SavedProgram | None) -> ToolCall:
        return ToolCall(self.execution, path, tool, arguments, self.caller, self._tally, within)

    async def _make(self, call: ToolCall, send: Send) -> Any:
        judged = self._taken(self._gateway.judge(call))
        if judged.state is CallState.PENDING:
            judged = await self._approved(judged)
        return await self._send_in_turn(judged, send)

    async def _approved(self, judged: JudgedCall) -> JudgedCall:
        """Return a pending call as a plugin approved it. Stop the program if no plugin answers."""
        answered = await self._hooks.approval(judged)
        if answered is None:
            await self._ask(judged.call.path)
        by, answer = answered
        if not isinstance(answer, Approved):
            failed = rejected(judged, by, answer.reason)
            self.ledger.settle(judged.call.path, CallState.REJECTED, error=str(failed))
            raise failed
        return self._amended(self._gateway.approve(judged, by))

    def _taken(self, judged: JudgedCall) -> JudgedCall:
        """Add a call to the ledger. Reject it if a person would have to decide on it, and not see the whole of it.

        A program can write a value into a secret argument too, which would be removed from the others on the card.
        """
        self.ledger.take(judged)
        hidden = self.ledger.hides(judged.call.path)
        if judged.tool is None or not hidden or judged.state is not CallState.PENDING:
            return judged
        message = f"{', '.join(hidden)}: repeats the value of a secret argument, so that a person would not see it"
        error = ArgumentsInvalid(judged.tool.id, message, valid=judged.tool.parameter_names)
        judged = replace(judged, ruling=None, error=error)
        self.ledger.take(judged)
        return judged

    def _amended(self, judged: JudgedCall) -> JudgedCall:
        """Record a new decision on a call, and return the call."""
        self.ledger.amend(judged)
        return judged

    async def _send_in_turn(self, judged: JudgedCall, send: Send) -> Any:
        if judged.error is not None:
            raise for_program(judged.error)
        program = program_of(judged.tool)
        if program is not None and self.saved is not None:
            return await self.saved.answer(await self._passed(judged), program)
        with self._busy() if self._is_answered(judged) else nullcontext():
            outcome = await self._outcome(judged, send)
        if outcome.error is not None:
            raise for_program(outcome.error)
        return outcome.value

    async def _outcome(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        """Send a call once it has a slot. While a person is asked, calls wait that no person has answered."""
        passed: JudgedCall | None = None
        while True:
            async with self._slots:
                passed = passed or await self._passed(judged)
                if not self._is_answered(judged):  # the program may read nothing until this call has ended
                    await room()
                if not self._asking or self._is_answered(judged):
                    return await self._send(passed, send)
            await self._goes_on.wait()  # usually the program ends meanwhile

    def _is_answered(self, judged: JudgedCall) -> bool:
        """Return whether a person has answered that the call may be sent."""
        return False

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """Let those who ask a person wait until this block has ended."""
        self._under_way += 1
        self._all_ended.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._all_ended.set()

    async def inner_run(self, judged: JudgedCall, program: SavedProgram, stop: Stop) -> InnerRun:
        """Return the run of a saved program that a call asks for. `stop` keeps what stops it."""
        return InnerRun(program.code)

    async def _passed(self, judged: JudgedCall) -> JudgedCall:
        """Let the plugins refuse an allowed call before anything is sent. Raises CallFailed."""
        refused = await self._hooks.before(judged)
        if refused.error is not None:
            self.ledger.amend(refused)
            raise for_program(refused.error)
        return refused

    async def _send(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        path = judged.call.path
        context = CallContext(
            idempotency_key=self._key(judged),
            before_send=partial(self._before_send, judged),
            on_progress=partial(self.ledger.progress, path),
        )
        with self._busy():
            return await self._answered(judged, await send(judged, context))

    async def _answered(self, judged: JudgedCall, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome that the plugins leave of a sent call, and record it. A cancelled hook changes nothing."""
        if outcome.note and outcome.tool not in self._differing:
            self._differing.add(outcome.tool)
            self.ledger.note(outcome.note)
        try:
            outcome = await self._hooks.after(judged, outcome, self.ledger.note)
        finally:
            self.ledger.finish(judged.call.path, outcome)
        return outcome

    def _key(self, judged: JudgedCall) -> str:
        """Return the idempotency key of a call, or "" if its service accepts none."""
        takes_key = judged.tool is not None and self._gateway.takes_key(judged.tool)
        return key_of(self.execution, judged.call.path) if takes_key else ""

    async def _before_send(self, judged: JudgedCall) -> None:
        """Record the start of a call. Before a retry, check that the call may still be sent."""
        path = judged.call.path
        if path in self._started:
            await self._confirm()
            return
        self._started.add(path)
        await self._record_start(judged)
        self.ledger.send(path)

    async def _record_start(self, judged: JudgedCall) -> None:
        """Write the start of a call to the journal. This base class has no journal."""

    async def _confirm(self) -> None:
        """Check that this process may still send calls of the execution."""

    async def _ask(self, path: str) -> NoReturn:
        """Stop the program after the calls in flight have ended, so that none of them stays unknown.

        If the program cancels the call before that, it continues without it.
        """
        self._asking += 1
        self._goes_on.clear()
        try:
            await asyncio.sleep(0)  # judge concurrent calls as well
            await self._all_ended.wait()
        except asyncio.CancelledError:
            if not self._is_over:
                self._asking -= 1
                self.ledger.withdraw(path)
                if not self._asking:
                    self._goes_on.set()
            raise
        self._is_over = True
        self.waits = self.waits or self._waits()
        raise ProgramStopped(self.waits)

    def _waits(self) -> Failure:
        """Return the failure that asks for a person's decision."""
        return approval_required(self.ledger.pending())


def approval_required(pending: tuple[LedgerEntry, ...]) -> Failure:
    """Return the failure that names the pending calls, without secrets."""
    reasons = [entry.error for entry in pending[:_NAMED]]
    reasons += [f"and {len(pending) - _NAMED} more"] if len(pending) > _NAMED else []
    calls = "; ".join(f"{entry.tool}({_shown(entry.arguments)})" for entry in pending[:_NAMED])
    return Failure(
        "ApprovalRequired",
        "; ".join(dict.fromkeys(reasons)) + f". Pending: {calls}",
        hint="committed calls in the ledger took effect; a person must approve the pending calls, or make them",
    )


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:500]


def rejected(judged: JudgedCall, by: str, reason: str) -> CallFailed:
    """Return the error of a call that a person or a plugin rejected."""
    tool = judged.tool.id if judged.tool is not None else judged.call.tool
    message = f"{by} rejected {tool}" + (f": {reason}" if reason else "") + "; nothing was sent"
    return CallFailed(message, kind="rejected", body=reason or None)


def for_program(error: CodeModeError) -> CallFailed:
    """Return the error in the form that a program sees."""
    if isinstance(error, UpstreamError):
        return CallFailed(
            error.for_model(),
            kind=error.code,
            status=error.status,
            body=error.body,
            retry_after_s=error.retry_after_s,
        )
    return CallFailed(error.for_model(), kind=error.code)
