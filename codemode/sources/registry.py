"""Source kinds by name: the built-in ones and those of other packages."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, EnvironmentIncomplete
from codemode.settings import SOURCES_GROUP

if TYPE_CHECKING:
    from codemode.sources.source import Source

#: The module of each source kind, imported on first use: some take half a second or need an extra.
_MODULES = {
    "openapi": "codemode.sources.openapi.source",
    "python": "codemode.sources.functions.source",
    "mcp": "codemode.sources.mcp.source",
    "toolkit": "codemode.sources.toolkits.source",
    "graphql": "codemode.sources.graphql.source",
    "aws": "codemode.sources.aws.source",
    "google": "codemode.sources.google.source",
}

#: The extra that installs a package, by the package's import name.
EXTRAS = {"graphql": "graphql", "botocore": "aws", "googleapiclient": "google", "langchain_core": "langchain"}


def source_of(kind: str) -> Source:
    """Return the source function of a kind.

    Raises EnvironmentIncomplete if a required package is not installed, and ConfigurationError if the entry point is
    ambiguous or broken.
    """
    try:
        if kind in _MODULES:
            built_in: Source = importlib.import_module(_MODULES[kind]).load
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


def remedy(error: ImportError) -> str:
    """Return "; pip install …" if an extra installs the missing module, else an empty string."""
    extra = EXTRAS.get((error.name or "").partition(".")[0])
    return f"; pip install 'codemode[{extra}]'" if extra else ""
