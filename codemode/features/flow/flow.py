"""The part of the flow rules: it gives each run its stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from codemode.features.feature import FeaturePart
from codemode.features.flow.marks import Marks
from codemode.features.flow.memory import Memory
from codemode.features.flow.rules import FlowRules

if TYPE_CHECKING:
    from codemode.executions.run.stage import Staging
    from codemode.features.feature import Core
    from codemode.features.flow.stage import FlowStage
    from codemode.settings.flow import FlowSettings
    from codemode.shared.values import ValueStore


class Flow(FeaturePart):
    """The flow rules of one service. They are off by default: `flow.mode`."""

    absent = "flow rules are off here: set `flow.mode: on` in the configuration"

    def __init__(self, settings: FlowSettings, store: ValueStore) -> None:
        self._marks = Marks(settings)
        self._rules = FlowRules(settings)
        self._memory = Memory(store)

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        return cls(core.settings.flow, core.store) if core.settings.flow.mode != "off" else None

    def stage(self, staging: Staging) -> FlowStage:
        """See `FeaturePart`."""
        from codemode.features.flow.stage import FlowStage

        return FlowStage(staging, self._marks, self._rules, self._memory)
