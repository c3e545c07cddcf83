"""Accounts: connections of sources, the choices of callers, and the account of each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from codemode.features.accounts.connections import Connections
from codemode.features.accounts.stage import AccountStage
from codemode.features.feature import Core, FeaturePart

if TYPE_CHECKING:
    from codemode.executions.run.stage import Stage, Staging
    from codemode.gateway.caller import Caller


class Accounts(FeaturePart):
    """Says as whom each call is made."""

    def __init__(self, connections: Connections) -> None:
        #: What the settings have, and what callers prefer.
        self.connections = connections

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart.of`. The settings can get connections later, by a reload."""
        return cls(Connections(core.current, core.store))

    def stage(self, staging: Staging) -> Stage | None:
        """Return the stage of a run, None if no source has connections."""
        return AccountStage(staging, self.connections) if self.connections.all() else None

    def choose(self, source: str, connection: str, caller: Caller) -> None:
        """Remember the connection that a caller prefers. See `Connections.choose`."""
        self.connections.choose(source, connection, caller)
