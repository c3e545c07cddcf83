"""The part of the flow rules: it gives each run its stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from codemode.features.feature import FeaturePart
from codemode.features.flow.marks import Marks
from codemode.features.flow.memory import Memory
from codemode.features.flow.rules import FlowRules
from codemode.settings.flow import QUARANTINE, FlowSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.executions.run.stage import Staging
    from codemode.features.feature import Core
    from codemode.features.flow.stage import FlowStage
    from codemode.settings import Settings
    from codemode.settings.model import ModelSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.factory import LoadedSource


class Flow(FeaturePart):
    """The flow rules of one service. They are off by default: `flow.mode`."""

    def __init__(self, current: Callable[[], Settings], store: ValueStore) -> None:
        self._current = current
        self._memory = Memory(store)
        self._settings = FlowSettings()
        self._marks, self._rules = Marks(self._settings), FlowRules(self._settings)
        self._extracting: tuple[ModelSettings, LoadedSource] | None = None

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart`."""
        return cls(core.current, core.store)

    def stage(self, staging: Staging) -> FlowStage | None:
        """See `FeaturePart`. The rules are those of the last reload."""
        settings = self._current().flow
        if settings.mode == "off":
            return None
        from codemode.features.flow.stage import FlowStage

        if settings != self._settings:
            self._settings, self._rules = settings, FlowRules(settings)
            self._marks = Marks(settings, self._marks.labels)
        return FlowStage(staging, self._marks, self._rules, self._memory)

    def sources(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """See `FeaturePart`. Raises EnvironmentIncomplete if the key of the model is missing."""
        flow = self._current().flow
        if flow.mode == "off" or flow.extract is None:
            return {}
        if self._extracting is None or self._extracting[0] != flow.extract:
            from codemode.features.flow.extraction import extracting

            self._extracting = flow.extract, extracting(flow.extract)
        return {QUARANTINE: self._extracting[1]}
