"""The account of a call: which credentials of its source it uses, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """One connection of a source, for one caller.

    - `connection`: its name in the settings. It is "" for the source itself, as it reads its definitions.
    - `owner`: the id of the caller whose own it is, "" for a connection that several callers share.
    - `mark`: tells a login from the one before it, "" for credentials of the settings.
    - `identity`: who it is at the service, in the service's words, "" if that is unknown.

    Nothing that was learned with one account is used with another: everything kept is kept by `key`.
    """

    connection: str
    owner: str = ""
    mark: str = ""
    identity: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all other accounts of its source."""
        return self.connection, self.owner, self.mark

    @property
    def shown(self) -> str:
        """The account as people see it: `work (ann@example.com)`."""
        return f"{self.connection} ({self.identity})" if self.identity else self.connection


#: The account with which a source reads its own definitions. No call of a program has it.
READER = Account("")
