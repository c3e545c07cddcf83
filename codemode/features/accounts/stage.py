"""The stage of accounts in a run: it says whose credentials each call uses, before anyone decides on the call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.executions.run.replay.dependencies import account_mark
from codemode.executions.run.stage import Stage
from codemode.features.accounts.errors import AccountChanged, ConnectionUnknown, NoConnection, NotConnected
from codemode.gateway.call import CallState
from codemode.transports.connected import LoginEnded

if TYPE_CHECKING:
    from codemode.errors import CallError
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.record import RecordedCall
    from codemode.features.accounts.connections import Connections
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.transports.auth.account import Account

#: States of calls that may still be sent.
_OPEN = (CallState.NOT_STARTED, CallState.PENDING)


class AccountStage(Stage):
    """Chooses the account of each call of one run: what the call names, else what its caller prefers, else the first.

    The host believes no name that the program says: it must be one of those that the caller may use. A run keeps the
    choice that it made first for a source, and the login behind it, also when it continues from its record.
    """

    def __init__(self, staging: Staging, connections: Connections) -> None:
        self._run = staging.run
        self._connections = connections
        self._decisions = staging.decisions
        self._defaults: dict[str, str] = {}  # by source
        self._marks: dict[tuple[str, str], str] = {}  # by source and connection
        self._of_calls: dict[str, str] = {}  # the connection of each call, by its path
        recording = staging.decisions.recording if staging.decisions else None
        for call in sorted(recording.record.calls.values(), key=lambda call: call.sequence) if recording else ():
            self._recall(call)

    def _recall(self, call: RecordedCall) -> None:
        """Keep what an earlier part of the run has chosen."""
        tool = self._run.catalog.get(call.tool) if call.tool in self._run.catalog else None
        if tool is None or not call.mark:
            return
        connection = call.account.partition(" ")[0]
        self._of_calls[call.path] = connection
        if call.end is not None or call.effect != Effect.READ:  # a read without an answer has told nothing
            self._marks.setdefault((tool.source, connection), call.mark)
        if tool.account_parameter not in call.arguments:
            self._defaults.setdefault(tool.source, connection)

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall:
        """Return the call with its account, or with the reason why there is none. See `Stage`."""
        tool = judged.tool
        if tool is None or judged.state not in _OPEN or tool.source not in self._connections.all():
            return judged
        own = self._connections.usable(tool.source, self._run.caller)
        named = judged.arguments.get(tool.account_parameter)
        connection = await self._default(tool.source) if named is None else named
        if not own:
            return self._refused(judged, NoConnection(tool.source))
        if not isinstance(connection, str) or connection not in own:
            return self._refused(judged, ConnectionUnknown(tool.source, connection, own))
        account = await self._account(tool.source, connection)
        if account is None:
            return await self._log_in(judged, tool.source, connection)
        return self._as(judged, account, is_read_only=own[connection].read_only)

    async def follow(self, judged: JudgedCall, first: str) -> JudgedCall:
        """Return the call with the account of the call that it follows. See `Stage`."""
        tool, connection = judged.tool, self._of_calls.get(first)
        if tool is None or connection is None:
            return judged
        if connection not in self._connections.usable(tool.source, self._run.caller):
            return self._refused(judged, NoConnection(tool.source))
        account = await self._account(tool.source, connection)
        if account is None:
            return self._refused(judged, NotConnected(tool.source, connection, self._where(tool.source, connection)))
        return self._as(judged, account, is_read_only=False)

    async def sent(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Wait for another login if that of the call has ended, and the call can be made again. See `Stage`."""
        tool, account = judged.tool, judged.account
        if not isinstance(outcome.error, LoginEnded) or tool is None or account is None:
            return
        await asyncio.to_thread(self._connections.logins.forget, tool.source, account)
        may_be_repeated = judged.call.path not in self._run.started or tool.effect is Effect.READ
        if self._decisions is not None and may_be_repeated:
            asks = self._asks(tool.source, account.connection)
            await self._decisions.pause_for_login(replace(judged, account=None), asks)

    async def _log_in(self, judged: JudgedCall, source: str, connection: str) -> JudgedCall:
        """Wait for a login of the caller, or fail the call in a run without a record."""
        if self._decisions is not None:
            await self._decisions.pause_for_login(judged, self._asks(source, connection))
        return self._refused(judged, NotConnected(source, connection, self._where(source, connection)))

    def _asks(self, source: str, connection: str) -> dict[str, str]:
        """Return the question for a login."""
        return {
            "mode": "url",
            "message": f"log in at {source} ({connection}) for this call; {self._where(source, connection)}",
            "url": self._connections.link(source, connection),
            "source": source,
            "connection": connection,
        }

    def _where(self, source: str, connection: str) -> str:
        link = self._connections.link(source, connection)
        return f"log in: {link}" if link else f"run: codemode auth login {source}/{connection}"

    async def _account(self, source: str, connection: str) -> Account | None:
        """Return the account, None if nobody is logged in. Who is asked meanwhile hears of this call."""
        with self._run.floor.busy():
            return await asyncio.to_thread(self._connections.account, source, connection, self._run.caller)

    async def _default(self, source: str) -> str:
        """Return the connection of calls that name none, the same one for the whole run. "" if there is none."""
        if source not in self._defaults:
            with self._run.floor.busy():
                chosen = await asyncio.to_thread(self._connections.choice, source, self._run.caller)
            first = next(iter(self._connections.usable(source, self._run.caller)), "")
            self._defaults.setdefault(source, chosen or first)
        return self._defaults[source]

    def _as(self, judged: JudgedCall, account: Account, *, is_read_only: bool) -> JudgedCall:
        """Return the call with an account, unless that may not make it or is another one than before."""
        tool = judged.tool
        assert tool is not None  # noqa: S101 - who calls this has looked
        whose = replace(judged, account=account)
        if self._marks.setdefault((tool.source, account.connection), self._mark(whose)) != self._mark(whose):
            return self._refused(judged, AccountChanged(tool.source, account.connection))
        self._of_calls[judged.call.path] = account.connection
        self._run.ledger.credit(whose)
        if is_read_only and tool.effect is not Effect.READ:
            reason = f"the connection {account.connection} of {tool.source} is for reads only"
            return self._run.amend(whose.denied("connections", reason))
        return whose

    def _mark(self, judged: JudgedCall) -> str:
        """Return what tells accounts apart: as the journal keeps it, or as it is in a run without a record."""
        if self._decisions is None:
            return repr(judged.account and judged.account.key)
        return account_mark(judged, self._decisions.recording.journal.digest)

    def _refused(self, judged: JudgedCall, error: CallError) -> JudgedCall:
        """Return the call as one that fails before it is sent."""
        refused = replace(judged, ruling=None, error=error)
        self._run.ledger.take(refused)
        return refused
