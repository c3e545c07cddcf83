"""Logins of callers at the services behind connections: authorization code with PKCE, in the caller's own browser.

What a login has begun with is kept for its caller alone, is good for one answer, and ends after some minutes. So an
answer that comes to another caller, comes twice, or belongs to another attempt is worth nothing.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import time
from dataclasses import asdict, fields, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from codemode.errors import CallError, ConfigurationError
from codemode.settings import OAuth2Credential
from codemode.text.times import has_passed
from codemode.transports.auth.account import Account
from codemode.transports.auth.credentials import Credential
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.token_store import token_name, token_store
from codemode.transports.oauth.client_document import CONSOLE_CALLBACK, client_address
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.settings import Settings, SourceSettings
    from codemode.shared.values import LockableValue, ValueStore
    from codemode.transports.auth.token_store import Tokens
    from codemode.transports.oauth.login import BegunLogin

log = logging.getLogger(__name__)

#: Characters of an identity.
_LONGEST_IDENTITY = 200

#: Seconds for a person to log in at the issuer.
ATTEMPT_S = 900.0

#: The place of what logins have begun with, beside the tokens. No source has this name.
_BEGUN = "_begun"

_OF_LOGIN = ("source", "authorization_url", "ca_file", "issuer", "names_issuer", "server", "revocation_url")
_OF_GRANT = tuple(one.name for one in fields(OAuthGrant) if one.name != "store")


class LoginRefused(CallError):
    """The answer of an issuer is not taken."""

    code = "login_refused"


class Logins:
    """Who is logged in with which account, and how to log in."""

    def __init__(self, settings: Callable[[], Settings], store: ValueStore) -> None:
        self._settings = settings
        self._store = store

    def is_needed(self, source: str, connection: str) -> bool:
        """Return whether the credentials of a connection come from a login."""
        own = self._of(source, connection)
        if any(isinstance(one, OAuth2Credential) and one.is_login for one in own.credentials):
            return True
        return not own.credentials and bool(own.login_server)

    def tokens(self, source: str, account: Account) -> Tokens | None:
        """Return the tokens of an account, None if nobody is logged in where the source is now. Waits for the store."""
        stored = token_store(source, replace(account, mark=""), self._store).read()
        own = self._of(source, account.connection)
        return stored if stored is not None and (not stored.server or stored.server == own.login_server) else None

    async def begin(self, source: str, account: Account) -> str:
        """Return the address of the issuer's page, where the owner of an account logs in.

        Raises ConfigurationError without `server.public_url`, and CallError if the issuer cannot be used.
        """
        from codemode.sources.logins import discovered_login, planned_login
        from codemode.transports.oauth.login import begin
        from codemode.transports.oauth.registration import OwnClient

        settings = self._settings()
        public_url = settings.server.public_url.rstrip("/")
        if not public_url:
            raise ConfigurationError("set server.public_url: the issuer sends browsers back there after the login")
        login = planned_login(source, self._of(source, account.connection), self._store, account)
        if login is None:
            client = OwnClient(document=client_address(public_url))
            login = await discovered_login(source, settings, self._store, client, account)
        begun = await begin(login, public_url + CONSOLE_CALLBACK, secrets.token_urlsafe(24))
        self._place(account.owner).change(lambda _: _encoded(begun, account, time.time() + ATTEMPT_S))
        return begun.address

    async def finish(self, answer: Mapping[str, str], owner: str) -> tuple[str, Account]:
        """Store the tokens of a login that the issuer has answered, and return its source and account.

        `answer` has the parameters with which the browser of `owner` came back. Raises LoginRefused, CallError.
        """
        from codemode.transports.oauth.login import code_in, finish

        begun, account = self._taken(answer.get("state", ""), owner)
        if account.connection not in self._settings().sources[begun.login.source].connections:
            raise LoginRefused("the connection was removed meanwhile: log in again")
        tokens = await self._identified(begun.login.source, account, await finish(begun, code_in(answer, begun.login)))
        token_store(begun.login.source, account, self._store).write(tokens)
        return begun.login.source, replace(account, mark=tokens.login)

    def forget(self, source: str, account: Account) -> None:
        """Delete the tokens of a login that has ended, unless there is another one by now."""
        store = token_store(source, account, self._store)
        if store.read() is not None:
            store.remove()

    async def _identified(self, source: str, account: Account, tokens: Tokens) -> Tokens:
        """Return tokens with who is logged in. Without an answer to that, every login is another person's."""
        own = self._settings().sources[source]
        wanted, base = own.connections[account.connection].identity, own.base_url or own.location
        if wanted is None:
            return tokens if tokens.login else replace(tokens, login=secrets.token_hex(16))
        identity = await _asked(source, base.rstrip("/") + wanted.path, wanted.field, tokens.access_token)
        if not identity:
            return replace(tokens, login=secrets.token_hex(16), identity="")
        return replace(tokens, login=blake2b(identity.encode(), digest_size=16).hexdigest(), identity=identity)

    async def end(self, source: str, account: Account) -> bool:
        """Delete the tokens of an account, and revoke them where the issuer can. Return whether there were any."""
        from codemode.sources.logins import ca_file_of, planned_login
        from codemode.transports.oauth.login import Login, log_out
        from codemode.transports.oauth.stored_login import grant_in

        store = token_store(source, replace(account, mark=""), self._store)
        tokens, own = store.read(), self._of(source, account.connection)
        if tokens is None or not store.remove():
            return False
        login = planned_login(source, own, self._store, account)
        if login is None:
            grant = grant_in(tokens, store)
            login = Login(source, grant, revocation_url=tokens.revocation_url, ca_file=ca_file_of(own))
        await log_out(login, tokens)
        return True

    def _of(self, source: str, connection: str) -> SourceSettings:
        return self._settings().sources[source].with_connection(connection)

    def _place(self, owner: str) -> LockableValue:
        return self._store.value("tokens", token_name(_BEGUN, Account("", owner)))

    def _taken(self, state: str, owner: str) -> tuple[BegunLogin, Account]:
        """Return what a login of a caller began with, once. Raises LoginRefused."""
        taken: list[dict[str, Any]] = []

        def take(data: bytes | None) -> bytes | None:
            stored = json.loads(data or b"{}")
            if not stored or not hmac.compare_digest(str(stored["state"]).encode(), state.encode("utf-8", "replace")):
                return None
            taken.append(stored)
            return b"{}"

        self._place(owner).change(take)
        if not taken:
            raise LoginRefused("this answer belongs to no login of yours, or was used before: begin again")
        if has_passed(taken[0]["ends"], time.time()):
            raise LoginRefused("the login has taken too long: begin again")
        return _decoded(taken[0], owner)


