"""The calls of one running program: judge, record and send them, and stop the program if one needs a person."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from codemode.catalog.saved import program_of
from codemode.errors import ArgumentsInvalid, CodeModeError
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.plugins.plugin import Approved
from codemode.executions.run.failures import approval_required, for_program, rejected
from codemode.executions.run.floor import Floor
from codemode.executions.run.paging import PartialLists, collect, whole_list
from codemode.executions.saved.inner_run import InnerRun
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.policy import Tally
from codemode.transports.base import CallContext
from codemode.transports.http.idempotency import key_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.saved import SavedProgram
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.paging import WholeList
    from codemode.executions.saved.inner_run import SavedCalls, Stop
    from codemode.executions.types.ledger import Ledger
    from codemode.executions.types.planned import PlannedCall
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from sandbox import Call, Failure

    Send = Callable[[JudgedCall, CallContext], Awaitable[ToolOutcome]]


class CallSession:
    """Answers the calls of one program, and records them in `ledger`.

    `partial_lists` are the lists of which it read some pages. `plan` is the id of the plan that the program runs under.
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
        self.floor = Floor(calls_in_flight, ledger)
        self.partial_lists = PartialLists()
        self._gateway = gateway
        self.caller = caller
        self._hooks = hooks
        self._tally = Tally()
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
            with self.floor.busy():
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

        def get_page(arguments: dict[str, Any], query: str) -> Awaitable[Any]:
            page = self._call(f"{call.path}/{next(numbers)}", wanted.tool.id, arguments, within)
            return self._make(page, partial(self._gateway.send_page, query=query))

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
            await self.floor.ask(judged.call.path, self._waits)
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
        with self.floor.busy() if judged.call.path in self.floor.answered else nullcontext():
            outcome = await self._outcome(judged, send)
        if outcome.error is not None:
            raise for_program(outcome.error)
        return outcome.value

    async def _outcome(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        """Send a call once it has a slot. While a person is asked, calls wait that no person has answered."""
        passed: JudgedCall | None = None
        while True:
            async with self.floor.slot():
                passed = passed or await self._passed(judged)
                if await self.floor.may_send(judged.call.path):
                    return await self._send(passed, send)
            await self.floor.goes_on()

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
        with self.floor.busy():
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

    def _waits(self) -> Failure:
        """Return the failure that asks for a person's decision."""
        return approval_required(self.ledger.pending())
