"""Narrow the answers of tools to the selected fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.paging import paging_of
from codemode.transports.base import Page

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool


def narrowed(tool: Tool, answer: Any) -> Any:
    """Return an answer, or a transport's `Page`, with the fields that the operator selected for the tool."""
    selection = tool.selection
    if selection is None:
        return answer
    if isinstance(answer, Page) and answer.status:
        return replace(answer, value=narrowed(tool, answer.value))
    if isinstance(answer, Page):
        value, items = selection.narrowed_page(answer.value, answer.items)
        return replace(answer, value=value, items=items)
    return selection.narrowed(answer, is_page=_is_paged(tool))


#: Detecting the paging of a tool takes longer than narrowing most answers.
_paged: WeakKeyDictionary[Tool, bool] = WeakKeyDictionary()


def _is_paged(tool: Tool) -> bool:
    known = _paged.get(tool)
    if known is None:
        known = _paged[tool] = paging_of(tool) is not None
    return known
