"""What a failure of a program has to do with the catalog: a name that is missing may be the end of a tool's id."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from sandbox import Failure

_MISSING = re.compile(r"name '(\w{1,200})' is not defined")


def advised(failure: Failure, catalog: Catalog) -> Failure:
    """Return a failure whose hint gives the full id, where a tool or a group was called without its namespace."""
    found = _MISSING.match(failure.message) if failure.type == "NameError" else None
    if found is None:
        return failure
    name = found[1]
    groups = {tool.id[: tool.id.index(f".{name}.") + len(name) + 1] for tool in catalog if f".{name}." in tool.id}
    if groups:
        return replace(failure, hint=f"write {' or '.join(sorted(groups)[:3])}: {name} is a group of tools")
    tools = catalog.called(name)
    if not tools:
        return failure
    if tools[0].rpartition(".")[2] == name:
        return replace(failure, hint=f"tools are called by their full names: write {' or '.join(tools)}")
    return replace(failure, hint=f"did you mean {', '.join(tools)}? Tools are called by their full names")
