"""Identify HTTP callers by configured keys, keys made with `codemode keys`, or tokens of an issuer."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.configured import store_of
from codemode.executions.types.records import GOOD_UNTIL, READ_ONLY
from codemode.gateway.caller import Caller
from codemode.serving.auth.issuer_login import IssuerLogin
from codemode.serving.auth.keys import keys_of
from codemode.serving.auth.protected_resource import ProtectedResource
from codemode.serving.auth.tokens import TokenCheck, TokenRefused
from codemode.settings import DEFAULT_ROLE, Secrets
from codemode.shared.files import KEY_FILE, MOVED
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.types.records import NewExecution
    from codemode.serving.auth.keys import Keys, StoredKey
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore

log = logging.getLogger(__name__)

#: The caller on a server that never had a key. Such a server listens on loopback only.
ANYBODY = Caller("anybody")


class Callers:
    """Identifies callers.

    `configured` maps keys to callers, and `roles` are the roles that the policy knows. With `had_keys` a key is
    required even if none exists here now. `login` is how people log in at the issuer of the `tokens`, None for not.
    """

    def __init__(
        self,
        configured: Mapping[str, Caller],
        keys: Keys,
        *,
        tokens: TokenCheck | None = None,
        login: IssuerLogin | None = None,
        roles: tuple[str, ...] = (DEFAULT_ROLE,),
        had_keys: bool = False,
    ) -> None:
        self._configured = [(hashlib.sha256(key.encode()).digest(), caller) for key, caller in configured.items()]
        self._keys = keys
        self._tokens = tokens
        self._roles = roles
        self._had_keys = had_keys
        self.login = login

    @classmethod
    def of(cls, settings: Settings, store: ValueStore | None = None) -> Callers:
        """Create from settings, with the keys in `store`, None for the store of the settings.

        Raises ConfigurationError if a secret is missing, JournalUnavailable.
        """
        configured = {}
        for number, key in enumerate(settings.server.keys, 1):
            try:
                text = key.secret.resolve().get_secret_value()
            except ConfigurationError as error:
                message = f"{settings.place('server', 'keys', number - 1)}: {error}"
                raise ConfigurationError(message) from None
            label = key.label or f"key {number}"
            id_ = f"configured:{_short(text)}"
            configured[text] = Caller(id_, key.role, label, secrets=(text,), read_only=key.read_only)
        resource = ProtectedResource.of(settings.server)
        resources = () if resource is None else resource.identifiers
        tokens = None if settings.server.tokens is None else TokenCheck(settings.server.tokens, resources)
        login = None if tokens is None else _login(settings, tokens)
        roles = settings.policy.known_roles()
        keys = keys_of(settings, store or store_of(settings, Secrets()))
        try:
            keys.adopt()
        except ConfigurationError as error:
            log.warning("%s", error)
        lost = "" if keys.is_in_use() else _lost_keys(settings)  # this reads them now: no request waits for a database
        if lost:
            log.warning("%s, or create new keys with `codemode keys create`", lost)
        return cls(configured, keys, tokens=tokens, login=login, roles=roles, had_keys=bool(lost))

    @property
    def is_open(self) -> bool:
        """Whether callers need no key: none is configured, and none was ever created. Raises JournalUnavailable."""
        if self._configured or self._tokens is not None or self._had_keys:
            return False
        return not self._keys.is_in_use()

    @property
    def unchecked(self) -> Literal["none", "stored", "all"]:
        """Which keys cannot be checked now, because their database does not answer."""
        try:
            self._keys.is_in_use()
        except JournalUnavailable:
            return "stored" if self._configured or self._tokens is not None else "all"
        return "none"

    async def identify(self, authorization: str) -> Caller | None:
        """Return the caller of an Authorization header, or None. Every unknown key takes the same time.

        Raises JournalUnavailable if the keys that `codemode keys` made are not known well enough now.
        """
        scheme, _, given = authorization.partition(" ")
        presented = given.strip()
        if scheme.lower() != "bearer" or not presented:
            return None
        digest = hashlib.sha256(presented.encode("utf-8", "surrogateescape")).digest()
        found = [caller for known, caller in self._configured if hmac.compare_digest(known, digest)]
        if found:
            return found[0]
        return await self._by_token(presented) if TokenCheck.is_token(presented) else self._stored(presented)

    def person(self, id_: str, role: str, label: str, good_until: float) -> Caller | None:
        """Return somebody who logged in at the issuer, or None if they could not do so in this role now."""
        is_given = self.login is not None and self._tokens is not None and self._tokens.gives(id_, role)
        is_over = has_passed(good_until, time.time())
        return Caller(id_, role, label, good_until=good_until) if is_given and not is_over else None

    def label_of(self, owner: str) -> str:
        """Return the label of a key by the id of its caller, the id itself for a key that is unknown or has none."""
        configured = next((caller.label for _, caller in self._configured if caller.id == owner), "")
        kind, _, id_ = owner.partition(":")
        return configured or (self._keys.label_of(id_) if kind == "key" else "") or owner

    def role_of(self, given: NewExecution) -> str | None:
        """Return the current role of the caller who started an execution, or None if they would be rejected now.

        A key that has become read-only continues no execution that it started before. A role granted by a token holds
        until the token expires. Owners with an id of another form belong to an
        embedding application, which authenticates them itself.
        """
        kind, _, id_ = given.owner.partition(":")
        configured = next((caller for _, caller in self._configured if caller.id == given.owner), None)
        if configured is not None:
            is_narrowed = configured.read_only and not given.settings.get(READ_ONLY, False)
            return None if is_narrowed else configured.role
        match kind:
            case "key":
                role = self._keys.role_of(id_)
                return role if role in self._roles else None
            case "token":
                is_good = not has_passed(given.settings.get(GOOD_UNTIL) or 0, time.time())
                is_given = self._tokens is not None and self._tokens.gives(given.owner, given.role)
                return given.role if is_good and is_given else None
            case "configured":
                return None
        return None if given.owner == ANYBODY.id and not self.is_open else given.role

    def _stored(self, presented: str) -> Caller | None:
        key = self._keys.find(presented)
        if key is None:
            return None
        if key.role not in self._roles:
            log.warning("key %s rejected: its role %r is not in policy.roles", key.id, key.role)
            return None
        still = partial(self._is_still, key)
        caller = Caller(f"key:{key.id}", key.role, key.label, secrets=(presented,), is_authorized=still)
        return replace(caller, read_only=key.read_only)

    def _is_still(self, key: StoredKey) -> bool:
        return self._keys.role_of(key.id) == key.role

    async def _by_token(self, presented: str) -> Caller | None:
        if self._tokens is None:
            return None
        try:
            return await self._tokens.caller(presented)
        except TokenRefused as refused:
            log.info("token rejected: %s", refused)
            return None


def roles_of_today(settings: Settings, store: ValueStore) -> Callable[[NewExecution], str | None]:
    """Return `Callers.role_of` for a process without an HTTP server.

    The settings are read on the first call, which may raise ConfigurationError.
    """
    callers = cache(lambda: Callers.of(settings, store))
    return lambda given: callers().role_of(given)


def _lost_keys(settings: Settings) -> str:
    """Return where keys are that this server does not read any more, with advice, else ""."""
    moved = settings.state() / f"{KEY_FILE}{MOVED}"
    if moved.exists():
        return f"the keys were moved to a database (see {moved}), and are missing: set `journal.url` to it, restore it"
    return settings.left_behind(KEY_FILE)


def _login(settings: Settings, check: TokenCheck) -> IssuerLogin | None:
    tokens = settings.server.tokens
    if tokens is None or not tokens.client_id:
        return None
    try:
        secret = "" if tokens.client_secret is None else tokens.client_secret.resolve().get_secret_value()
    except ConfigurationError as error:
        message = f"{settings.place('server', 'tokens', 'client_secret')}: {error}"
        raise ConfigurationError(message) from None
    return IssuerLogin(settings.server, tokens, check, client_secret=secret)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
