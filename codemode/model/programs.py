"""Programs as models ask for them: run, run dry, repair, run as a plan, continue, or only look at."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from codemode.errors import ConfigurationError, ExecutionEnded, ExecutionWaiting, LeaseHeld
from codemode.executions.life.programs import Purpose
from codemode.executions.life.repetition import Repetition
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.planned import Listing, no_digest
from codemode.executions.types.records import HELD_SECRETS, OPEN
from codemode.text.normal_form import joined
from sandbox import is_blank

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.executions.life.executions import Executions
    from codemode.executions.life.programs import Request
    from codemode.executions.life.results import Results
    from codemode.executions.life.runner import Runner
    from codemode.gateway.caller import Caller

    Learn = Callable[[ExecutionOutcome, Caller], Awaitable[None]]

#: Seconds allowed on top of the program's own time limit, for start-up and clean-up.
BEYOND_S = 30.0


#: A note on an execution that went on although a program was sent with its id.
_OTHER = (
    "{} had not ended, so it was continued, and the program sent with it did not run: once it has ended, send the "
    "program again to repair it, or leave out resume_from to run it on its own"
)


class RunningExecution(NamedTuple):
    """The id of an execution that was started or continued, and what its caller must know."""

    execution: str
    notes: tuple[str, ...] = ()


class ModelPrograms:
    """Carries out requests for executions. `longest_s` is the time limit of one run. `learn` receives each outcome.

    Set `journal` to record executions.
    """

    def __init__(self, runner: Runner, results: Results, longest_s: float, learn: Learn) -> None:
        self.journal: Executions | None = None
        #: Seconds after which an execution that runs in one place has surely stopped.
        self.patience_s = longest_s + BEYOND_S
        self._runner = runner
        self._results = results
        self._learn = learn
        self._repetition = Repetition()

    @property
    def executions(self) -> Executions:
        """The recorded executions. Raises ConfigurationError if the settings disable the journal."""
        if self.journal is None:
            message = "executions are not recorded here: set `journal.enabled: true` in the configuration"
            raise ConfigurationError(message)
        return self.journal

    async def purpose(self, request: Request, caller: Caller, *, dry_run: bool = False) -> Purpose:
        """Return what a request asks for. An open execution of the caller's is not repaired, but continued.

        Raises WrongArgument, ExecutionNotFound.
        """
        purpose = request.purpose(dry_run=dry_run)
        if purpose is not Purpose.REPAIR:
            return purpose
        stored = await self.executions.get(request.resume_from, caller)
        is_theirs = stored.request.owner == caller.id or stored.request.code.strip() == request.code.strip()
        return Purpose.CONTINUE if stored.status in OPEN and is_theirs else purpose

    async def perform(self, request: Request, caller: Caller, *, dry_run: bool = False) -> ExecutionOutcome:
        """Do what a request asks for. Cancelling this coroutine cancels the execution.

        Raises WrongArgument, `sandbox.SandboxError`, and the errors of `Executions.start` and `Executions.resume`.
        """
        await self._runner.catalog(caller)  # reads the sources if nothing has yet
        request = _read(request, caller)
        purpose = await self.purpose(request, caller, dry_run=dry_run)
        if purpose is Purpose.STATE:
            request.begun()
            return await self._state(request.resume_from, caller)
        if purpose is Purpose.CONTINUE:
            return await self._continued(request, caller)
        await self._runner.start()
        outcome = await self._run(request, caller, dry_run=purpose is Purpose.DRY_RUN)
        held = HELD_SECRETS if request.had_secrets and HELD_SECRETS not in outcome.notes else ""
        more = tuple(filter(None, (self._repetition.note(request.code, caller, outcome), held)))
        outcome = replace(outcome, notes=(*outcome.notes, *more)) if more else outcome
        await self._learn(outcome, caller)
        return outcome

    async def begin(self, request: Request, caller: Caller) -> RunningExecution:
        """Start or continue a recorded execution. Raises the errors of `perform`."""
        request = _read(request, caller)
        if await self.purpose(request, caller) is Purpose.CONTINUE:
            return RunningExecution(request.resume_from, await self._resume(request, caller))
        return RunningExecution(await self.executions.start(request, caller))

    async def _run(self, request: Request, caller: Caller, *, dry_run: bool) -> ExecutionOutcome:
        """Run a program: recorded, in the way of a feature, or unrecorded."""
        executions = self.journal
        if not dry_run and (request.needs_journal or executions is not None):
            return await self.executions.execute(request, caller)
        for part in () if dry_run else self._runner.parts:
            ended = await part.run(request, caller)
            if ended is not None:
                self._results.keep(ended, caller)
                return ended
        if request.conversation and executions is not None:
            await executions.open()  # a dry run reads the state in the journal
        listing = Listing(executions.digest if executions else no_digest) if dry_run else None
        outcome = await self._runner.run(request, caller, dry_run=listing)
        self._results.keep(outcome, caller)
        if listing is not None:
            for part in self._runner.parts:
                outcome = await part.listed(outcome, listing, request, caller)
        return outcome

    async def _continued(self, request: Request, caller: Caller) -> ExecutionOutcome:
        execution, notes = request.resume_from, await self._resume(request, caller)
        request.started(execution)
        request.begun()
        try:
            stored = await self.executions.wait(execution, caller, self.patience_s)
        except asyncio.CancelledError:
            await self.executions.cancel(execution, caller)
            raise
        outcome = ExecutionOutcome.of_stored(stored)
        return replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome

    async def _resume(self, request: Request, caller: Caller) -> tuple[str, ...]:
        """Continue an execution. Return why it cannot continue yet, and that another program was sent with it."""
        execution = request.resume_from
        own = (await self.executions.get(execution, caller)).request.code
        is_other = request.code and request.code.strip() != own.strip()
        notes = (_OTHER.format(execution),) if is_other else ()
        try:
            await self.executions.resume(execution, caller, request.credentials)
        except ExecutionWaiting as error:
            return (str(error), *notes)
        except (ExecutionEnded, LeaseHeld):
            pass  # the stored outcome says how it ended, or it is running already
        return notes

    async def _state(self, execution: str, caller: Caller) -> ExecutionOutcome:
        """Return the stored outcome, with the calls that still wait."""
        stored = await self.executions.get(execution, caller)
        waiting = await self.executions.approvals(caller, execution) if stored.status == "paused" else ()
        outcome = ExecutionOutcome.of_stored(stored)
        decided = () if waiting or stored.status != "paused" else ("decided: it continues without dry_run",)
        return replace(outcome, pending=waiting, notes=(*outcome.notes, *decided))


def _read(request: Request, caller: Caller) -> Request:
    """Return a request without the caller's secrets, and without code if it holds no program."""
    code = joined(request.code)
    return replace(request, code="" if is_blank(code) else code).without_secrets(caller)