async def _asked(source: str, url: str, field: str, token: str) -> str:
    """Return the field of the answer that says who is logged in, "" if the service does not say it."""
    from codemode.transports.oauth.exchange import open_exchange
    from codemode.transports.oauth.tokens import document_at

    exchange = open_exchange(source, (url,))
    try:
        answer: Any = await document_at(url, exchange, Credential.bearer(token))
    except CallError as error:
        log.warning("%s does not say who is logged in: %s", source, Redactor((token,)).text(str(error)))
        return ""
    finally:
        await exchange.aclose()
    for name in field.split("."):
        answer = answer.get(name) if isinstance(answer, dict) else None
    text = str(answer) if isinstance(answer, (str, int)) else ""
    return text[:_LONGEST_IDENTITY] if text.isprintable() else ""


def _encoded(begun: BegunLogin, account: Account, ends: float) -> bytes:
    login, grant = begun.login, begun.login.grant
    return json.dumps(
        {
            "login": {name: getattr(login, name) for name in _OF_LOGIN},
            "grant": {name: getattr(grant, name) for name in _OF_GRANT},
            "account": asdict(account),
            "ends": ends,
            **{name: getattr(begun, name) for name in ("redirect_url", "address", "state", "verifier")},
        }
    ).encode()


def _decoded(stored: Mapping[str, Any], owner: str) -> tuple[BegunLogin, Account]:
    from codemode.transports.oauth.login import BegunLogin, Login

    grant = OAuthGrant(**{**stored["grant"], "scopes": tuple(stored["grant"]["scopes"])})
    login = Login(grant=grant, **stored["login"])
    begun = BegunLogin(login, stored["redirect_url"], stored["address"], stored["state"], stored["verifier"])
    return begun, replace(Account(**stored["account"]), owner=owner)
