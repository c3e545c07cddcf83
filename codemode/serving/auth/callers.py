"""Who calls over HTTP: keys of the configuration, keys that `codemode keys` made, and tokens of an issuer."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from functools import cache, partial
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.executions.journal.base import GOOD_UNTIL
from codemode.gateway.caller import Caller
from codemode.serving.auth.keys import KeyFile
from codemode.serving.auth.tokens import TokenCheck, TokenRefused
from codemode.settings import DEFAULT_ROLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.journal.base import NewExecution
    from codemode.serving.auth.keys import StoredKey
    from codemode.settings import Settings

log = logging.getLogger(__name__)

#: Whoever calls where no key was ever made: on loopback only.
ANYBODY = Caller("anybody")

#: The file of keys in the state folder.
KEY_FILE = "keys.json"


class Callers:
    """Identifies callers. `configured` maps keys to callers, `roles` are those that the policy knows.

    With `had_keys` nobody is let in without a key, though none is here now.
    """

    def __init__(
        self,
        configured: Mapping[str, Caller],
        file: KeyFile,
        *,
        tokens: TokenCheck | None = None,
        roles: tuple[str, ...] = (DEFAULT_ROLE,),
        had_keys: bool = False,
    ) -> None:
        self._configured = [(hashlib.sha256(key.encode()).digest(), caller) for key, caller in configured.items()]
        self._file = file
        self._tokens = tokens
        self._roles = roles
        self._had_keys = had_keys

    @classmethod
    def of(cls, settings: Settings) -> Callers:
        """As the configuration has them. Raises ConfigurationError for a secret that is not there."""
        configured = {}
        for number, key in enumerate(settings.server.keys, 1):
            try:
                text = key.secret.resolve().get_secret_value()
            except ConfigurationError as error:
                message = f"{settings.place('server', 'keys', number - 1)}: {error}"
                raise ConfigurationError(message) from None
            label = key.label or f"key {number}"
            configured[text] = Caller(f"configured:{_short(text)}", key.role, label, secrets=(text,))
        tokens = None if settings.server.tokens is None else TokenCheck(settings.server.tokens)
        roles = settings.policy.known_roles()
        file = key_file(settings)
        try:
            file.adopt()
        except ConfigurationError as error:
            log.warning("%s", error)
        left_behind = settings.left_behind(KEY_FILE)
        if left_behind:
            log.warning("%s, or make others with `codemode keys create`", left_behind)
        return cls(configured, file, tokens=tokens, roles=roles, had_keys=bool(left_behind))

    @property
    def is_open(self) -> bool:
        """Whether nobody needs a key: none is configured, and none was ever made."""
        is_in_use = self._had_keys or self._file.is_in_use()
        return not self._configured and self._tokens is None and not is_in_use

    async def identify(self, authorization: str) -> Caller | None:
        """Who sends that header, or None. Takes the same time for every key that is none."""
        scheme, _, given = authorization.partition(" ")
        presented = given.strip()
        if scheme.lower() != "bearer" or not presented:
            return None
        digest = hashlib.sha256(presented.encode("utf-8", "surrogateescape")).digest()
        found = [caller for known, caller in self._configured if hmac.compare_digest(known, digest)]
        return found[0] if found else self._stored(presented) or await self._by_token(presented)

    def role_of(self, given: NewExecution) -> str | None:
        """The role that who started an execution has today, None where he would not be let in.

        What a token allowed holds until it expires. Ids that are none of ours are of an application that knows better.
        """
        kind, _, id_ = given.owner.partition(":")
        configured = next((caller.role for _, caller in self._configured if caller.id == given.owner), None)
        if configured is not None:
            return configured
        match kind:
            case "key":
                role = self._file.role_of(id_)
                return role if role in self._roles else None
            case "token":
                is_good = time.time() < (given.settings.get(GOOD_UNTIL) or 0)
                is_given = self._tokens is not None and self._tokens.gives(given.owner, given.role)
                return given.role if is_good and is_given else None
            case "configured":
                return None
        return None if given.owner == ANYBODY.id and not self.is_open else given.role

    def _stored(self, presented: str) -> Caller | None:
        key = self._file.find(presented)
        if key is None:
            return None
        if key.role not in self._roles:
            log.warning("key %s is refused: its role %r is none of policy.roles", key.id, key.role)
            return None
        still = partial(self._is_still, key)
        return Caller(f"key:{key.id}", key.role, key.label, secrets=(presented,), is_let_in=still)

    def _is_still(self, key: StoredKey) -> bool:
        return self._file.role_of(key.id) == key.role

    async def _by_token(self, presented: str) -> Caller | None:
        if self._tokens is None or not TokenCheck.is_token(presented):
            return None
        try:
            return await self._tokens.caller(presented)
        except TokenRefused as refused:
            log.info("a token is refused: %s", refused)
            return None


def roles_of_today(settings: Settings) -> Callable[[NewExecution], str | None]:
    """`Callers.role_of` where none are served: read when it is first asked. Raises ConfigurationError then."""
    callers = cache(lambda: Callers.of(settings))
    return lambda given: callers().role_of(given)


def key_file(settings: Settings) -> KeyFile:
    """The keys of a project."""
    return KeyFile(settings.state() / KEY_FILE, project=settings.project)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
