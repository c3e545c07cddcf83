"""Errors of calls whose account cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Iterable


class ConnectionUnknown(CallError):
    """The caller has no connection of this name. One that only others may use is none, too."""

    code = "connection_unknown"

    def __init__(self, source: str, name: object, own: Iterable[str]) -> None:
        yours = ", ".join(own)
        choice = f"yours: {yours}" if yours else "you have none: ask the operator"
        super().__init__(f"there is no connection {str(name)[:80]!r} of {source}; {choice}; nothing was sent")


class NoConnection(CallError):
    """None of the connections of a source is for the caller."""

    code = "no_connection"

    def __init__(self, source: str) -> None:
        super().__init__(f"no connection of {source} is for this caller: ask the operator; nothing was sent")


class NotConnected(CallError):
    """The caller has to log in first. `where` says where."""

    code = "not_connected"

    def __init__(self, source: str, connection: str, where: str) -> None:
        super().__init__(f"you are not logged in at {source} ({connection}); {where}; nothing was sent")


class AccountChanged(CallError):
    """The connection belongs to another account than earlier in the same execution."""

    code = "account_changed"

    def __init__(self, source: str, connection: str) -> None:
        super().__init__(
            f"the connection {connection} of {source} has another login than when this execution used it first;"
            " nothing was sent. Run the program again"
        )
