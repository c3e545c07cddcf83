"""What the tools of a model need of a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.inline import Inline
    from codemode.executions.life.executions import Executions
    from codemode.executions.plugins.hooks import Hooks
    from codemode.gateway.caller import Caller
    from codemode.gateway.caller_view import View
    from codemode.menus.session import MenuSession
    from codemode.model.programs import ModelPrograms
    from codemode.search.request import SearchRequest
    from codemode.search.result import Accepts, SearchAnswer
    from codemode.settings import Settings
    from codemode.transports.content import Content


class Host(Protocol):
    """The part of `codemode.service.CodeMode` behind a model's tools."""

    @property
    def settings(self) -> Settings:
        """The settings, as last reloaded."""

    @property
    def hooks(self) -> Hooks:
        """The hooks of the plugins."""

    @property
    def programs(self) -> ModelPrograms:
        """What carries out requests for executions."""

    @property
    def executions(self) -> Executions:
        """The recorded executions. Raises ConfigurationError without a journal."""

    async def find(
        self, request: SearchRequest, caller: Caller, accepts: Accepts | None = None, conversation: str = "", /
    ) -> SearchAnswer:
        """Answer a search in a conversation: with `accepts`, by the sure hits that it accepts."""

    async def view(self, caller: Caller, /) -> View:
        """Return the part of the catalog visible to a caller."""

    async def inline(self, caller: Caller, /) -> Inline:
        """Return the signatures for the definition of `execute`."""

    async def menu_session(self, caller: Caller, /) -> MenuSession:
        """Return a session of menus for one conversation."""

    async def content(self, reference: str | Mapping[str, Any], /, *, caller: Caller) -> Content:
        """Return an image or file of the caller. Raises ContentNotFound."""
