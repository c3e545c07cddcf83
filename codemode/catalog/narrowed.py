"""Tools whose results have selected fields only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.catalog.paging import paging_of

if TYPE_CHECKING:
    from codemode.catalog.field_selection import FieldSelection
    from codemode.catalog.tool import Details, Tool


def narrowed_details(tool: Tool, selection: FieldSelection) -> Details:
    """Return the details of a tool with a narrowed result. Its paging stays that of the whole result."""
    details, paging = tool.details, paging_of(tool)
    if details.returns is None:
        return replace(details, paging=paging)
    returns = selection.narrowed_schema(details.returns, is_page=paging is not None)
    return replace(details, returns=returns, paging=paging)
