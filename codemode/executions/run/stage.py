"""What a feature adds to a run: a stage of its own in the pipeline of each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.context import RunContext
    from codemode.executions.run.inner_run import InnerPrograms
    from codemode.executions.run.recorder import Recorder
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.record import End, RecordedCall
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from sandbox import Call


class Calls(Protocol):
    """The pipeline, as far as a stage makes calls with it."""

    @property
    def recorder(self) -> Recorder:
        """Return who keeps the record."""
        ...

    async def answer(self, call: Call, within: SavedProgram | None = None) -> Any:
        """Return the value of a call of the saved program `within`. See `Pipeline.answer`."""
        ...


class Stage:
    """Base class of stages. Override what the feature needs; `codemode.executions.run.pipeline` has the order."""

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """Decide on a call before anyone else. See `codemode.executions.run.deciders.Decide`."""
        return judged

    async def follow(self, judged: JudgedCall, first: str) -> JudgedCall:
        """Return a call that reads what the call at the path `first` began. It needs no decision of its own."""
        return judged

    async def sent(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Take how a call ended, before that is recorded. Raises ProgramStopped if the execution must wait."""

    def runs(self, judged: JudgedCall) -> bool:
        """Return whether `run` makes this allowed call. It is then not sent."""
        return False

    async def run(self, judged: JudgedCall, pipeline: Calls) -> Any:
        """Return the value of a call. Raises CallFailed, and ProgramStopped if the execution stops."""
        raise NotImplementedError

    def labelled(self, path: str, label: Mapping[str, Any]) -> None:
        """Take what a service says of the answer that comes: who wrote it, and who may read it."""

    def answered(self, path: str, value: Any) -> None:
        """Take the value of a call that succeeded."""

    def failed(self, path: str, message: str) -> None:
        """Take the message of a call that was sent and failed."""

    def told(self, function: str, value: Any) -> None:
        """Take what a function that a feature binds (`load`) has answered."""

    async def ended(self, outcome: ExecutionOutcome) -> None:
        """Take the outcome of the run."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The program of a run, its inputs, and its conversation, "" for none. A dry run sends no writes."""

    code: str
    inputs: Mapping[str, Any]
    conversation: str
    is_dry: bool = False


@dataclass(frozen=True, slots=True)
class Staging:
    """What the stages of one run are made from. `decisions` are None for a run without a record."""

    assignment: Assignment
    run: RunContext
    decisions: Decisions | None
    programs: InnerPrograms


#: Returns what a feature adds to a run, None for nothing.
StageOf = Callable[[Staging], "Stage | None"]
