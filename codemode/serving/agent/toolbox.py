"""The tools of an agent's conversation, and what its loop needs to know of them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Protocol

from codemode.catalog.cost import NATIVE_TOOLS
from codemode.catalog.tokens import estimate
from codemode.model.answer import Answer
from codemode.model.corrections import next_program
from codemode.model.tools import CallOptions
from codemode.serving.agent.written_calls import calls_of

if TYPE_CHECKING:
    import re
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.model.definitions import Offer
    from codemode.service import CodeMode
    from codemode.settings import AgentSettings, ModeName
    from codemode.transports.content import Content

#: The answer to a search that was just answered.
_SEARCHED = "you have just got the answer to this search. Next, run a program that calls these tools, such as {}"

#: The modes among which the size decides; the first one of equal ones.
_BY_SIZE: tuple[ModeName, ...] = ("code", "native")

#: The images that models can see.
_SEEN = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Tools(Protocol):
    """What a turn needs of the tools of a conversation."""

    mode: ModeName

    async def offer(self, message: str, history: Sequence[Mapping[str, Any]]) -> Offer:
        """Return the tools for the next request."""

    async def call(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answer:
        """Make a call. Mistakes of the model are answered, not raised."""

    async def names(self, offer: Offer) -> frozenset[str]:
        """Return the names that a call may have."""

    async def calling(self) -> re.Pattern[str]:
        """Return a pattern that finds calls of tools in a program."""


class Toolbox:
    """The `ModelTools` of one conversation.

    With the mode `auto`, the size of the caller's catalog decides before the first request: `native` if the definitions
    of all tools are shorter than those of code mode, else `code`.
    """

    def __init__(
        self,
        service: CodeMode,
        settings: AgentSettings,
        caller: Caller,
        credentials: Mapping[str, str],
        conversation: str = "",
        settle: Callable[[ExecutionOutcome], Awaitable[ExecutionOutcome]] | None = None,
    ) -> None:
        mode: ModeName = "code" if settings.mode == "auto" else settings.mode
        self._tools = service.tools(caller, conversation, mode=mode, shows=_SEEN if settings.images else ())
        self._options = CallOptions(credentials, settle=settle)
        self._service = service
        self._last_search: object = None
        self._is_chosen = settings.mode != "auto"

    @property
    def mode(self) -> ModeName:
        """The mode in force."""
        return self._tools.mode

    @mode.setter
    def mode(self, mode: ModeName) -> None:
        self._tools.mode = mode

    def begin(self) -> None:
        """Begin another conversation."""
        self._tools.introduce_again()

    async def offer(self, message: str, history: Sequence[Mapping[str, Any]]) -> Offer:
        """Return the tools for the next request, as the caller may see them."""
        if not self._is_chosen:
            self._is_chosen = True
            self.mode = await self._by_size()
        return await self._tools.offer(message, history)

    async def _by_size(self) -> ModeName:
        """Return `native` if its definitions are the shorter ones, else `code`."""
        if len(await self._catalog()) > NATIVE_TOOLS:
            return "code"
        lengths: dict[ModeName, int] = {}
        for mode in _BY_SIZE:
            self.mode = mode
            lengths[mode] = estimate(json.dumps((await self._tools.offer()).definitions, ensure_ascii=False))
        return min(_BY_SIZE, key=lambda mode: lengths[mode])

    async def call(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answer:
        """Make a call. A search that was just answered the same is answered with what to do next."""
        answer = await self._tools.call(name, arguments, options=self._options, near=offer.names)
        search = (arguments, answer.hits) if answer.hits else None
        is_repeated = search is not None and search == self._last_search
        self._last_search = search
        return Answer(_SEARCHED.format(next_program(answer.hits[0].tool))) if is_repeated else answer

    async def names(self, offer: Offer) -> frozenset[str]:
        """Return the names that a call may have: those offered, and the ids of the caller's tools."""
        return frozenset((*offer.names, *(tool.id for tool in await self._catalog())))

    async def calling(self) -> re.Pattern[str]:
        """Return a pattern that finds calls of the caller's tools in a program."""
        return calls_of((await self._catalog()).namespaces)

    async def _catalog(self) -> Catalog:
        return (await self._service.view(self._tools.caller)).catalog


def data_url(image: Content) -> str:
    """Return an image as a `data:` URL (RFC 2397), for a model that can see."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
