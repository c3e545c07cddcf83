"""What the runtime needs of `Discovery`, which is made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.gateway.caller import Caller
    from codemode.gateway.caller_view import View
    from codemode.search.request import SearchRequest
    from codemode.search.result import SearchAnswer
    from codemode.settings import Settings
    from codemode.sources.destination import Destination


class Finding(Protocol):
    """What programs find, and what their record depends on."""

    settings: Settings
    destinations: Mapping[str, Destination]

    async def view(self, caller: Caller) -> View:
        """Return the part of the catalog visible to a caller."""
        ...

    async def find(self, request: SearchRequest, caller: Caller) -> SearchAnswer:
        """Answer a search."""
        ...

    async def describe(self, name: str, caller: Caller) -> str:
        """Return a namespace, a group or a tool as text."""
        ...

    async def publish_again(self) -> None:
        """Publish the sources again."""
        ...
