"""The interface of shared values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from codemode.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

#: What a value is. `keys`, `shapes`, `answers`, `usage`, `sessions`, `programs` and `decisions` have one value with the
#: name "". `continuations` and `flow` have one for each first byte of an id, `budgets` one for each budget, `accounts`
#: one for each caller, `feedback` one for each role, and the others one for each source, `tokens` also for each
#: account.
Kind = Literal[
    "keys",
    "shapes",
    "answers",
    "usage",
    "sessions",
    "programs",
    "continuations",
    "flow",
    "budgets",
    "decisions",
    "ids",
    "documents",
    "tokens",
    "accounts",
    "feedback",
    "definitions",
    "instructions",
]

#: Errors of a store that cannot be read or written.
UNAVAILABLE = (OSError, ExecutionError)


class Latest(NamedTuple):
    """A value as last seen, None if there is none. A different version means that the value was replaced."""

    data: bytes | None
    version: Hashable


class SharedValue(Protocol):
    """One value. `title` says what it is and where, for messages.

    `read` and `change` wait for the store, `latest` does not. All raise OSError for a file, JournalUnavailable for a
    database, and JournalDamaged for a value that was changed by hand.
    """

    @property
    def title(self) -> str:
        """See above."""
        ...

    def read(self) -> bytes | None:
        """Return the value, None if there is none."""
        ...

    def latest(self) -> Latest:
        """Return the value as another server last changed it, at most a second ago.

        The first call for a value waits for the store. If a database does not answer, the value is returned for a
        bounded time, then JournalUnavailable is raised.
        """
        ...

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        """Replace the value by what `function` returns for the present one, None to leave it.

        No other server changes the value meanwhile. Errors of `function` are raised, and nothing is changed.
        """
        ...


class LockableValue(SharedValue, Protocol):
    """A value that one server at a time may work on, while the others go on reading it."""

    def remove(self) -> bool:
        """Remove the value. Return whether there was one."""
        ...

    def try_lock(self) -> Callable[[], None] | None:
        """Lock the value until the returned function is called, which does not wait, or this process ends.

        None if another server holds the lock. `read` and `change` do not need it.
        """
        ...


class ValueStore(Protocol):
    """The values of a project.

    For `repeats_s` seconds, what another server has fetched is as good as fetching it again: 0 on one machine.
    """

    repeats_s: float

    def value(self, kind: Kind, name: str = "") -> LockableValue:
        """Return a value, which need not exist."""
        ...

    def on_change(self, kind: Kind, function: Callable[[str], None]) -> None:
        """Call `function` with the name of each value of a kind that another server changes, in another thread.

        Stores of one machine never call it.
        """
        ...

    def open(self) -> None:
        """Begin to connect, and to look for changes. Raises ConfigurationError."""
        ...

    def close(self) -> None:
        """Disconnect. The next use connects again."""
        ...
