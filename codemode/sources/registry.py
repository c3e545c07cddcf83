"""The kinds of API surface that there are: those of codemode, and those that other packages bring."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, EnvironmentIncomplete
from codemode.settings import SOURCES_GROUP

if TYPE_CHECKING:
    from codemode.sources.source import Source

#: Where each is read. A module is imported when a source of its kind is: some need half a second, or an extra.
_MODULES = {
    "openapi": "codemode.sources.openapi.source",
    "python": "codemode.sources.functions.source",
    "mcp": "codemode.sources.mcp.source",
    "toolkit": "codemode.sources.toolkits.source",
    "graphql": "codemode.sources.graphql.source",
    "aws": "codemode.sources.aws.source",
    "google": "codemode.sources.google.source",
}

#: The extra of codemode that a module belongs to, by the module's first name.
EXTRAS = {"graphql": "graphql", "botocore": "aws", "googleapiclient": "google", "langchain_core": "langchain"}


def source_of(kind: str) -> Source:
    """What reads a kind of source. Raises ConfigurationError where it needs a package that is not there."""
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
        message = f"kind: {kind} cannot be used: several packages bring it, or its entry point names nothing: {error}"
        raise ConfigurationError(message) from error
    return loaded


def remedy(error: ImportError) -> str:
    """What to install, where the missing module is one of an extra."""
    extra = EXTRAS.get((error.name or "").partition(".")[0])
    return f"; pip install 'codemode[{extra}]'" if extra else ""
