"""The pipeline: the stages of a call of one running program, in the order in which the call passes them."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.errors import CodeModeError
from codemode.executions.run.ends import value_of
from codemode.executions.run.failures import for_program
from codemode.executions.run.forms import (
    OF_RESPONSE,
    OF_RESULT,
    RESPONSE,
    WholeAnswer,
    form_of,
    reading,
    response_of,
    wait_in,
)
from codemode.executions.run.paging import WholeList, collect
from codemode.executions.run.partial_lists import PartialLists
from codemode.executions.types.record import End
from codemode.gateway.call import JudgedCall, ToolCall
from codemode.gateway.policy import Decision, Ruling
from codemode.transports.base import CallContext
from codemode.transports.http.idempotency import key_of
from codemode.transports.http.long_running import goes_on, result_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.context import RunContext
    from codemode.executions.run.deciders import Decide, Judge
    from codemode.executions.run.recorder import Recorder
    from codemode.executions.run.stage import Stage
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.record import RecordedCall
    from codemode.gateway.call import ToolOutcome
    from sandbox import Call

    Room = Callable[[], Awaitable[None]]
    Send = Callable[[JudgedCall, CallContext], Awaitable[ToolOutcome]]


#: The ruling on the wait for a result, as ledgers show it.
_OF_ITS_CALL = Ruling(Decision.ALLOW, "reads what its call began")


class Pipeline:
    """Makes the calls of one program: `judge`, the `stages` of features and `deciders` rule on them.

    `recorder` keeps the record. `partial_lists` are the lists of which the program read some pages.
    """

    def __init__(
        self,
        run: RunContext,
        recorder: Recorder,
        *,
        judge: Judge,
        deciders: Sequence[Decide],
        stages: Sequence[Stage] = (),
    ) -> None:
        self.run = run
        self.recorder = recorder
        self.partial_lists = PartialLists()
        self._page_headers: dict[str, Mapping[str, str]] = {}
        self._judge = judge
        self._stages = stages
        self._deciders = (*(stage.decide for stage in stages), *deciders)
        self._differing: set[str] = set()  # tools whose answers differ from their schemas

    async def answer(self, call: Call, within: SavedProgram | None = None) -> Any:
        """Return the value of a call of the program, or of the saved program `within` that it runs.

        Raises CallFailed for the program to handle, and ProgramStopped to end the program.
        """
        gateway = self.run.gateway
        try:
            with self.run.floor.busy():
                arguments = await gateway.restored(call.arguments, self.run.caller)
            form = form_of(call.tool, gateway.catalog)
            if form is not None:
                call = replace(call, arguments=arguments)
                if isinstance(form, WholeList):
                    return await self._list(call, form, within)
                return await self._whole_answer(call, form, within)
            value = await self._make(self._call(call.path, call.tool, arguments, within), gateway.send, call.room)
        except CodeModeError as error:
            raise for_program(error) from None
        headers = self._page_headers.pop(call.path, None)
        if isinstance(value, list) or (
            isinstance(value, dict) and any(isinstance(one, list) for one in value.values())
        ):
            self.partial_lists.add(gateway.catalog.get(call.tool), call.arguments, value, headers)
        return value

    async def _list(self, call: Call, wanted: WholeList, within: SavedProgram | None) -> Any:
        numbers = count(1)

        def get_page(arguments: dict[str, Any], query: str) -> Awaitable[Any]:
            page = self._call(f"{call.path}/{next(numbers)}", wanted.tool.id, arguments, within)
            return self._make(page, partial(self.run.gateway.send_page, query=query), call.room)

        return await collect(wanted, call.arguments, get_page, self.run.ledger.note)

    async def _whole_answer(self, call: Call, form: WholeAnswer, within: SavedProgram | None) -> Any:
        """Return the answer with status and headers, or wait for the end of the work that it says goes on."""
        gateway, tool = self.run.gateway, form.tool
        wait_s = wait_in(form, call.arguments)
        first = self._call(call.path + OF_RESPONSE, tool.id, call.arguments, within)
        page = await self._make(first, gateway.send_response, call.room)
        if form.kind == RESPONSE:
            return response_of(page)
        if not goes_on(page):
            return result_of(page.value)
        wait = self._call(call.path + OF_RESULT, tool.id, {"of": first.path}, within)
        send = partial(gateway.send_wait, first=page, wait_s=wait_s)
        judged = JudgedCall(wait, reading(tool), wait.arguments, _OF_ITS_CALL)
        return (await self._follow(judged, first.path, send, call.room)).value

    async def _follow(self, judged: JudgedCall, first: str, send: Send, room: Room) -> Any:
        """Read what the call at the path `first` began. It was decided, and what it answers with is its own."""
        recorded = self.recorder.recall(judged.call)
        if recorded is not None and recorded.end is not None:
            return self._replay(recorded, recorded.end)
        self.run.ledger.take(judged)
        for stage in self._stages:
            judged = await stage.follow(judged, first)
        _refuse(judged.error)
        outcome = await self._take_turn(judged, send, room)
        _refuse(outcome.error)
        return outcome.value

    def _call(self, path: str, tool: str, arguments: dict[str, Any], within: SavedProgram | None) -> ToolCall:
        return ToolCall(self.run.execution, path, tool, arguments, self.run.caller, self.run.tally, within)

    async def _make(self, call: ToolCall, send: Send, room: Room) -> Any:
        """Pass a call, or a page of a list, through all stages."""
        recorded = self.recorder.recall(call)  # identify
        if recorded is not None and recorded.end is not None:
            return self._replay(recorded, recorded.end)
        judged = self._judge(call)
        decided = await self._decide(judged, recorded)
        if isinstance(decided, End):
            return await self._settle(judged, decided)
        _refuse(decided.error)
        stage = next((stage for stage in self._stages if stage.runs(decided)), None)
        if stage is not None:
            return await stage.run(await self._admit(decided), self)
        outcome = await self._take_turn(decided, send, room)
        _refuse(outcome.error)
        return outcome.value

    def _replay(self, recorded: RecordedCall, end: End) -> Any:
        """Return the recorded value of a call. Nothing is sent."""
        self.recorder.restore(recorded)
        return value_of(end, is_page=recorded.is_page)

    async def _decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """Return a call as the deciders leave it, or its end if it is not sent."""
        for decide in self._deciders:
            decided = await decide(judged, recorded)
            if isinstance(decided, End):
                if not decided.is_error:
                    self._tell(judged.call.path, json.loads(decided.answer))
                return decided
            judged = decided
        return judged

    async def _settle(self, judged: JudgedCall, end: End) -> Any:
        """Return the value of a call that has an end without being sent, and record the end."""
        path = judged.call.path
        facts: dict[str, Any] = {"error": json.loads(end.answer)["message"] if end.is_error else ""}
        self.run.ledger.settle(path, end.state, **facts, **end.facts)
        await self.recorder.settle(judged, end)
        return value_of(end, is_page="/" in path)

    async def _admit(self, judged: JudgedCall) -> JudgedCall:
        """Let the plugins refuse a call. One whose start is recorded passed them then, and may have taken effect."""
        if self.recorder.has_begun(judged.call.path):
            return judged
        admitted = await self.run.hooks.before(judged)
        if admitted.error is not None:
            self.run.ledger.amend(admitted)
        _refuse(admitted.error)
        return admitted

    async def _take_turn(self, judged: JudgedCall, send: Send, room: Room) -> ToolOutcome:
        """Send a call once it has a slot. While a person is asked, calls wait that no person has answered."""
        path, floor = judged.call.path, self.run.floor
        admitted: JudgedCall | None = None
        with floor.busy() if path in floor.answered else nullcontext():
            while True:
                async with floor.slot():
                    admitted = admitted or await self._admit(judged)
                    if await floor.may_send(path, room):
                        return await self._send(admitted, send)
                await floor.goes_on()

    async def _send(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        path, given_up = judged.call.path, asyncio.Event()
        key = self._key(judged)
        context = CallContext(
            idempotency_key=key,
            before_send=partial(self._start, judged, key),
            on_progress=partial(self.run.ledger.progress, path),
            on_note=self.run.ledger.note,
            on_page=partial(self._page_headers.__setitem__, path),
            on_label=partial(self._labelled, path),
            answers=self.recorder.answers(path),
            wait_out=partial(self.run.waits.wait, judged.tool.source if judged.tool else "", given_up=given_up),
        )
        work = self._checked(judged, context, send)
        if judged.tool is None or judged.tool.effect is Effect.READ:
            outcome = await work
        else:
            left = partial(self.recorder.left, judged)
            is_sent = partial(self.run.started.__contains__, path)
            outcome = await self.run.left.guard(work, is_sent=is_sent, left=left, given_up=given_up)
        for stage in self._stages if outcome.error is not None else ():
            await stage.sent(judged, outcome)
        await self.recorder.end(judged, outcome)
        return outcome

    def _labelled(self, path: str, label: Mapping[str, Any]) -> None:
        for stage in self._stages:
            stage.labelled(path, label)

    async def _checked(self, judged: JudgedCall, context: CallContext, send: Send) -> ToolOutcome:
        with self.run.floor.busy():
            return await self._check(judged, await send(judged, context))

    def _key(self, judged: JudgedCall) -> str:
        """Return the idempotency key of a call, or "" if its service accepts none."""
        takes_key = judged.tool is not None and self.run.gateway.takes_key(judged.tool)
        return key_of(self.run.execution, judged.call.path) if takes_key else ""

    async def _start(self, judged: JudgedCall, key: str) -> None:
        """Record the start of a call. Before a retry, check that the call may still be sent."""
        path, started = judged.call.path, self.run.started
        if path in started:
            await self.recorder.confirm()
            return
        started.add(path)
        await self.recorder.start(judged, key)
        self.run.ledger.send(path)

    async def _check(self, judged: JudgedCall, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome that the plugins leave of a sent call, and list it. A cancelled hook changes nothing."""
        path, ledger = judged.call.path, self.run.ledger
        outcome = self.recorder.checked(path, outcome)
        if outcome.note and outcome.tool not in self._differing:
            self._differing.add(outcome.tool)
            ledger.note(outcome.note)
        try:
            outcome = await self.run.hooks.after(judged, outcome, ledger.note)
        finally:
            ledger.finish(path, outcome)
        if outcome.error is None:
            self._tell(path, outcome.value)
        for stage in self._stages if outcome.error is not None else ():
            stage.failed(path, str(outcome.error))
        return outcome

    def told(self, function: str, value: Any) -> None:
        """Tell the stages what a function of a feature has answered."""
        for stage in self._stages:
            stage.told(function, value)

    async def ended(self, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Tell the stages how the run has ended, and return the outcome."""
        for stage in self._stages:
            await stage.ended(outcome)
        return outcome

    def _tell(self, path: str, value: Any) -> None:
        for stage in self._stages:
            stage.answered(path, value)


def _refuse(error: CodeModeError | None) -> None:
    """Raise an error of a call in the form that the program sees."""
    if error is not None:
        raise for_program(error)
