"""Hints for failed programs: a missing name may be the last part of a tool id."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from sandbox import Failure

_MISSING = re.compile(r"name '(\w{1,200})' is not defined")


def advised(failure: Failure, catalog: Catalog) -> Failure:
    """Return the failure with a hint that gives the full id, if a tool or group was called without its namespace."""
    missing_name = _MISSING.match(failure.message) if failure.type == "NameError" else None
    if missing_name is None:
        return failure
    name = missing_name[1]
    groups = {tool.id[: tool.id.index(f".{name}.") + len(name) + 1] for tool in catalog if f".{name}." in tool.id}
    if groups:
        return replace(failure, hint=f"write {' or '.join(sorted(groups)[:3])}: {name} is a group of tools")
    tools = catalog.called(name)
    if not tools:
        return failure
    if tools[0].rpartition(".")[2] == name:
        return replace(failure, hint=f"call tools by their full id: write {' or '.join(tools)}")
    return replace(failure, hint=f"did you mean {', '.join(tools)}? Call tools by their full id")
