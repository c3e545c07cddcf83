"""The executor runs programs: the sandbox executes them, preflight checks them, the gateway makes their calls."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from codemode.errors import CodeModeError, CredentialsRevoked
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.run.advice import advised, clock_notes
from codemode.executions.run.assembly import listing_run, recorded_run, unrecorded_run
from codemode.executions.run.engines import engine_name, engine_of
from codemode.executions.run.inner_run import InnerPrograms
from codemode.executions.run.preflight import CHECKED, check
from codemode.executions.run.stage import Assignment, Staging
from codemode.executions.run.turns import Turns
from codemode.executions.types.ids import new_execution
from codemode.executions.types.outcome import CANCELLED, ExecutionOutcome
from codemode.executions.types.plan import PLAN
from codemode.executions.types.records import CONVERSATION, INPUTS
from codemode.gateway.caller import LOCAL
from codemode.shared.callbacks import ignore
from codemode.text.validation import described
from codemode.text.visible import visible
from sandbox import CallFailed, Failure, Limits, Outcome, ProgramRefused, Status, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.assembly import RecordedRun
    from codemode.executions.run.bound import Bound
    from codemode.executions.run.context import RunContext
    from codemode.executions.run.pipeline import Pipeline
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.run.stage import Stage, StageOf
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.planned import Listing
    from codemode.executions.types.records import ExecutionStatus
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from codemode.settings import LimitSettings, SandboxSettings
    from sandbox import Call, CallSite

    ProgramFunction = Callable[..., Awaitable[Any]]

Function = TypeVar("Function")

MIB = 1024 * 1024

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Size of a run's seed, as `sandbox.Sandbox.run` expects it.
_SEED_BYTES = 32


def new_seed() -> bytes:
    """Return a seed that makes the random numbers of a recorded program repeatable."""
    return secrets.token_bytes(_SEED_BYTES)


class Executor:
    """Owns the engine and runs programs in it, one or many at a time, against a given gateway.

    `stages` make what features add to runs.
    """

    def __init__(
        self, sandbox: SandboxSettings, limits: LimitSettings, hooks: Hooks = NO_HOOKS, stages: Sequence[StageOf] = ()
    ) -> None:
        self.hooks = hooks
        self._stages = stages
        self._limits = _limits(limits)
        self._limits_json = asdict(self._limits)
        #: The engine itself, not yet started.
        self.sandbox = engine_of(sandbox, self._limits)
        #: The name of the engine, with its version if that is not ours.
        self.engine = engine_name(sandbox)
        self._calls_in_flight = limits.calls_in_flight
        self._finish_s = limits.finish_s
        self._turns = Turns()

    async def start(self) -> None:
        """Start the engine. Raises `sandbox.SandboxError` if this machine lacks a required layer of isolation."""
        await self.sandbox.start()

    async def aclose(self) -> None:
        """End all processes of the engine."""
        await self.sandbox.aclose()

    @property
    def isolation(self) -> Mapping[str, str]:
        """The layers of isolation in force, as verified by a child process."""
        return self.sandbox.isolation

    async def run(
        self,
        code: str,
        gateway: Gateway,
        caller: Caller = LOCAL,
        *,
        execution: str = "",
        functions: Mapping[str, ProgramFunction] = MappingProxyType({}),
        begun: Callable[[], None] = ignore,
        watch: Callable[[LedgerEntry], None] = ignore,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        recording: ExecutionRecording | None = None,
        dry_run: Listing | None = None,
        bound: Sequence[Bound] = (),
        conversation: str = "",
    ) -> ExecutionOutcome:
        """Run `code` with every namespace of the gateway's catalog bound.

        `execution` is the execution's id; the default is a new one. `recording` records the execution, and continues it
        from the end of its record. With `dry_run`, writes are added to this list instead of being sent.

        `functions` are available to the program beside the tools, by signature (`search(queries)`). They validate their
        own arguments with pydantic, and appear in no ledger. `bound` adds what features bind in the program.

        `begun` is called when the program has compiled and is about to run. `watch` is called with each call's entry
        when the call is refused, sent and ended. `inputs` are variables of the program, `conversation` is what features
        know its conversation by; a recording has its own.

        Errors of the program or of a tool are part of the outcome. Raises `sandbox.SandboxError` if no program can run.
        """
        by_name = _by_name(functions, gateway)
        by_feature = _by_name({name: one for each in bound for name, one in each.functions.items()}, gateway)
        own_names = by_name.keys() | by_feature.keys()
        recorded = None
        if recording is None:
            signatures = [signature for each in bound for signature in each.signatures]
            names, limits = self.names(gateway, functions, signatures), self._limits
            queue = self._queue(Assignment(code, inputs, conversation, dry_run is not None), watch, limits, names)
            run = self._unrecorded(execution or new_execution(), gateway, caller, dry_run, queue)
        else:
            names, limits = recording.request.settings["names"], Limits(**recording.request.settings["limits"])
            own = recording.request.settings
            assignment = Assignment(code, own.get(INPUTS, {}), own.get(CONVERSATION, ""))
            recorded = recorded_run(recording, gateway, caller, **self._queue(assignment, watch, limits, names))
            run = recorded.pipeline

        async def answer(call: Call) -> Any:
            if recorded is not None:
                recorded.comparison.identify(call)
            if call.tool in by_feature:
                value = await _answered(partial(by_feature[call.tool], call), call, caller)
                run.told(call.tool, value)
                return value
            function = by_name.get(call.tool)
            if function is None:
                return await run.answer(call)
            return await _answered(partial(function, **call.arguments), call, caller)

        async def preflight(sites: tuple[CallSite, ...]) -> None:
            begun()
            if recording is None or not recording.is_resumed:
                check((site for site in sites if site.name not in own_names), gateway.catalog)

        if recorded is None or recording is None:
            program = self._in_turn(
                caller,
                code,
                names=names,
                call=answer,
                preflight=preflight,
                inputs=inputs,
                uncounted_s=run.run.waits.from_now(),
            )
            ended = await self._to_the_end(run, program)
            return await run.ended(_outcome(run, ended, code, is_asked=_asks(run, ended), listing=dry_run))
        program = self._in_turn(
            caller,
            code,
            names=names,
            call=answer,
            preflight=preflight,
            seed=recording.request.seed,
            now=_EPOCH + timedelta(microseconds=recording.request.start_us),
            limits=limits,
            inputs=recording.request.settings.get(INPUTS, {}),
            recording=recorded.program,
            uncounted_s=run.run.waits.from_now(),
        )
        ended = await self._to_the_end(run, _ended(asyncio.ensure_future(program), recording.cancelled))
        plan = recording.request.settings.get(PLAN, {}).get("id", "")
        return await run.ended(_outcome_of_recorded(recorded, ended, code, plan))

    async def _to_the_end(self, run: Pipeline, program: Awaitable[Outcome]) -> Outcome:
        """Run a program, and let what it has sent and no longer awaits finish. Cancellation cuts it off."""
        left = run.run.left
        try:
            ended = await program
            await left.finish(0 if ended.status is Status.CANCELLED else self._finish_s)
        finally:
            await left.cut()
        return ended

    async def _in_turn(self, caller: Caller, code: str, **options: Any) -> Outcome:
        async with self._turns.at(0).turn(caller.id):
            return await self.sandbox.run(code, **options)

    def _unrecorded(
        self,
        execution: str,
        gateway: Gateway,
        caller: Caller,
        listing: Listing | None,
        queue: Mapping[str, Any],
    ) -> Pipeline:
        if listing is None:
            return unrecorded_run(execution, gateway, caller, **queue)
        return listing_run(execution, gateway, caller, listing, **queue)

    def _queue(
        self, assignment: Assignment, watch: Callable[[LedgerEntry], None], limits: Limits, names: Sequence[str]
    ) -> dict[str, Any]:
        inner = InnerPrograms(self.sandbox, self._turns, limits, names)
        stages = partial(self._made_stages, assignment, inner)
        return {
            "calls_in_flight": self._calls_in_flight,
            "wall_s": limits.wall_s,
            "watch": watch,
            "hooks": self.hooks,
            "stages": stages,
        }

    def _made_stages(
        self, assignment: Assignment, inner: InnerPrograms, run: RunContext, decisions: Decisions | None
    ) -> tuple[Stage, ...]:
        made = (stage_of(Staging(assignment, run, decisions, inner)) for stage_of in self._stages)
        return tuple(stage for stage in made if stage is not None)

    async def check(
        self, code: str, gateway: Gateway, functions: Mapping[str, ProgramFunction] = MappingProxyType({})
    ) -> Failure | None:
        """Return what the compiler or the preflight rejects in a program, None if nothing. The program does not run.

        Raises `sandbox.SandboxError` if no program can run.
        """
        by_name = _by_name(functions, gateway)

        async def preflight(sites: tuple[CallSite, ...]) -> None:
            check((site for site in sites if site.name not in by_name), gateway.catalog)
            raise ProgramRefused([CHECKED])

        ended = await self.sandbox.run(code, names=self.names(gateway, functions), call=_never, preflight=preflight)
        failure = ended.failure
        return None if failure is None or CHECKED in failure.refusals else _visible(failure)

    def settings(
        self, gateway: Gateway, functions: Mapping[str, ProgramFunction], bound: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return what a recorded run needs for its replay, besides the program, as JSON data."""
        names = self.names(gateway, functions, bound)
        return {"names": list(names), "limits": self._limits_json}

    def names(
        self, gateway: Gateway, functions: Mapping[str, ProgramFunction], bound: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the names that a program sees: namespaces, and functions and values that no namespace hides.

        `bound` are the signatures of what features bind.
        """
        domains = gateway.catalog.domains
        signatures = {_bound(signature): signature for signature in (*functions, *bound)}
        shown = [signature for name, signature in signatures.items() if name not in domains]
        return (*domains, *(one for one in shown if one.partition("=")[2] not in domains))


def _by_name(functions: Mapping[str, Function], gateway: Gateway) -> dict[str, Function]:
    by_name = {_bound(signature): function for signature, function in functions.items()}
    return {name: function for name, function in by_name.items() if name not in gateway.catalog.domains}


async def _never(call: Call) -> Any:
    message = f"{call.tool} was called by a program that is only checked"
    raise CallFailed(message)


def _bound(signature: str) -> str:
    """Return the name that a signature (`load(name)`) or a value (`last=load`) binds."""
    return signature.partition("(")[0].partition("=")[0]


async def _ended(program_run: asyncio.Future[Outcome], cancelled: asyncio.Event) -> Outcome:
    """Return how the program ended, or that it was cancelled."""
    began = time.monotonic()
    gave_up = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait((program_run, gave_up), return_when=asyncio.FIRST_COMPLETED)
        if program_run.done():
            return program_run.result()
        program_run.cancel()
        await asyncio.wait((program_run,))
        usage = Usage(wall_s=time.monotonic() - began)
        return Outcome(Status.CANCELLED, failure=CANCELLED, usage=usage)
    finally:
        gave_up.cancel()
        if not program_run.done():
            program_run.cancel()
            await asyncio.wait((program_run,))


def _outcome_of_recorded(run: RecordedRun, ended: Outcome, code: str, plan: str) -> ExecutionOutcome:
    is_paused = _asks(run.pipeline, ended) and run.writer.broken is None
    is_other = ended.failure is not None and ended.failure is run.comparison.other
    has_ended = ended.status in (Status.COMPLETED, Status.FAILED) and run.writer.broken is None
    missing = run.comparison.missing() if has_ended and not is_paused and not is_other else None
    if missing is not None:
        ended = replace(ended, status=Status.FAILED, failure=missing, result=None, has_value=False)
    run.program.restore_unreached()
    outcome = replace(_outcome(run.pipeline, ended, code, is_asked=is_paused), plan=plan)
    return replace(outcome, status="paused", pending=tuple(run.decisions.pending)) if is_paused else outcome


def _asks(pipeline: Pipeline, ended: Outcome) -> bool:
    """Return whether the program was stopped for a decision, rather than ending by itself at the same moment."""
    return ended.failure is not None and ended.failure is pipeline.run.floor.waits


#: The note of an outcome whose output was cut.
_OUTPUT_CUT = "the program printed more than limits.output_bytes: what it printed after that is missing; print less"


def _outcome(
    pipeline: Pipeline, ended: Outcome, code: str, *, is_asked: bool, listing: Listing | None = None
) -> ExecutionOutcome:
    run = pipeline.run
    calls = run.ledger.close(is_asked=is_asked)
    failure = ended.failure and advised(ended.failure, run.catalog)
    usage = replace(ended.usage, calls=len(calls)) if ended.status is Status.CANCELLED else ended.usage
    other_clocks = clock_notes(code, (call.tool for call in calls), run.catalog, datetime.now(UTC))
    cut = (_OUTPUT_CUT,) if ended.output_truncated else ()
    return ExecutionOutcome(
        id=run.execution,
        status=cast("ExecutionStatus", str(ended.status)),
        result=ended.result,
        has_value=ended.has_value,
        output=ended.output,
        output_truncated=ended.output_truncated,
        failure=_visible(failure),
        calls=calls,
        usage=usage,
        isolation=ended.isolation,
        limit=ended.limit,
        notes=(
            *ended.notes,
            *cut,
            *run.ledger.notes(),
            *run.waits.notes(),
            *pipeline.partial_lists.notes(),
            *other_clocks,
        ),
        planned=() if listing is None else tuple(listing.calls),
    )


def _visible(failure: Failure | None) -> Failure | None:
    """Return the failure without invisible characters: its texts may quote a document."""
    if failure is None:
        return None
    refusals = tuple(replace(one, message=visible(one.message), hint=visible(one.hint)) for one in failure.refusals)
    return replace(failure, message=visible(failure.message), hint=visible(failure.hint), refusals=refusals)


async def _answered(function: Callable[[], Awaitable[Any]], call: Call, caller: Caller) -> Any:
    try:
        if not caller.is_still_good():  # for tool calls, the gateway checks this
            raise CredentialsRevoked(call.tool)
        return await function()
    except CodeModeError as error:
        raise CallFailed(error.for_model(), kind=error.code) from None
    except ValidationError as error:
        message = f"{call.tool}(): {described(error)}"
        raise CallFailed(message, kind="arguments_invalid") from None


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        wall_s=settings.wall_s,
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_mib * MIB,
        source_bytes=settings.source_bytes,
        output_bytes=settings.output_bytes,
        result_bytes=settings.result_bytes,
        replies_bytes=settings.replies_mib * MIB,
        calls=settings.calls,
        calls_in_flight=max(settings.calls, 1),  # concurrency is limited by the host, and recorded
    )
