"""The stages of a program, and the functions that each consists of.

A function is named where it is looked up: a method in its class, an imported function in the module that calls it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from benchmarks.path_parts.clock import StageClock

_EXECUTIONS = "codemode.executions"
_JOURNAL = "codemode.executions.journal"
_HTTP = "codemode.serving.http"
_WEB = "codemode.serving.web"
_TRANSPORT = "codemode.transports.http"
_HOST = "sandbox.host"

#: The functions of each stage, as `module:qualified name`.
STAGES: dict[str, tuple[str, ...]] = {
    "request": (
        f"{_WEB}.connection:_Connection.data_received",
        "starlette.middleware.errors:ServerErrorMiddleware.__call__",
        "starlette.middleware.exceptions:ExceptionMiddleware.__call__",
        f"{_WEB}.program_requests:until_disconnect",
        "codemode.service:CodeMode.execute",
    ),
    "authentication": ("codemode.serving.auth.key_check:KeyCheck.__call__",),
    "admission": (f"{_HTTP}.intake:Intake.__call__",),
    "create": (
        f"{_EXECUTIONS}.life.executions:Executions.execute",
        f"{_EXECUTIONS}.life.executions:Executions.start",
        f"{_EXECUTIONS}.life.launcher:Launcher.create",
        f"{_EXECUTIONS}.life.launcher:Launcher.begin",
        f"{_EXECUTIONS}.life.launcher:Launcher._attempt",
        f"{_EXECUTIONS}.life.runner:Runner.settings",
        f"{_EXECUTIONS}.life.runner:Runner.environment",
        f"{_EXECUTIONS}.life.runner:Runner.perform",
        f"{_EXECUTIONS}.life.runner:Runner.run",
        f"{_EXECUTIONS}.run.executor:Executor.run",
        f"{_EXECUTIONS}.run.executor:recorded_run",
    ),
    "create and end: journal": (
        f"{_JOURNAL}.sql.journal:SqlJournal.create",
        f"{_JOURNAL}.sql.journal:SqlJournal.finish",
        f"{_JOURNAL}.sqlite.journal:SqliteJournal._carry_out",
        f"{_JOURNAL}.postgres.journal:PostgresJournal._write",
    ),
    "fork": (
        f"{_HOST}.pool:Pool.acquire",
        f"{_HOST}.pool:Pool.fill",
        f"{_HOST}.pool:Pool._replace",
        f"{_HOST}.fork_server:ForkServer.fork",
        f"{_HOST}.fork_server:ForkServer._hear",
    ),
    "compile": (
        f"{_HOST}.sandbox:Sandbox.run",
        f"{_HOST}.compiled:CompiledPrograms.key",
        f"{_HOST}.session:Session.__init__",
        f"{_HOST}.session:Session.run",
    ),
    "preflight": (f"{_HOST}.session:Session._pass", f"{_EXECUTIONS}.run.executor:check"),
    "call: frame in": (
        f"{_HOST}.worker:Worker._read",
        f"{_HOST}.session:Session._received",
        f"{_HOST}.session:Conversation.received",
    ),
    "call: desk and session": (
        f"{_HOST}.calls:CallDesk.take",
        f"{_HOST}.calls:CallDesk._answer",
        f"{_HOST}.calls:CallDesk._ask",
        f"{_EXECUTIONS}.run.pipeline:Pipeline.answer",
        f"{_EXECUTIONS}.run.pipeline:Pipeline._make",
        f"{_EXECUTIONS}.run.pipeline:Pipeline._take_turn",
        f"{_EXECUTIONS}.run.pipeline:Pipeline._send",
        "codemode.gateway.gateway:Gateway.judge",
        "codemode.gateway.gateway:Gateway._pass",
    ),
    "call: identity": (
        f"{_EXECUTIONS}.run.replay.comparison:Comparison.identify",
        f"{_JOURNAL}.sql.journal:SqlJournal.digest",
    ),
    "call: validation": ("codemode.gateway.gateway:validate",),
    "call: policy": ("codemode.gateway.policy:AccessPolicy.ruling", "codemode.gateway.policy:AccessPolicy.count"),
    "call: ledger": (
        f"{_EXECUTIONS}.types.ledger:Ledger.take",
        f"{_EXECUTIONS}.types.ledger:Ledger.send",
        f"{_EXECUTIONS}.types.ledger:Ledger.finish",
    ),
    "call: redaction": (
        "codemode.gateway.redaction:Redaction.arguments",
        "codemode.gateway.redaction:Redaction.text",
        "codemode.transports.redaction:Redactor.answer",
    ),
    "call: journal, start": (
        f"{_EXECUTIONS}.run.pipeline:Pipeline._start",
        f"{_EXECUTIONS}.run.replay.recorder:JournalRecorder.start",
    ),
    "call: journal, answer": (f"{_EXECUTIONS}.run.replay.program_recording:ProgramRecording.deliver",),
    "call: journal, write": (
        f"{_EXECUTIONS}.run.replay.writer:JournalWriter.append",
        f"{_JOURNAL}.sql.group:GroupCommit.add",
        f"{_JOURNAL}.sql.group:GroupCommit._write",
        f"{_JOURNAL}.sqlite.journal:SqliteJournal._append_at_once",
        f"{_JOURNAL}.sqlite.journal:SqliteJournal._append_patiently",
    ),
    "call: transport, request": (
        f"{_TRANSPORT}.transport:RequestPlan.build",
        f"{_TRANSPORT}.exchange:Exchange._prepared",
    ),
    "call: transport, attempt": (
        f"{_TRANSPORT}.transport:HttpTransport._call",
        f"{_TRANSPORT}.transport:HttpTransport._attempt",
        f"{_TRANSPORT}.exchange:Exchange.send",
    ),
    "call: transport, HTTP": (
        f"{_TRANSPORT}.exchange:Exchange._once",
        f"{_TRANSPORT}.exchange:Exchange._read",
        f"{_TRANSPORT}.connections:ConnectionPool.send",
        f"{_TRANSPORT}.connection:Connection.send",
        f"{_TRANSPORT}.connection:Connection.read",
        f"{_TRANSPORT}.connection:Connection.data_received",
        "httpcore2:AsyncConnectionPool.handle_async_request",
    ),
    "call: answer decode": (f"{_TRANSPORT}.transport:HttpTransport._data",),
    "call: observed shapes": ("codemode.gateway.gateway:ObservedShapes.observe",),
    "call: frame out": (
        f"{_HOST}.calls:_encode_answer",
        f"{_HOST}.session:Session._send",
        f"{_HOST}.recording:Outbox._deliver",
        f"{_HOST}.worker:Worker.send",
        f"{_HOST}.worker:Worker._send_rest",
    ),
    "end": (
        f"{_HOST}.session:Session._stop",
        f"{_HOST}.session:Session._usage",
        f"{_HOST}.calls:CallDesk.close",
        f"{_HOST}.endings:Ending.outcome",
        f"{_EXECUTIONS}.run.executor:_outcome",
        f"{_EXECUTIONS}.run.executor:_outcome_of_recorded",
        f"{_EXECUTIONS}.life.attempts:OutcomeRecorder.record",
        f"{_EXECUTIONS}.types.outcome:ExecutionOutcome.to_json",
    ),
    "response": (
        f"{_WEB}.outgoing:DataResponse.__init__",
        f"{_WEB}.outgoing:DataResponse.__call__",
        f"{_WEB}.outgoing:Outgoing.__call__",
        "uvicorn.protocols.http.httptools_impl:RequestResponseCycle.send",
    ),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a stage. `owner` is the module or class with the attribute `name`."""

    stage: str
    owner: Any
    name: str

    @property
    def code(self) -> CodeType:
        """Its code, also after it was measured."""
        code: CodeType = inspect.unwrap(getattr(self.owner, self.name)).__code__
        return code

    @property
    def label(self) -> str:
        """Its file, first line and name: `sandbox/host/pool.py:64 acquire`."""
        return f"{short(self.code.co_filename)}:{self.code.co_firstlineno} {self.code.co_name}"

    def measure(self, clock: StageClock) -> None:
        """Replace the function with a measured one."""
        found = inspect.getattr_static(self.owner, self.name)
        function = found.__func__ if isinstance(found, staticmethod) else found
        measured: Any = clock.wrap(function, self.stage, self.label)
        setattr(self.owner, self.name, staticmethod(measured) if isinstance(found, staticmethod) else measured)


def short(file: str) -> str:
    """Return the path of a file below the folder of packages that it is in."""
    for package in ("codemode", "sandbox", "benchmarks"):
        if f"/{package}/" in file:
            return f"{package}/{file.rpartition(f'/{package}/')[2]}"
    return re.sub(r".*/(site-packages|python3\.\d+)/", "", file)


def resolved() -> Iterator[Function]:
    """Yield the functions of all stages. Raises LookupError for a name that does not exist."""
    for stage, names in STAGES.items():
        for name in names:
            yield _resolved(stage, name)


def _resolved(stage: str, name: str) -> Function:
    module, _, path = name.partition(":")
    *owners, last = path.split(".")
    try:
        owner: Any = importlib.import_module(module)
        for each in owners:
            owner = getattr(owner, each)
        inspect.getattr_static(owner, last)
    except (ImportError, AttributeError):
        message = f"the stage {stage!r} names {name}, which does not exist: mend benchmarks/path_parts/stages.py"
        raise LookupError(message) from None
    return Function(stage, owner, last)
