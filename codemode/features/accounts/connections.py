"""The connections of sources: which of them a caller may use, which it prefers, and its account at each."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from codemode.errors import WrongArgument
from codemode.features.accounts.errors import ConnectionUnknown
from codemode.features.accounts.logins import Logins
from codemode.text.times import has_passed
from codemode.transports.auth.account import Account

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.gateway.caller import Caller
    from codemode.settings import ConnectionSettings, Settings
    from codemode.shared.values import LockableValue, ValueStore


class Connections:
    """The connections of the present settings, and what callers have chosen."""

    def __init__(self, settings: Callable[[], Settings], store: ValueStore) -> None:
        self._settings = settings
        self._store = store
        self.logins = Logins(settings, store)

    def all(self) -> dict[str, Mapping[str, ConnectionSettings]]:
        """Return the connections of each source that has any."""
        return {name: one.connections for name, one in self._settings().sources.items() if one.connections}

    def has_logins(self) -> bool:
        """Return whether callers log in anywhere."""
        return any(
            one.is_own and self.logins.is_needed(source, name)
            for source, connections in self.all().items()
            for name, one in connections.items()
        )

    def usable(self, source: str, caller: Caller) -> dict[str, ConnectionSettings]:
        """Return the connections of a source that a caller may use, in order. Empty for a source without any."""
        connections = self.all().get(source, {})
        return {name: one for name, one in connections.items() if one.role in ("", caller.role)}

    def account(self, source: str, connection: str, caller: Caller) -> Account | None:
        """Return the account of a caller at one of its connections, None if the caller must log in first.

        Waits for the store.
        """
        if not self.usable(source, caller)[connection].is_own:
            return Account(connection)
        account = Account(connection, owner=caller.id)
        if not self.logins.is_needed(source, connection):
            return account
        tokens = self.logins.tokens(source, account)
        is_over = tokens is None or (not tokens.refresh_token and has_passed(tokens.expires_at, time.time()))
        return None if tokens is None or is_over else replace(account, mark=tokens.login, identity=tokens.identity)

    def link(self, source: str, connection: str) -> str:
        """Return the address where callers log in, "" if the server has no public address. It holds no secret."""
        base = self._settings().server.public_url.rstrip("/")
        return f"{base}/console/accounts/{source}/{connection}" if base else ""

    def choice(self, source: str, caller: Caller) -> str:
        """Return the connection that a caller prefers, "" if it has not chosen one that it may use."""
        chosen = _choices(self._of(caller).read()).get(source, "")
        return chosen if chosen in self.usable(source, caller) else ""

    def choose(self, source: str, connection: str, caller: Caller) -> None:
        """Remember the connection that a caller prefers, "" for the first one in the settings.

        It applies to programs that start from now on. Raises ConnectionUnknown, and WrongArgument for a source without
        connections.
        """
        own = self.usable(source, caller)
        if source not in self.all():
            message = f"{source} has no connections; with connections: {', '.join(self.all()) or 'none'}"
            raise WrongArgument(message)
        if connection and connection not in own:
            raise ConnectionUnknown(source, connection, own)

        def change(data: bytes | None) -> bytes:
            choices = {name: one for name, one in _choices(data).items() if name != source}
            return json.dumps({"choices": choices | ({source: connection} if connection else {})}).encode()

        self._of(caller).change(change)

    def _of(self, caller: Caller) -> LockableValue:
        """Return the value with a caller's choices. No caller reads another's."""
        name = blake2b(caller.id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self._store.value("accounts", name)


def _choices(data: bytes | None) -> dict[str, str]:
    try:
        choices = json.loads(data or b"{}")["choices"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {str(name): str(one) for name, one in choices.items()} if isinstance(choices, dict) else {}
