"""The runner: runs programs in the view of the caller's role, and notifies observers."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.executions.life.observer import ExecutionStart, Observers
from codemode.executions.run.replay.dependencies import changes, environment, moved
from codemode.executions.types.ids import new_execution
from codemode.gateway.caller import Caller

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.life.part import Part
    from codemode.executions.life.programs import Request
    from codemode.executions.run.bound import Bound
    from codemode.executions.run.executor import Executor, ProgramFunction
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.planned import Listing
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import NewExecution, PendingCall
    from codemode.gateway.caller_view import View
    from codemode.settings import PolicySettings
    from codemode.sources.destination import Destination
    from sandbox import Failure

log = logging.getLogger(__name__)

_UNRECORDED = "the journal is unavailable: this execution could only read, and was not recorded"


@dataclass(frozen=True, slots=True)
class _Environment:
    """The digests of a policy and of destinations, which a reload replaces."""

    policy: PolicySettings
    destinations: Mapping[str, Destination]
    digest: Callable[[Any], str]
    digests: Mapping[str, str]

    def is_of(
        self, policy: PolicySettings, destinations: Mapping[str, Destination], digest: Callable[[Any], str]
    ) -> bool:
        """Whether the digests were made of these objects."""
        return self.policy is policy and self.destinations is destinations and self.digest == digest


class Runner:
    """Runs programs, recorded or unrecorded.

    `view` returns the part of the catalog visible to a caller, `functions` the functions of the caller's programs.
    `parts` are those of the features.
    `under_way` has one event for each running program, which is set when the program ends.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        view: Callable[[Caller], Awaitable[View]],
        functions: Callable[[Caller], Mapping[str, ProgramFunction]],
        policy: Callable[[], PolicySettings],
        destinations: Callable[[], Mapping[str, Destination]],
        parts: Sequence[Part] = (),
    ) -> None:
        self.parts = parts
        #: See `Executions.role_of`.
        self.role_of: Callable[[NewExecution], str | None] = lambda given: given.role
        self.observers = Observers()
        self.under_way: set[asyncio.Event] = set()
        self.executor = executor
        self._view = view
        self._functions = functions
        self._policy = policy
        self._destinations = destinations
        self._last_environment: _Environment | None = None
        self._starting = asyncio.Lock()
        self.is_started = False

    def decided(self, call: PendingCall) -> None:
        """See `Programs`."""
        self.observers.decided(call)

    async def start(self) -> Mapping[str, str]:
        """Start the sandbox before the first program needs it. Return the layers of isolation in force."""
        async with self._starting:
            if not self.is_started:
                await self.executor.start()
                self.is_started = True
        return self.executor.isolation

    async def check(self, code: str, caller: Caller) -> Failure | None:
        """Return what would be rejected in a program before it runs. See `Executor.check`."""
        await self.start()
        return await self.executor.check(code, (await self._view(caller)).gateway, self._functions(caller))

    async def run(
        self,
        request: Request,
        caller: Caller,
        *,
        unrecorded: CodeModeError | None = None,
        dry_run: Listing | None = None,
    ) -> ExecutionOutcome:
        """Run the program of a request without recording it.

        If recording was required and failed for the reason `unrecorded`, the program may only read. With `dry_run`,
        writes are added to this list instead of being sent. Raises WrongArgument, `sandbox.SandboxError`.
        """
        is_dry = dry_run is not None
        bound = _some(part.bound_unrecorded(request, caller, dry_run=is_dry, why=unrecorded) for part in self.parts)
        await self.start()
        gateway = (await self._view(caller)).gateway
        if unrecorded is not None:
            gateway = gateway.only_reading(unrecorded)
        who = caller.bringing(request.credentials) if request.credentials else caller
        started = ExecutionStart.of(new_execution(), who, request.code)
        with self._observed(started, request.watch) as (execution, called, ended):
            outcome = await self.executor.run(
                request.code,
                gateway,
                who,
                execution=execution.id,
                functions=self._functions(who),
                begun=request.begun,
                watch=called,
                inputs=request.inputs,
                dry_run=dry_run,
                bound=bound,
                conversation=request.conversation,
            )
            for each in bound:
                outcome = await each.ended(outcome)
            ended.append(outcome)
        return outcome

    async def run_unrecorded(self, request: Request, caller: Caller, why: CodeModeError) -> ExecutionOutcome:
        """See `codemode.executions.life.programs.Programs`."""
        log.error("an execution runs unrecorded and may only read: %s", why)
        outcome = await self.run(request, caller, unrecorded=why)
        return replace(outcome, notes=(*outcome.notes, _UNRECORDED))

    async def settings(self, caller: Caller, own: Mapping[str, Any]) -> dict[str, Any]:
        """See `codemode.executions.life.programs.Programs`."""
        gateway = (await self._view(caller)).gateway
        bound = [signature for part in self.parts for signature in part.signatures(own)]
        return self.executor.settings(gateway, self._functions(caller), bound)

    def environment(self, digest: Callable[[Any], str]) -> Mapping[str, str]:
        """See `codemode.executions.life.programs.Programs`."""
        policy, destinations, last = self._policy(), self._destinations(), self._last_environment
        if last is None or not last.is_of(policy, destinations, digest):
            engine, plugins = self.executor.engine, self.executor.hooks.identity
            digests = environment(policy, destinations, digest, engine=engine, plugins=plugins)
            last = self._last_environment = _Environment(policy, destinations, digest, digests)
        return last.digests

    async def catalog(self, caller: Caller) -> Catalog:
        """See `codemode.executions.life.programs.Programs`."""
        return (await self._view(caller)).catalog

    async def changes(
        self, recorded: NewExecution, record: Record, role: str | None, digest: Callable[[Any], str]
    ) -> tuple[str, ...]:
        """See `codemode.executions.life.programs.Programs`."""
        catalog = (await self._view(Caller(recorded.owner, recorded.role))).catalog
        return changes(recorded, record, self.environment(digest), catalog, role)

    def moved(self, recorded: NewExecution, digest: Callable[[Any], str]) -> tuple[str, ...]:
        """See `codemode.executions.life.programs.Programs`."""
        return moved(recorded, self.environment(digest))

    async def perform(
        self,
        caller: Caller,
        recording: ExecutionRecording,
        *,
        begun: Callable[[], None],
        watch: Callable[[LedgerEntry], None],
    ) -> ExecutionOutcome:
        """See `codemode.executions.life.programs.Programs`."""
        await self.start()
        gateway = (await self._view(caller)).gateway
        given = recording.request
        bound = _some(part.bound(recording, caller) for part in self.parts)
        with self._observed(ExecutionStart.of(given.id, caller, given.code), watch) as (_, called, ended):
            outcome = await self.executor.run(
                given.code,
                gateway,
                caller,
                functions=self._functions(caller),
                begun=begun,
                watch=called,
                recording=recording,
                bound=bound,
            )
            for each in bound:
                outcome = await each.ended(outcome)
            ended.append(outcome)
        return outcome

    @contextmanager
    def _observed(
        self, execution: ExecutionStart, watch: Callable[[LedgerEntry], None]
    ) -> Iterator[tuple[ExecutionStart, Callable[[LedgerEntry], None], list[ExecutionOutcome]]]:
        def called(entry: LedgerEntry) -> None:
            if not entry.is_progress:
                self.observers.called(execution, entry)
            watch(entry)

        ended: list[ExecutionOutcome] = []
        self.observers.started(execution)
        over = asyncio.Event()
        self.under_way.add(over)
        try:
            yield execution, called, ended
        finally:
            self.under_way.discard(over)
            over.set()
            self.observers.ended(execution, ended[0] if ended else None)


def _some(bound: Iterable[Bound | None]) -> tuple[Bound, ...]:
    return tuple(each for each in bound if each is not None)
