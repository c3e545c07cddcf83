"""The stage of saved programs: each runs in a sandbox of its own, with the pipeline of its caller.

The inner calls pass the same pipeline, under the path of the saved program's call: `3:1` is the first call of the
program that call 3 runs. They pass the same policy, approvals, limits and journal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.saved import program_of
from codemode.executions.run.inner_run import WITHIN, Stop
from codemode.executions.run.preflight import check
from codemode.executions.run.stage import Stage
from codemode.executions.run.turns import MOST_DEEP
from codemode.executions.types.saving_errors import SavedProgramBroken, SavedProgramFailed, SavedProgramInvalid
from codemode.features.saved.file import parse
from codemode.gateway.call import CallState, ToolOutcome
from sandbox import CallFailed, ProgramStopped, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.stage import Calls, Staging
    from codemode.gateway.call import JudgedCall
    from sandbox import Call, CallSite, Outcome


class SavedRuns(Stage):
    """Runs the saved programs that one program calls. They see its namespaces."""

    def __init__(self, staging: Staging) -> None:
        self._outer = staging.run
        self._programs = staging.programs
        self._names = tuple(name for name in staging.programs.names if not {"(", "="} & set(name))
        self._ids: dict[str, str] = {}

    def runs(self, judged: JudgedCall) -> bool:
        """Return whether a call is one of a saved program."""
        return program_of(judged.tool) is not None

    async def run(self, judged: JudgedCall, pipeline: Calls) -> Any:
        """Run a program and return its value, or its error to the caller.

        Raises CallFailed, and ProgramStopped if one of its calls stops the whole execution.
        """
        program = program_of(judged.tool)
        assert program is not None  # noqa: S101 - see `runs`
        ledger, path = self._outer.ledger, judged.call.path
        ledger.send(path)
        self._ids[path] = program.id
        stop = Stop()
        try:
            self._refuse_broken(path, program)
            value = _value(program, await self._ended(judged, program, stop, pipeline))
        except (SavedProgramBroken, SavedProgramFailed) as error:
            if stop.failure is not None:
                ledger.settle(path, CallState.PENDING)  # it goes on with the execution
                raise ProgramStopped(stop.failure) from None
            failed = ToolOutcome(program.id, CallState.FAILED, error=error)
            ledger.finish(path, failed)
            raise CallFailed(error.for_model(), kind=error.code) from None
        ledger.finish(path, ToolOutcome(program.id, CallState.COMMITTED, value=value))
        return value

    def _refuse_broken(self, path: str, program: SavedProgram) -> None:
        chain = [*self._callers(path), program.id]
        if program.id in chain[:-1]:
            message = f"{program.id} calls itself ({' → '.join(chain)}): write the repetition as a loop"
            raise SavedProgramFailed(message)
        if len(chain) > MOST_DEEP:
            message = f"saved programs call each other {MOST_DEEP} deep at most: {' → '.join(chain)}"
            raise SavedProgramFailed(message)
        missing = program.missing(self._outer.catalog)
        if missing:
            message = f"{program.id} is broken: it needs {', '.join(missing)}, not available here; nothing was sent"
            raise SavedProgramBroken(message)

    def _callers(self, path: str) -> list[str]:
        """Return the saved programs around a call, outermost first."""
        parts = path.split(WITHIN)
        around = (WITHIN.join(parts[:count]) for count in range(1, len(parts)))
        return [self._ids[one] for one in around if one in self._ids]

    async def _ended(self, judged: JudgedCall, program: SavedProgram, stop: Stop, pipeline: Calls) -> Outcome:
        path = judged.call.path
        with stop.noted():
            run = await pipeline.recorder.begin(judged, program, stop)

        law = program if run.code == program.code else _recorded(program, run.code)

        async def call(inner: Call) -> Any:
            placed = replace(inner, path=f"{path}{WITHIN}{inner.path}")
            with stop.noted():
                if run.recording is not None:
                    run.recording.identify(placed)
                return await self._answered(placed, law, pipeline)

        async def preflight(sites: Sequence[CallSite]) -> None:
            check(sites, self._outer.catalog, law)

        async with self._programs.turns.at(path.count(WITHIN) + 1).turn(self._outer.caller.id):
            return await self._programs.engine.run(
                run.code,
                names=self._names,
                call=call,
                preflight=preflight,
                seed=run.seed,
                now=run.now,
                limits=self._programs.limits,
                inputs={**program.defaults, **judged.arguments},
                recording=run.recording,
                uncounted_s=self._outer.waits.from_now(),
            )

    async def _answered(self, call: Call, law: SavedProgram, pipeline: Calls) -> Any:
        most = self._programs.limits.calls
        if len(self._outer.ledger) >= most:
            message = f"the execution made {most:,} calls, those of saved programs included; more are not allowed"
            raise CallFailed(message, kind="calls_exhausted")
        return await pipeline.answer(call, law)


def _recorded(program: SavedProgram, code: str) -> SavedProgram:
    """Return the version of a program that an execution began with: the header of that code holds for it."""
    try:
        return parse(program.name, code)
    except SavedProgramInvalid as error:
        message = f"{program.id} is broken: {error}; nothing was sent"
        raise SavedProgramBroken(message) from None


def _value(program: SavedProgram, ended: Outcome) -> Any:
    if ended.ok:
        return ended.value
    failure = ended.failure
    reason = f"{failure.type}: {failure.message}" if failure is not None else str(ended.status)
    if failure is not None and failure.refusals:
        reason = "; ".join(f"line {one.line}: {one.message}" for one in failure.refusals)
    if ended.status is Status.REFUSED:
        message = f"{program.id} is broken: {reason}; nothing was sent"
        raise SavedProgramBroken(message)
    where = f" at line {failure.line}" if failure is not None and failure.line else ""
    message = f"{program.id} {ended.status}{where}: {reason}"
    raise SavedProgramFailed(message)
