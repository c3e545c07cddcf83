"""The tools that a model gets in each mode, and their calls. All calls go through the service."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError
from rapidfuzz import process

from codemode.catalog.arguments import validate
from codemode.catalog.definitions import native, native_name, pinned, two_tools
from codemode.catalog.tool import Effect
from codemode.errors import ArgumentsInvalid, CodeModeError
from codemode.gateway.call import CallState
from codemode.search.request import SearchRequest
from codemode.serving.agent.arguments import Malformed
from codemode.serving.agent.corrections import native_call, next_program, with_example
from codemode.serving.agent.written_calls import calls_of, offered_name
from codemode.serving.executions import run_or_continue
from codemode.serving.model_text import native_text, outcome_text
from codemode.serving.modes import native_tools
from codemode.serving.shown_content import shown_content
from codemode.serving.two_tools import ExecuteArguments, answer_search, problem_of
from sandbox import SandboxError

if TYPE_CHECKING:
    import re
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.catalog.tool import Tool
    from codemode.executions.execution import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.menus.session import MenuSession
    from codemode.service import CodeMode
    from codemode.settings import AgentMode, AgentSettings

#: The answer to a search that was just answered.
_SEARCHED = "you have just got the answer to this search. Next, run a program that calls these tools, such as {}"

#: The images that models can see.
_SEEN = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools of one request: chat completion definitions, text for the system prompt, and why they were chosen."""

    definitions: tuple[dict[str, Any], ...]
    prompt: str = ""
    summary: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Function names."""
        return tuple(str(one["function"]["name"]) for one in self.definitions)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a call. `loaded` holds the tools loaded by a meta-tool, and is None for other calls.

    `images` are `data:` URLs for a model that can see.

    A `malformed` call was not made. The model may correct and repeat it.
    """

    text: str
    ok: bool = True
    outcome: ExecutionOutcome | None = None
    loaded: tuple[str, ...] | None = None
    malformed: bool = False
    images: tuple[str, ...] = ()

    @property
    def did_nothing(self) -> bool:
        """Whether the call was malformed, or a program that was refused or failed before its first call."""
        ended = self.outcome
        return self.malformed or (ended is not None and ended.status in ("refused", "failed") and not ended.calls)

    @property
    def changed_something(self) -> bool:
        """Whether the call did something at a service, or may have done so. Reads do not count."""
        calls = () if self.outcome is None else self.outcome.calls
        return any(
            call.state in (CallState.COMMITTED, CallState.UNKNOWN) and call.effect != Effect.READ for call in calls
        )

    @property
    def result(self) -> object:
        """What identifies a repeated answer. Notes about repetition are left out."""
        ended = self.outcome
        return self.text if ended is None else (ended.status, repr(ended.value), ended.output, ended.failure)


