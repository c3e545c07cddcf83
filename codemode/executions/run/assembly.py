"""Puts the pipeline of a run together: for a run without a record, for a dry run, and for a recorded one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.run.context import RunContext
from codemode.executions.run.deciders import unrecorded
from codemode.executions.run.dry_run import DryRun
from codemode.executions.run.floor import Floor
from codemode.executions.run.pipeline import Pipeline
from codemode.executions.run.recorder import Unrecorded
from codemode.executions.run.replay.comparison import Comparison
from codemode.executions.run.replay.decisions import Decisions
from codemode.executions.run.replay.questions import DIGITS
from codemode.executions.run.replay.recorder import JournalRecorder
from codemode.executions.run.replay.writer import JournalWriter
from codemode.executions.run.service_waits import ServiceWaits
from codemode.executions.types.ledger import Ledger, LedgerEntry
from codemode.executions.types.records import HAD_SECRETS, HELD_SECRETS

if TYPE_CHECKING:
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.replay.program_recording import ProgramRecording
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.run.stage import Stage
    from codemode.executions.types.planned import Listing
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway

Watch = Callable[[LedgerEntry], None]

#: Returns what features add to a run. The decisions are None for a run without a record.
StagesOf = Callable[[RunContext, Decisions | None], Sequence["Stage"]]


def no_stages(_: RunContext, __: Decisions | None) -> Sequence[Stage]:
    """Add nothing to a run."""
    return ()


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The pipeline of a recorded run, and the parts of it that tell how the run ended."""

    pipeline: Pipeline
    program: ProgramRecording
    comparison: Comparison
    decisions: Decisions
    writer: JournalWriter


def unrecorded_run(
    execution: str,
    gateway: Gateway,
    caller: Caller,
    *,
    calls_in_flight: int,
    wall_s: float,
    watch: Watch,
    hooks: Hooks = NO_HOOKS,
    stages: StagesOf = no_stages,
) -> Pipeline:
    """Return the pipeline of a run that keeps no record."""
    ledger = Ledger(watch)
    run = RunContext(
        execution, gateway, caller, ledger, Floor(calls_in_flight, ledger), hooks, waits=ServiceWaits(wall_s)
    )
    return Pipeline(run, Unrecorded(), judge=run.judge, deciders=unrecorded(run), stages=stages(run, None))


def listing_run(
    execution: str,
    gateway: Gateway,
    caller: Caller,
    listing: Listing,
    *,
    calls_in_flight: int,
    wall_s: float,
    watch: Watch,
    hooks: Hooks = NO_HOOKS,
    stages: StagesOf = no_stages,
) -> Pipeline:
    """Return the pipeline of a dry run, which adds what it does not send to `listing`."""
    ledger = Ledger(watch, mask=listing.masked)
    run = RunContext(
        execution, gateway, caller, ledger, Floor(calls_in_flight, ledger), hooks, waits=ServiceWaits(wall_s)
    )
    dry = DryRun(run, listing)
    return Pipeline(run, Unrecorded(), judge=dry.judge, deciders=(dry.decide,), stages=stages(run, None))


def recorded_run(
    recording: ExecutionRecording,
    gateway: Gateway,
    caller: Caller,
    *,
    calls_in_flight: int,
    wall_s: float,
    watch: Watch,
    hooks: Hooks = NO_HOOKS,
    stages: StagesOf = no_stages,
) -> RecordedRun:
    """Return the pipeline of a run that is recorded."""

    def masked(secret: object) -> str:
        return f"[secret {recording.journal.digest(secret)[:DIGITS]}]"

    ledger = Ledger(watch, mask=masked, elapsed_s=recording.elapsed_s)
    run = RunContext(
        recording.lease.execution,
        gateway,
        caller,
        ledger,
        Floor(calls_in_flight, ledger),
        hooks,
        waits=ServiceWaits(wall_s),
    )
    comparison = Comparison(run, recording, masked)
    decisions = Decisions(run, recording, comparison)
    writer = JournalWriter(recording, ledger)
    recorder = JournalRecorder(run, decisions, writer)
    if recording.gap:
        ledger.note(recording.gap)
    if recording.request.settings.get(HAD_SECRETS):
        ledger.note(HELD_SECRETS)
    pipeline = Pipeline(run, recorder, judge=run.judge, deciders=decisions.deciders(), stages=stages(run, decisions))
    return RecordedRun(pipeline, recorder.program, comparison, decisions, writer)
