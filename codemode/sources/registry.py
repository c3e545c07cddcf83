"""Source kinds by name: the built-in ones and those of other packages."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, EnvironmentIncomplete
from codemode.settings.sources import KINDS, SOURCES_GROUP
from codemode.shared.extras import remedy

if TYPE_CHECKING:
    from codemode.sources.source import Source

#: The folders of built-in kinds that are not named like their kind.
_FOLDERS = {"python": "functions", "toolkit": "toolkits"}


def source_of(kind: str) -> Source:
    """Return the source function of a kind.

    Raises EnvironmentIncomplete if a required package is not installed, and ConfigurationError if the entry point is
    ambiguous or broken.
    """
    try:
        if kind in KINDS:  # imported on first use: some take half a second or need an extra
            built_in: Source = importlib.import_module(f"codemode.sources.{_FOLDERS.get(kind, kind)}.source").load
            return built_in
        (entry_point,) = entry_points(group=SOURCES_GROUP, name=kind)
        loaded: Source = entry_point.load()
    except ImportError as error:
        message = f"kind: {kind} cannot be used: {error}{remedy(error)}"
        raise EnvironmentIncomplete(message) from error
    except (ValueError, AttributeError) as error:
        message = f"kind: {kind} cannot be used: several packages register it, or its entry point is broken: {error}"
        raise ConfigurationError(message) from error
    return loaded
