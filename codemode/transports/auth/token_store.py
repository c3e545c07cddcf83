"""Tokens of logins: one shared value per source, safe for concurrent processes and servers."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Hashable

    from codemode.shared.values import LockableValue, ValueStore
    from codemode.transports.auth.account import Account

log = logging.getLogger(__name__)

#: Poll interval for a lock that another process holds during a renewal, in seconds.
_LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens of a login. `expires_at` is in seconds since 1970; `token_url` and `client_id` identify the grant.

    A login without settings also stores the rest of its grant, `server`, the address that its tokens are for, and
    `revocation_url`. `wanted` are further scopes, for which the server has asked since. `login` tells the login of an
    account from one of another person, and `identity` is who it is at the service, where that is known.
    """

    access_token: str
    refresh_token: str
    expires_at: float
    token_url: str
    client_id: str
    scope: str = ""
    client_secret: str = ""
    secret_in_body: bool = False
    resource: str = ""
    server: str = ""
    revocation_url: str = ""
    wanted: str = ""
    login: str = ""
    identity: str = ""

    def __repr__(self) -> str:
        return f"Tokens({self.token_url}, {self.client_id})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return tuple(secret for secret in (self.access_token, self.refresh_token, self.client_secret) if secret)

    def replaces(self, data: bytes | None, spent: Tokens | None) -> bytes | None:
        """Return these tokens encoded in place of `spent` ones, None if the stored ones are others by now."""
        stored = _parsed(data)
        if stored is None or spent is None or stored.secrets != spent.secrets:
            return None
        return _encoded(replace(self, wanted=stored.wanted))


class TokenStore:
    """The tokens of one source, in a shared value.

    If they cannot be written (full disk), `read` still returns the new tokens, and the lock is held until they are
    written: another process would use the spent refresh token. With `login`, tokens of any other login are not read.
    """

    def __init__(self, value: LockableValue, source: str, login: str = "") -> None:
        self._value = value
        self._source = source
        self._login = login
        self._unwritten: Tokens | None = None
        self._written: Tokens | None = None
        self._is_reported = False
        self._turn = asyncio.Lock()
        self._unlock: Callable[[], None] | None = None
        self._server: tuple[Hashable, str] | None = None

    def is_for(self, server: str) -> bool:
        """Return whether somebody is logged in at a server now. Waits for the store at most once."""
        try:
            data, version = self._value.latest()
        except UNAVAILABLE:
            return False
        if self._server is None or self._server[0] != version:
            stored = _parsed(data)
            is_other = stored is None or (self._login and stored.login != self._login)
            self._server = version, "" if stored is None or is_other else stored.server
        return bool(server) and self._server[1] == server

    @property
    def is_behind(self) -> bool:
        """Whether there are unwritten tokens."""
        return self._unwritten is not None

    def read(self) -> Tokens | None:
        """Return the stored tokens, None if there are none or they are unreadable."""
        try:
            tokens = self._unwritten or _parsed(self._value.read())
        except UNAVAILABLE:
            return None
        return None if tokens is not None and self._login and tokens.login != self._login else tokens

    def keep(self, renewed: Tokens, before: Tokens) -> None:
        """Replace spent tokens, later if writing fails now. Call it inside `locked`."""
        if self._unwritten is None:
            self._written = before
        self._unwritten = renewed
        self._write_late()

    async def keep_late(self) -> None:
        """Retry writing unwritten tokens."""
        if self.is_behind:
            async with self.locked():
                await asyncio.to_thread(self._write_late)

    async def aclose(self) -> None:
        """Retry writing unwritten tokens a last time, and release the lock."""
        await self.keep_late()
        if self.is_behind:
            self._unwritten = None
            self._release()

    def write(self, tokens: Tokens) -> None:
        """Replace the stored tokens atomically. Raises OSError, JournalUnavailable."""
        self._value.change(lambda _: _encoded(tokens))

    def want(self, scopes: str) -> None:
        """Note scopes that the next login must ask for. Raises OSError, JournalUnavailable."""

        def change(data: bytes | None) -> bytes | None:
            stored = _parsed(data)
            if stored is None or set(scopes.split()) <= set(stored.wanted.split()):
                return None
            wanted = dict.fromkeys((*stored.wanted.split(), *scopes.split()))
            return _encoded(replace(stored, wanted=" ".join(wanted)))

        self._value.change(change)

    def remove(self) -> bool:
        """Delete the tokens. Return whether there were any. Raises OSError, JournalUnavailable."""
        return self._value.remove()

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Keep other processes from renewing these tokens: a refresh token may be valid for one use only."""
        async with self._turn:
            if self._unlock is None:
                self._unlock = await self._locked()
            try:
                yield
            finally:
                if not self.is_behind:
                    self._release()

    async def _locked(self) -> Callable[[], None]:
        while True:
            attempt = asyncio.ensure_future(asyncio.to_thread(self._value.try_lock))
            try:
                unlock = await asyncio.shield(attempt)
            except asyncio.CancelledError:
                attempt.add_done_callback(_unlock_again)
                raise
            if unlock is not None:
                return unlock
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _release(self) -> None:
        if self._unlock is not None:
            self._unlock()
            self._unlock = None

    def _write_late(self) -> None:
        """Write unwritten tokens, unless someone has logged in or out meanwhile. Log a failure once."""
        if self._unwritten is None:
            return
        renewed, before = self._unwritten, self._written
        try:
            self._value.change(lambda data: renewed.replaces(data, before))
        except UNAVAILABLE as error:
            if not self._is_reported:
                why = getattr(error, "strerror", None) or error
                message = "the renewed login at %s cannot be stored (%s): it is lost when this process ends"
                log.error(message, self._source, why)
            self._is_reported = True
            return
        self._unwritten = self._written = None
        self._is_reported = False


def token_store(source: str, account: Account, tokens: ValueStore) -> TokenStore:
    """Return where the tokens of an account of a source are. Nobody else's account has the same place."""
    return TokenStore(tokens.value("tokens", token_name(source, account)), source, account.mark)


def token_name(source: str, account: Account) -> str:
    """Return the name of the value with an account's tokens. The id of an owner can be any text."""
    owner = blake2b(account.owner.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if account.owner else ""
    return ".".join(filter(None, (source, account.connection, owner)))


def _encoded(tokens: Tokens) -> bytes:
    return json.dumps(asdict(tokens)).encode()


def _parsed(data: bytes | None) -> Tokens | None:
    try:
        content = json.loads(data or b"")
        return Tokens(**{field.name: content[field.name] for field in fields(Tokens) if field.name in content})
    except (ValueError, KeyError, TypeError):
        return None


def _unlock_again(attempt: asyncio.Future[Callable[[], None] | None]) -> None:
    """Release a lock that was taken after its caller had given up."""
    if not attempt.cancelled() and attempt.exception() is None and (unlock := attempt.result()) is not None:
        unlock()
