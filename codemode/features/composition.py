"""The features of one service: what its settings need, and the parts that they made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from codemode.errors import ConfigurationError
from codemode.features.all import FEATURES
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.executions.plugins.plugin import Plugin
    from codemode.executions.run.stage import Stage, StageOf, Staging
    from codemode.features.feature import Core, Feature
    from codemode.gateway.caller import Caller
    from codemode.search.query import Hits, Learned
    from codemode.settings import Settings
    from codemode.sources.factory import LoadedSource

P = TypeVar("P", bound=FeaturePart)


class Features:
    """The features that a service was made with. Raises ConfigurationError for a section of another feature."""

    def __init__(self, features: Sequence[Feature], settings: Settings) -> None:
        self._features = tuple(features)
        self._parts: dict[type[FeaturePart], FeaturePart] = {}
        for feature in FEATURES:
            if feature.section in settings.used_sections and feature not in self._features:
                message = f"`{feature.section}` is configured, and this service was made without this feature"
                raise ConfigurationError(message)

    @property
    def stages(self) -> tuple[StageOf, ...]:
        """The makers of stages, in order."""
        return tuple(partial(self._stage, feature.part) for feature in self._features if feature.part is not None)

    @property
    def routes(self) -> tuple[str, ...]:
        """The functions that add HTTP routes."""
        return tuple(feature.routes for feature in self._features if feature.routes)

    def _stage(self, kind: type[FeaturePart], staging: Staging) -> Stage | None:
        part = self._parts.get(kind)
        return part.stage(staging) if part is not None else None

    def plugins(self, settings: Settings) -> tuple[list[Plugin], list[Plugin]]:
        """Return the plugins that are asked before all others, and those that are asked after them."""
        made = [feature.plugins(settings) for feature in self._features if feature.plugins is not None]
        return [one for first, _ in made for one in first], [one for _, last in made for one in last]

    def open(self, core: Core) -> tuple[FeaturePart, ...]:
        """Build the parts for a service that opens. Raises ConfigurationError."""
        made = [feature.part.of(core) for feature in self._features if feature.part is not None]
        self._parts = {type(part): part for part in made if part is not None}
        return tuple(self._parts.values())

    def remarks(self, sources: Collection[str], caller: Caller) -> list[str]:
        """Return what a caller should know of sources whose tools a search has found. It may wait for a store."""
        return [remark for part in self._parts.values() for remark in part.remarks(sources, caller)]

    def advice(self) -> str:
        """Return what models should know when they write programs."""
        return " ".join(filter(None, (part.advice() for part in self._parts.values())))

    def searched(self, hits: Hits, caller: Caller, conversation: str) -> None:
        """Tell the features what a search has found."""
        for part in self._parts.values():
            part.searched(hits, caller, conversation)

    async def learned(self, caller: Caller) -> Learned | None:
        """Return what raises tools in the searches of a caller, of the first feature that has something."""
        for part in self._parts.values():
            learned = await part.learned(caller)
            if learned is not None:
                return learned
        return None

    def used(self) -> list[tuple[str, str]]:
        """Return queries, each with the tool that was called after it."""
        return [pair for part in self._parts.values() for pair in part.used()]

    def have_changed(self) -> bool:
        """Return whether the features' own sources would differ after `refresh`."""
        return any(part.has_changed() for part in self._parts.values())

    def refresh(self) -> None:
        """Read what the features' own sources are made from."""
        for part in self._parts.values():
            part.refresh()

    def own_sources(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """Return the features' own sources by name. `catalog` has the tools of all others."""
        return {name: source for part in self._parts.values() for name, source in part.sources(catalog).items()}

    def find(self, kind: type[P]) -> P | None:
        """Return the part of this kind, None if there is none."""
        part = self._parts.get(kind)
        return part if isinstance(part, kind) else None

    def part(self, kind: type[P]) -> P:
        """Return the part of this kind. Raises ConfigurationError."""
        part = self.find(kind)
        if part is not None:
            return part
        is_on = any(feature.part is kind for feature in self._features)
        raise ConfigurationError(kind.absent if is_on else f"this service was made without {kind.__name__}")
