"""What the stages of one run share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codemode.errors import ArgumentsInvalid
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.run.left_calls import LeftCalls
from codemode.executions.run.service_waits import ServiceWaits
from codemode.gateway.call import CallState
from codemode.gateway.policy import Tally

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.floor import Floor
    from codemode.executions.types.ledger import Ledger
    from codemode.gateway.call import JudgedCall, ToolCall
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway


@dataclass(frozen=True, slots=True)
class RunContext:
    """The execution, the door to its tools, its caller, and where its calls are listed, queued and counted.

    `started` holds the paths of the calls whose start was recorded in this run, `left` those that go on by themselves.
    `waits` are those for the limits of services.
    """

    execution: str
    gateway: Gateway
    caller: Caller
    ledger: Ledger
    floor: Floor
    hooks: Hooks = NO_HOOKS
    tally: Tally = field(default_factory=Tally)
    started: set[str] = field(default_factory=set)
    left: LeftCalls = field(default_factory=LeftCalls)
    waits: ServiceWaits = field(default_factory=ServiceWaits)

    @property
    def catalog(self) -> Catalog:
        """Return the catalog that the program can call."""
        return self.gateway.catalog

    def judge(self, call: ToolCall) -> JudgedCall:
        """Judge a call and add it to the ledger."""
        return self.take(self.gateway.judge(call))

    def take(self, judged: JudgedCall) -> JudgedCall:
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

    def amend(self, judged: JudgedCall) -> JudgedCall:
        """Record a new decision on a call, and return the call."""
        self.ledger.amend(judged)
        return judged
