"""Who calls: decides what exists and what is allowed, and whose an execution is."""

from __future__ import annotations

from dataclasses import dataclass, field

from codemode.settings import DEFAULT_ROLE


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller that was authenticated, or the one on this machine. `secrets` must not be seen in any record."""

    id: str
    role: str = DEFAULT_ROLE
    label: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)


#: Whoever uses the service in its own process or on its own machine without a key.
LOCAL = Caller("local")
