"""Decisions of people on pending calls: by an approver that the caller's own program asks, or elsewhere."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from codemode.errors import ApprovalRefused, ConfigurationError, WrongArgument
from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.model.host import Host
    from codemode.settings import Settings

_EXAMPLE = "{approval id: True or False}"

#: Pending calls that a command and links name.
_NAMED = 5


class Decisions:
    """Decides on the pending calls of a caller in the name of an approver, if there is one.

    Raises ConfigurationError if the approver may not decide.
    """

    def __init__(self, host: Host, caller: Caller, approver: Caller | None) -> None:
        if approver is not None:
            _check_approver(host.settings, caller, approver)
        self._host = host
        self._caller = caller
        self._approver = approver

    @property
    def has_approver(self) -> bool:
        """Whether there is an approver."""
        return self._approver is not None

    async def pending(self, execution: str) -> Sequence[PendingCall]:
        """Return the calls of the caller's execution on which the approver must decide. Raises ExecutionNotFound."""
        if self._approver is None or not execution:
            return ()
        await self._host.executions.get(execution, self._caller)
        waiting = await self._host.executions.approvals(self._approver, execution)
        return [call for call in waiting if call.kind == "approval"]

    async def record(self, execution: str, verdicts: Mapping[str, bool]) -> None:
        """Record verdicts by call id. Raises WrongArgument, ExecutionNotFound."""
        WrongArgument.unless(verdicts, dict, "verdicts", _EXAMPLE)
        for verdict in verdicts.values():
            WrongArgument.unless(verdict, bool, "each verdict", _EXAMPLE)
        approver = self._approver
        if approver is None:
            return
        decisions = [
            Decision(
                call.id, call.digest, "approved" if verdicts[call.id] else "rejected", approver.id, via="framework"
            )
            for call in await self.pending(execution)
            if call.id in verdicts
        ]
        with suppress(ApprovalRefused):  # another approver was faster
            await self._host.executions.decide(decisions, approver)


def shown(questions: Sequence[PendingCall]) -> list[dict[str, Any]]:
    """Return pending calls as JSON data for a person: `id`, `tool`, `arguments`, `reason` and `host`."""
    names = ("id", "tool", "arguments", "reason", "host")
    return [{name: value for name, value in call.to_json().items() if name in names} for call in questions]


def ways_to_decide(ended: ExecutionOutcome, settings: Settings, *, asks_in_client: bool) -> str:
    """Return how a person decides on the approvals of a paused execution, "" if none is pending."""
    calls = [call.id for call in ended.pending if call.kind == "approval"][:_NAMED]
    if not calls or not settings.keeps_journal:
        return ""
    ways = [f"`codemode approvals approve {' '.join(calls)}` on its machine"]
    if settings.server.public_url:
        base = settings.server.public_url.rstrip("/")
        ways.append(" ".join(f"{base}/console/approvals/{call}" for call in calls))
    if asks_in_client and settings.approvals.in_client == "off":
        ways.append("in this client, once the operator sets approvals.in_client: single_user")
    return f"tell the user where an approver decides: {', or '.join(ways)}"


def _check_approver(settings: Settings, caller: Caller, approver: Caller) -> None:
    WrongArgument.unless(approver, Caller, "approver", "Caller(id, role) creates one")
    roles = settings.policy.approvers
    problem = ""
    if not settings.keeps_journal:
        problem = "pauses need the journal: set `journal.enabled: true`"
    elif approver.role not in roles:
        problem = f"the role {approver.role} is not in policy.approvers ({', '.join(sorted(roles)) or 'empty'})"
    elif approver.id == caller.id:
        problem = f"{approver.id} is the caller too, and nobody approves the calls of the same key"
    if problem:
        message = f"approver {approver.id}: {problem}"
        raise ConfigurationError(message)
