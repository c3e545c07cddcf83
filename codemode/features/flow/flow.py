"""The part of the flow rules: it gives each run its stage."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from codemode.executions.types.conversation import conversation_key
from codemode.features.feature import FeaturePart
from codemode.features.flow.marks import Marks
from codemode.features.flow.memory import Memory
from codemode.features.flow.rules import FlowRules
from codemode.settings.flow import QUARANTINE, FlowSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.executions.life.programs import Request
    from codemode.executions.run.stage import Staging
    from codemode.features.feature import Core
    from codemode.features.flow.stage import FlowStage
    from codemode.gateway.caller import Caller
    from codemode.settings import Settings
    from codemode.settings.model import ModelSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.factory import LoadedSource


ADVICE = (
    "Read and change in one program, without a look at the data in between: once you have seen texts that others "
    "wrote, a person is asked about each change."
)


class Flow(FeaturePart):
    """The flow rules of one service. They are off by default: `flow.mode`."""

    def __init__(
        self, current: Callable[[], Settings], store: ValueStore, digest: Callable[[Any], str] | None = None
    ) -> None:
        self._current = current
        self._digest = digest
        self._memory = Memory(store)
        self._settings = FlowSettings()
        self._marks, self._rules = Marks(self._settings), FlowRules(self._settings)
        self._extracting: tuple[ModelSettings, LoadedSource] | None = None

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart`."""
        executions = core.executions
        return cls(core.current, core.store, executions.access.journal.digest if executions is not None else None)

    async def applied(self, request: Request, caller: Caller) -> tuple[Request, dict[str, Any]]:
        """See `Part`. A program stays trusted that was written before its model had read anything of outsiders."""
        if self._current().flow.mode == "off" or self._digest is None:
            return request, {}
        from codemode.features.flow.stage import FLOW

        conversation = conversation_key(request.conversation, caller.id, self._digest)
        return request, {FLOW: asdict(await self._memory.recall(caller.id, conversation))}

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

    def advice(self) -> str:
        """See `Part`. A model that looks first and acts in a second program is asked about each change."""
        return "" if self._current().flow.mode == "off" else ADVICE

    def sources(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """See `FeaturePart`. Raises EnvironmentIncomplete if the key of the model is missing."""
        flow = self._current().flow
        if flow.mode == "off" or flow.extract is None:
            return {}
        if self._extracting is None or self._extracting[0] != flow.extract:
            from codemode.features.flow.extraction import extracting

            self._extracting = flow.extract, extracting(flow.extract)
        return {QUARANTINE: self._extracting[1]}