class Tools(Protocol):
    """What a turn needs of the tools of a conversation."""

    mode: AgentMode

    async def offer(self, message: str, history: Sequence[Mapping[str, Any]]) -> Offer:
        """Return the tools for the next request."""

    async def call(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answered:
        """Make a call. Mistakes of the model are answered, not raised."""

    async def names(self, offer: Offer) -> frozenset[str]:
        """Return the names that a call may have."""

    async def calling(self) -> re.Pattern[str]:
        """Return a pattern that finds calls of tools in a program."""


class Toolbox:
    """The tools of one conversation. Its programs share the state of the `conversation` with this id."""

    def __init__(
        self,
        service: CodeMode,
        settings: AgentSettings,
        caller: Caller,
        credentials: Mapping[str, str],
        conversation: str = "",
        settle: Callable[[ExecutionOutcome], Awaitable[ExecutionOutcome]] | None = None,
    ) -> None:
        self._service = service
        #: The mode in force: with `auto`, first `code`.
        self.mode: AgentMode = "code" if settings.mode == "auto" else settings.mode
        self._settings = settings
        self._caller = caller
        self._credentials = credentials
        self._settle = settle
        self._session: MenuSession | None = None
        self._by_native_name: dict[str, Tool] | None = None
        self._conversation = conversation
        self._told: set[str] = set()  # namespaces whose introduction the model has seen
        self._last_search: tuple[SearchRequest, str] | None = None

    async def offer(self, message: str, history: Sequence[Mapping[str, Any]]) -> Offer:
        """Return the tools for the next request, as the caller may see them."""
        if self.mode == "menu":
            menu = await (await self._menus()).offer(message, history)
            return Offer(tuple(menu.openai_tools()), menu.prompt, menu.summary)
        if self.mode == "off":
            return Offer(())
        catalog = (await self._service.view(self._caller)).catalog
        if self.mode == "native":
            return Offer(tuple(map(native, native_tools(catalog, self._service.settings.native_tools))))
        pins = pinned(catalog, self._service.settings.pins) if self.mode == "hybrid" else {}
        return Offer((*two_tools(catalog), *map(native, pins.values())))

    async def call(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answered:
        """Make a call, offered or not, within the caller's view. Mistakes of the model are answered, not raised."""
        name = offered_name(name, offer.names)
        if name != "search":
            self._last_search = None
        try:
            return await self._called(name, arguments, offer)
        except Malformed as error:
            return Answered(str(error), ok=False, malformed=True)
        except ValidationError as error:
            problem = with_example(f"{name}: {problem_of(error)}", name, arguments)
            return Answered(problem, ok=False, malformed=True)
        except CodeModeError as error:
            return Answered(error.for_model(), ok=False)
        except SandboxError:
            return Answered("no program can run at present; the operator should run `codemode doctor`", ok=False)

    async def _called(self, name: str, arguments: dict[str, Any], offer: Offer) -> Answered:
        if self.mode in ("code", "hybrid"):
            if name == "search":
                return await self._search(SearchRequest.model_validate(arguments))
            if name == "execute":
                return await self._execute(ExecuteArguments.model_validate(arguments), self._conversation)
        elif self.mode == "menu":
            answer = await (await self._menus()).handle(name=name, arguments=arguments)
            if answer is not None:
                return Answered(answer.text, loaded=tuple(answer.loaded))
        tool = await self._tool(name) if self.mode != "off" else None
        if tool is None:
            raise Malformed(await self._unknown(name, offer))
        try:
            validate(tool, arguments)
        except ArgumentsInvalid as error:
            problem = f"{error.for_model()}. {native_call(tool, name, arguments)}"
            return Answered(problem, ok=False, malformed=True)
        return await self._execute(ExecuteArguments(code=f"{tool.id}(**{arguments!r})"), is_native=True)

    async def _search(self, request: SearchRequest) -> Answered:
        answer = await answer_search(self._service, request, self._caller)
        last, self._last_search = self._last_search, (request, answer.text)
        if last == self._last_search and answer.hits:
            return Answered(_SEARCHED.format(next_program(answer.hits[0].tool)))
        return Answered(answer.introduced(self._told))

    async def _execute(self, asked: ExecuteArguments, conversation: str = "", *, is_native: bool = False) -> Answered:
        ended = await run_or_continue(
            self._service, asked, self._caller, credentials=self._credentials, conversation=conversation
        )
        if ended.status == "paused" and self._settle is not None:
            ended = await self._settle(ended)
        can_resume = self._service.settings.keeps_journal
        shown = native_text(ended) if is_native else outcome_text(ended, can_resume=can_resume)
        text = self._service.hooks.text(ended, shown)
        return Answered(text, ok=ended.ok, outcome=ended, images=await self._images(ended))

    async def _images(self, ended: ExecutionOutcome) -> tuple[str, ...]:
        """Return the images in a result as `data:` URLs (RFC 2397), if the model is to see them."""
        if not self._settings.images:
            return ()
        shown = await shown_content(self._service, ended, self._caller, media_types=_SEEN)
        return tuple(f"data:{one.media_type};base64,{base64.b64encode(one.data).decode()}" for one in shown)

    async def names(self, offer: Offer) -> frozenset[str]:
        """Return the names that a call may have: those offered, and the ids of the caller's tools."""
        catalog = (await self._service.view(self._caller)).catalog
        return frozenset((*offer.names, *(tool.id for tool in catalog)))

    async def calling(self) -> re.Pattern[str]:
        """Return a pattern that finds calls of the caller's tools in a program."""
        return calls_of((await self._service.view(self._caller)).catalog.namespaces)

    async def _tool(self, name: str) -> Tool | None:
        """Return a tool of the caller's view by function name, id or exact alias."""
        catalog = (await self._service.view(self._caller)).catalog
        if name in catalog:
            return catalog.get(name)
        if self._by_native_name is None:
            self._by_native_name = {native_name(tool): tool for tool in catalog}
        found = self._by_native_name.get(name)
        if found is None and self.mode == "menu":
            found = (await self._menus()).tool(name)
        return found

    async def _unknown(self, name: str, offer: Offer) -> str:
        near = [found for found, _, _ in process.extract(name, offer.names, limit=3, score_cutoff=70)]
        catalog = (await self._service.view(self._caller)).catalog
        try:
            catalog.get(name)
        except CodeModeError as error:
            near += [one for one in getattr(error, "nearest", ()) if one not in near]
        suggestion = f"; closest: {', '.join(near)}" if near else f"; you have: {', '.join(offer.names[:10])}"
        return f"there is no function {name!r}{suggestion}"

    async def _menus(self) -> MenuSession:
        if self._session is None:
            self._session = await self._service.menu_session(self._caller)
        return self._session
