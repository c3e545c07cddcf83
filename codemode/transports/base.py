"""What every transport is: the way to the tools of one source, which alone knows their credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.auth.credentials import CallerCredentials


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the whole answer, its items, and the arguments of the next page (None after the last)."""

    value: Any
    items: list[Any]
    next_arguments: dict[str, Any] | None


class Transport(Protocol):
    """How the tools of one source are reached. It alone knows the credentials.

    One with the attribute `has_pace` lets its calls wait for their turn (`codemode.transports.rate_limit.Pace`), with
    which they count as sent; else they do when it is called.
    """

    async def call(self, tool: Tool, arguments: Mapping[str, Any], credentials: CallerCredentials) -> Any:
        """Send validated arguments, with the caller's own credentials where they are asked for; return JSON data.

        Raises a CallError.
        """

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], credentials: CallerCredentials) -> Page:
        """The same for one page of a list. Raises a CallError, also where the tool has no pages."""

    async def aclose(self) -> None:
        """Close the connections."""
