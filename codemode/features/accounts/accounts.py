"""Accounts: connections of sources, the choices and logins of callers, and the account of each call."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from codemode.errors import ApprovalRefused, CodeModeError, JournalUnavailable
from codemode.executions.types.records import Decision
from codemode.features.accounts.connections import Connections
from codemode.features.accounts.errors import ConnectionUnknown
from codemode.features.accounts.stage import AccountStage
from codemode.features.feature import Core, FeaturePart
from codemode.transports.auth.account import Account

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codemode.executions.life.executions import Executions
    from codemode.executions.run.stage import Stage, Staging
    from codemode.executions.types.records import PendingCall
    from codemode.gateway.caller import Caller

log = logging.getLogger(__name__)

#: Seconds between looks for logins that ended elsewhere: on another server, or on the command line.
LOOK_S = 2.0

#: Waiting calls of one look.
_MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class AccountState:
    """What a caller knows of one of its connections.

    `is_login` says whether it is used after a login of the caller, who `is_connected` or finds the login at `link`.
    `expires` is when a login ends that cannot be renewed, in seconds since 1970, 0 for others.
    """

    source: str
    connection: str
    label: str
    owner: str
    is_login: bool
    is_connected: bool
    is_default: bool
    identity: str = ""
    expires: float = 0.0
    link: str = ""


class Accounts(FeaturePart):
    """Says as whom each call is made, and lets callers log in."""

    def __init__(self, connections: Connections, executions: Executions | None = None) -> None:
        #: What the settings have, and what callers prefer.
        self.connections = connections
        self._executions = executions
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart.of`. The settings can get connections later, by a reload."""
        return cls(Connections(core.current, core.store), core.executions)

    def stage(self, staging: Staging) -> Stage | None:
        """Return the stage of a run, None if no source has connections."""
        return AccountStage(staging, self.connections) if self.connections.all() else None

    # --- callers ------------------------------------------------------------------------------------------------

    def choose(self, source: str, connection: str, caller: Caller) -> None:
        """Remember the connection that a caller prefers. See `Connections.choose`."""
        self.connections.choose(source, connection, caller)

    def remarks(self, sources: Collection[str], caller: Caller) -> Sequence[str]:
        """See `Part`. Say as whom the caller is connected, or where to log in."""
        known = [one for one in self.states(caller) if one.source in sources] if self.connections.all() else []
        said: dict[str, list[str]] = {}
        for one in known:
            is_choice = len(self.connections.all()[one.source]) > 1
            said.setdefault(one.source, []).append(_remark(one, is_choice=is_choice))
        return [f"{source}: {'; '.join(remarks)}" for source, remarks in said.items()]

    def states(self, caller: Caller) -> tuple[AccountState, ...]:
        """Return the connections that a caller may use, and no others. Waits for the store."""
        return tuple(
            self._state(source, name, caller)
            for source in self.connections.all()
            for name in self.connections.usable(source, caller)
        )

    def _state(self, source: str, name: str, caller: Caller) -> AccountState:
        own = self.connections.usable(source, caller)
        account, is_login = self.connections.account(source, name, caller), self._is_login(source, name, caller)
        tokens = self.connections.logins.tokens(source, account) if is_login and account is not None else None
        return AccountState(
            source,
            name,
            own[name].label,
            own[name].owner,
            is_login=is_login,
            is_connected=account is not None,
            is_default=name == (self.connections.choice(source, caller) or next(iter(own))),
            identity=account.identity if account is not None else "",
            expires=tokens.expires_at if tokens is not None and not tokens.refresh_token else 0.0,
            link=self.connections.link(source, name) if is_login and account is None else "",
        )

    def _is_login(self, source: str, connection: str, caller: Caller) -> bool:
        own = self.connections.usable(source, caller)
        return own[connection].is_own and self.connections.logins.is_needed(source, connection)

    async def log_in(self, source: str, connection: str, caller: Caller) -> str:
        """Return the address of the issuer's page for a login of a caller.

        Raises ConnectionUnknown if this caller cannot log in there, ConfigurationError, CallError.
        """
        return await self.connections.logins.begin(source, self._own(source, connection, caller))

    async def logged_in(self, answer: Mapping[str, str], caller: Caller) -> tuple[str, str]:
        """Take the issuer's answer to a login, and continue what waits for it. Return the source and the connection.

        Raises LoginRefused, CallError.
        """
        source, account = await self.connections.logins.finish(answer, caller.id)
        log.info("%s logged in at %s (%s)", caller.id, source, account.connection)
        await self._go_on(caller.id)
        return source, account.connection

    async def log_out(self, source: str, connection: str, caller: Caller) -> bool:
        """End a login of a caller. Return whether there was one. Raises ConnectionUnknown, CallError."""
        return await self.connections.logins.end(source, self._own(source, connection, caller))

    def _own(self, source: str, connection: str, caller: Caller) -> Account:
        own = self.connections.usable(source, caller)
        logins = [name for name in own if self._is_login(source, name, caller)]
        if connection not in logins:
            raise ConnectionUnknown(source, connection, logins)
        return Account(connection, owner=caller.id)

    # --- executions that wait for a login ---------------------------------------------------------------------------

    def opened(self) -> None:
        """See `Part`. Look for logins that end elsewhere."""
        self._watching = asyncio.create_task(self._watch(), name="executions that wait for logins")

    async def aclose(self) -> None:
        """See `Part`."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching

    async def resuming(self, execution: str) -> None:
        """See `Part`. Answer the questions whose logins there are by now."""
        assert self._executions is not None  # noqa: S101 - they call this
        journal = self._executions.access.journal
        for question in await journal.pending(execution=execution):
            if question.kind == "login" and await self._is_answered(question):
                decision = Decision(question.id, question.digest, "answered", by="the login", via="login")
                with suppress(ApprovalRefused):  # another server was faster
                    await journal.decide([decision])

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            with suppress(JournalUnavailable):
                await self._go_on()

    async def _go_on(self, owner: str = "") -> None:
        """Continue the executions that wait for a login that there is by now, of one owner or of all."""
        executions = self._executions
        if executions is None or not self.connections.has_logins():
            return
        waiting = await executions.access.journal.waiting(owner=owner, kinds=("login",), limit=_MOST_WAITING)
        for execution in dict.fromkeys([one.execution for one in waiting if await self._is_answered(one)]):
            stored = await executions.access.visible.stored(execution)
            try:
                await executions.resume(execution, executions.owner(stored.request))
            except CodeModeError as error:  # such as LeaseHeld: another server was faster
                log.info("%s does not go on after the login: %s", execution, error)

    async def _is_answered(self, question: PendingCall) -> bool:
        """Return whether the login that a question asks for has been made."""
        executions = self._executions
        if executions is None:
            return False
        if question.omitted:
            question = next(iter(await executions.access.journal.pending(question=question.id)), question)
        asks = question.asks
        if asks is None:
            return False
        owner = executions.owner((await executions.access.visible.stored(question.execution)).request)
        source, connection = asks["source"], asks["connection"]
        if connection not in self.connections.usable(source, owner):
            return False
        return await asyncio.to_thread(self.connections.account, source, connection, owner) is not None


def _remark(state: AccountState, *, is_choice: bool) -> str:
    """Return what a search says of a connection of its caller."""
    default = " (default)" if state.is_default else ""
    name = f" by connection={state.connection!r}{default}" if is_choice else ""
    if state.is_connected:
        return f"connected{f' as {state.identity}' if state.identity else ''}{name}"
    where = f"log in at {state.link}" if state.link else f"run codemode auth login {state.source}/{state.connection}"
    return f"not connected{name}: {where}"
