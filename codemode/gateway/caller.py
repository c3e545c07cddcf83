"""The caller of a tool: its role decides which tools exist, and its id owns executions."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codemode.settings import DEFAULT_ROLE
from codemode.text.times import has_passed
from codemode.transports.auth.credentials import NOBODY, CallerCredentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller, or the local one. `secrets` must not appear in any record.

    `credentials` are the caller's own credentials for upstream services, for one execution. `is_authorized` returns
    whether the caller would be authenticated now, in the same role. `good_until` is the expiry of a token that nobody
    can check again, in seconds since 1970. Writes of a `read_only` caller are denied.
    """

    id: str
    role: str = DEFAULT_ROLE
    label: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    good_until: float | None = field(default=None, compare=False)
    is_authorized: Callable[[], bool] = field(default=_always, repr=False, compare=False)
    credentials: CallerCredentials = field(default=NOBODY, repr=False, compare=False)
    read_only: bool = False

    def is_still_good(self) -> bool:
        """Return whether the caller would be authenticated now, with the same key or token."""
        return self.is_authorized() and (self.good_until is None or not has_passed(self.good_until, time.time()))

    def bringing(self, credentials: Mapping[str, str]) -> Caller:
        """Return the caller with its own credentials, by the names in `{caller: NAME}` of the configuration."""
        brought = CallerCredentials(credentials)
        return replace(self, credentials=brought, secrets=(*self.secrets, *brought.secrets))


#: The caller in the same process or on the same machine, without a key.
LOCAL = Caller("local")
