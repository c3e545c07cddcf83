"""Who calls: decides what exists and what is allowed, and whose an execution is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codemode.settings import DEFAULT_ROLE
from codemode.transports.auth.credentials import NOBODY, CallerCredentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller that was authenticated, or the one on this machine. `secrets` must not be seen in any record.

    `credentials` are what it brings for services behind the tools, for one execution. `good_until` is when what it
    showed expires (seconds since 1970), where nobody can be asked whether it is still good; `is_let_in` asks whether it
    would be let in now, in the same role.
    """

    id: str
    role: str = DEFAULT_ROLE
    label: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    good_until: float | None = field(default=None, compare=False)
    is_let_in: Callable[[], bool] = field(default=_always, repr=False, compare=False)
    credentials: CallerCredentials = field(default=NOBODY, repr=False, compare=False)

    def is_still_good(self) -> bool:
        """Whether it would be let in now, with what it showed."""
        return self.is_let_in() and (self.good_until is None or time.time() < self.good_until)

    def bringing(self, credentials: Mapping[str, str]) -> Caller:
        """The same caller with credentials of its own, by the names under which the configuration asks for them."""
        brought = CallerCredentials(credentials)
        return replace(self, credentials=brought, secrets=(*self.secrets, *brought.secrets))


#: Whoever uses the service in its own process or on its own machine without a key.
LOCAL = Caller("local")
