"""The names of native functions: which tool a model means, and what to say of a name that no tool has."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rapidfuzz import process

from codemode.catalog.definitions import native_name
from codemode.errors import CodeModeError
from codemode.model.definitions import HAS_MENU, RUNS_PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.settings import ModeName

#: Prefixes that some models put before a function name.
_PREFIXES = ("functions.", "tools.", "default_api.")

#: Names suggested at most, and how similar each is, from 0 to 100.
_SUGGESTED, _SIMILAR = 3, 70

#: Offered names that are listed if none is similar.
_LISTED = 10


def offered_name(name: str, names: Container[str]) -> str:
    """Return the name as it is offered: without a prefix, with a hyphen for each dot, or unchanged."""
    if name in names:
        return name
    bare = next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)
    return next((one for one in (bare, bare.replace(".", "-")) if one in names), bare)


def native_names(catalog: Catalog) -> Mapping[str, Tool]:
    """Return the tools of a catalog by function name. They are read once for each catalog."""
    names = _names.get(catalog)
    if names is None:
        names = _names[catalog] = {native_name(tool): tool for tool in catalog}
    return names


_names: WeakKeyDictionary[Catalog, Mapping[str, Tool]] = WeakKeyDictionary()


def tool_of(name: str, catalog: Catalog) -> Tool | None:
    """Return a tool by function name, id or exact alias, None if the catalog has no such tool."""
    return catalog.get(name) if name in catalog else native_names(catalog).get(name)


def unknown_name(name: str, catalog: Catalog, offered: Sequence[str], mode: ModeName) -> str:
    """Return a message about an unknown name, with the closest of the `offered` names and of the catalog's."""
    if mode == "off":
        return "no tools are offered here: the mode is off"
    near = [one for one, _, _ in process.extract(name, offered, limit=_SUGGESTED, score_cutoff=_SIMILAR)]
    try:
        catalog.get(name)
    except CodeModeError as error:
        near += [one for one in getattr(error, "nearest", ()) if one not in near]
    if near:
        return f"there is no tool {name!r}; closest: {', '.join(near)}"
    return f"there is no tool {name!r}: {_advice(offered, mode)}"


def _advice(names: Sequence[str], mode: ModeName) -> str:
    if mode in RUNS_PROGRAMS:
        return "search finds tools, execute calls them in a program"
    if mode == "deferred":
        return "tool_search finds functions by what they should do"
    if mode in HAS_MENU:
        return "request_tool loads a tool by what it should do"
    return f"there are: {', '.join(names[:_LISTED])}"
