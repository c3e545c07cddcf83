"""What models find: the tools of all sources, the search over them, and menus, in the view of each caller."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codemode.catalog.catalog import Catalog
from codemode.composition.cost import cost_of
from codemode.errors import WrongArgument
from codemode.executions.life.programs import Request
from codemode.gateway.caller import LOCAL, Caller
from codemode.gateway.caller_view import Views
from codemode.gateway.lint import require_known_tools
from codemode.gateway.policy import AccessPolicy
from codemode.menus.menus import Menus, require_known_names
from codemode.menus.session import MenuSession
from codemode.menus.usage import propose_menu
from codemode.model.learning import learn, learning_plan
from codemode.search.answer import answer_search
from codemode.search.describe import describe
from codemode.search.index.enrichment import enriched
from codemode.search.introduction import introductions
from codemode.shared.callbacks import ignore
from codemode.sources.destination import destination_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from codemode.catalog.cost import CostReport
    from codemode.catalog.inline import Inline
    from codemode.catalog.loading import LoadingListener
    from codemode.composition.knowledge import Knowledge
    from codemode.composition.runtime import Runtime
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller_view import View
    from codemode.menus.menu import RunTool
    from codemode.menus.selection import Selector
    from codemode.menus.usage import MenuProposal
    from codemode.model.learning import Learned
    from codemode.search.evaluation.evaluation import LabelledQuery, Metrics
    from codemode.search.explanation import Explanation
    from codemode.search.query import Query
    from codemode.search.request import SearchRequest
    from codemode.search.result import Accepts, SearchAnswer
    from codemode.search.semantic.similarity import Progress
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore
    from codemode.sources.destination import Destination
    from codemode.sources.factory import LoadedSource


class Discovery:
    """The sources of a service, and what callers find in them. `functions` are further sources by namespace.

    With `strict`, reading raises SourceError for a source that cannot be read. `progress` receives the steps of
    reading, indexing and embedding.
    """

    def __init__(
        self,
        settings: Settings,
        functions: Mapping[str, object],
        store: ValueStore,
        knowledge: Knowledge,
        runtime: Runtime,
        *,
        strict: bool,
        progress: LoadingListener,
    ) -> None:
        from codemode.search.finder import Finder
        from codemode.sources.live import LiveSources

        #: The settings of the last reload.
        self.settings = settings
        self.catalog = Catalog(())
        self.policy = AccessPolicy(settings.policy)
        self.destinations = _destinations(settings)
        self.introductions: Mapping[str, str] = {}
        #: Seconds that entering waits for all sources. None waits for each source's own time limit.
        self.patience_s: float | None = None
        #: Whether reading the sources starts MCP servers whose definitions are known. Calls need it, searches do not.
        self.connects = True
        #: Whether reading the sources also indexes their tools. If not, the first search does.
        self.indexes_early = True
        self._knowledge = knowledge
        self._runtime = runtime
        self._finder = Finder(settings.search, settings.cache(), progress)
        self.views = Views(self.catalog, self._finder, {}, knowledge.shapes, self.policy)
        self._menus = Menus(settings.menu, {})
        self._own_sources: Mapping[str, LoadedSource] = {}
        self._live = LiveSources(
            settings,
            functions,
            runtime.contents,
            store,
            runtime.allowances,
            strict=strict,
            publish=self._adopt,
            check=self._check,
            under_way=lambda: runtime.runner.under_way,
            progress=progress,
        )

    @property
    def sources(self) -> Mapping[str, LoadedSource]:
        """The sources as last read, by name."""
        return {**self._live.loaded, **self._own_sources} if self._live.loaded else {}

    @property
    def caller_names(self) -> frozenset[str]:
        """The names under which callers bring their own credentials."""
        return frozenset(name for source in self.settings.sources.values() for name in source.caller_names)

    async def load(self) -> None:
        """Read the sources, unless they are read. Raises SourceError, ConfigurationError."""
        if not self.sources:
            await self._runtime.open()
            await asyncio.to_thread(self._runtime.features.refresh)
            await self._live.load(self.patience_s, connects=self.connects)

    async def reload(self, settings: Settings | None) -> None:
        """See `CodeMode.reload`."""
        await self._live.reload(settings)

    async def publish_again(self) -> None:
        """Publish the sources again: the features' own have changed."""
        await self._live.publish_again()

    async def stop(self) -> None:
        """End the work on sources and on the index."""
        await self._live.stop()
        self._finder.close()

    async def aclose(self) -> None:
        """Close the connections of all sources."""
        await self._live.aclose()

    async def view(self, caller: Caller) -> View:
        """Return the part of the catalog visible to a caller. Raises RuntimeError if the service is not open."""
        WrongArgument.unless(caller, Caller, "caller", "Caller(id, role) creates one")
        if not self.sources and self._runtime.is_open:
            await self.load()
        if not self.sources:
            raise RuntimeError("the service is not open: enter it with `async with`, or call `await cm.start()`")
        if self._runtime.features.have_changed():
            await self._live.publish_again()
        return await self.views.of(caller.role)

    async def find(
        self, request: SearchRequest, caller: Caller, accepts: Accepts | None = None, conversation: str = ""
    ) -> SearchAnswer:
        """Answer a search whose arguments are valid: with `accepts`, by the sure hits that it accepts.

        `conversation` is the one in which a model asks, "" for none. The search with `accepts` is for the message of a
        person, from which no feature learns.
        """
        shapes, features = self._knowledge.shapes, self._runtime.features
        if shapes.is_outdated:
            await asyncio.to_thread(shapes.load)
        view = await self.view(caller)
        answer = await answer_search(
            request,
            view.catalog,
            view.finder,
            learned=await features.learned(caller),
            budget_tokens=self.settings.search.budget_tokens,
            observed=partial(shapes.schema, caller.id),
            guarded=partial(self.policy.guards, caller.role),
            searched=ignore if accepts else partial(features.searched, caller=caller, conversation=conversation),
            introductions=self.introductions,
            accepts=accepts,
        )
        sources = {hit.tool.source for hit in answer.hits}
        remarks = await asyncio.to_thread(features.remarks, sources, caller)
        return replace(answer, text="\n".join([answer.text, *(f"# {one}" for one in remarks)])) if remarks else answer

    async def explain(self, request: SearchRequest, caller: Caller, tool: str = "") -> list[Explanation]:
        """Explain the hits of a search, and where `tool` is among them. Raises SearchInvalid."""
        from codemode.search.explanation import explain

        view = await self.view(caller)
        indexes = view.finder.index, self._finder.index
        return await asyncio.to_thread(
            explain, await self.query(request, caller), *indexes, role=caller.role, tool=tool
        )

    async def query(self, request: SearchRequest, caller: Caller) -> Query:
        """Return a request as the index accepts it, with what earlier calls of the caller's role taught."""
        return replace(request.query, learned=await self._runtime.features.learned(caller))

    async def describe(self, name: str, caller: Caller) -> str:
        """See `CodeMode.describe`."""
        return describe(
            name,
            (await self.view(caller)).catalog,
            budget_tokens=self.settings.search.budget_tokens,
            introductions=self.introductions,
            observed=partial(self._knowledge.shapes.schema, caller.id),
        )

    async def inline(self, caller: Caller) -> Inline:
        """See `CodeMode.inline`."""
        catalog = (await self.view(caller)).catalog
        inline = await self._knowledge.inlining.of(caller, catalog, self.settings.definitions, self.introductions)
        advice = self._runtime.features.advice()
        return replace(inline, advice=advice) if advice else inline

    async def learn(self, source: str) -> list[Learned]:
        """Call the reads of a source whose results are undocumented, and show all callers the fields of the answers.

        Nothing else is called, nor what the policy denies or a person decides. Raises ConfigurationError for an unknown
        source.
        """

        async def dry_run(code: str) -> ExecutionOutcome:
            return await self._runtime.programs.perform(Request(code), LOCAL, dry_run=True)

        plan = learning_plan(source, (await self.view(LOCAL)).catalog, partial(self.policy.guards, LOCAL.role))
        learned = await learn(plan, dry_run, self._knowledge.shapes, LOCAL.id)
        await asyncio.to_thread(self._knowledge.shapes.save)
        return learned

    def menu_session(self, caller: Caller, run: RunTool, *, answers: bool) -> MenuSession:
        """Return a session that offers menus for one conversation. With `answers`, it answers its meta-tools.

        `run` calls a tool for it.
        """
        offered = partial(self._knowledge.menu_usage.offered, who=caller.id)
        return MenuSession(partial(self._selector, caller), answers=answers, run=run, offered=offered)

    async def _selector(self, caller: Caller) -> Selector:
        await self.load()  # bots that run their own tools do not enter the service
        view = await self.view(caller)
        return await self._menus.selector(caller.role, view.catalog, view.finder)

    async def propose_menu(self) -> MenuProposal | None:
        """Return default and core tools proposed from recorded calls, None if there are too few calls."""
        return propose_menu(self._knowledge.menu_usage.read(), await self._selector(LOCAL))

    async def settle_search(self, queries: Sequence[str], timeout_s: float) -> Progress | None:
        """Wait up to `timeout_s` for embeddings, or until they fail. Return their progress, None without embeddings."""
        await asyncio.to_thread(self._finder.settle, queries, timeout_s, gives_up=True)
        return self._finder.embedded

    def labelled(self, file: Path | None) -> list[LabelledQuery]:
        """Return the labelled queries of a file. None: the queries after which a hit was called, with the hit.

        Raises ConfigurationError if the file is unreadable, or an entry is invalid or names an unknown tool.
        """
        from codemode.search.evaluation.evaluation import LabelledQuery, read_labelled

        if file is not None:
            return read_labelled(file, self.catalog)
        ids = {tool.id for tool in self.catalog}
        used = self._runtime.features.used()
        return [LabelledQuery(query, (frozenset((tool,)),)) for query, tool in used if tool in ids]

    def evaluate_search(self, queries: Sequence[LabelledQuery], *, change: Callable[[str], str] = str) -> Metrics:
        """Return how well search answers labelled queries, after `change` is applied to each query."""
        from codemode.search.evaluation.quality import evaluate_search

        return evaluate_search(self._finder, queries, change)

    def cost(self) -> CostReport:
        """Return the catalog's cost to a model in tokens, in each mode."""
        return cost_of(self.catalog, self.settings)

    def _check(self, settings: Settings, catalog: Catalog) -> None:
        """Raise ConfigurationError if the policy or the menus name tools that the catalog does not have."""
        from codemode.sources.loader import catalog_of

        own = self._runtime.features.own_sources(catalog)
        absent = {name: source for name, source in own.items() if name not in catalog.namespaces}
        if absent:
            catalog = catalog.merged(catalog_of(absent))
        require_known_tools(settings, AccessPolicy(settings.policy), catalog)
        require_known_names(settings, catalog)

    async def _adopt(self, settings: Settings, sources: Mapping[str, LoadedSource]) -> Catalog:
        """Use these sources from now on. A running execution keeps its catalog."""
        if settings is not self.settings:
            self.settings, self.policy = settings, AccessPolicy(settings.policy)
            self.destinations = _destinations(settings)
        from codemode.sources.loader import catalog_of

        await asyncio.to_thread(self._runtime.features.refresh)
        self._own_sources = self._runtime.features.own_sources(catalog_of(sources))
        sources = {**sources, **self._own_sources}
        catalog = enriched(catalog_of(sources), settings)
        open_ = self._finder.open if self.indexes_early else self._finder.open_later
        await asyncio.to_thread(open_, catalog, [source.surface.digest for source in sources.values()])
        self.catalog = catalog
        transports = {name: source.transport for name, source in sources.items()}
        self.views = Views(
            catalog,
            self._finder,
            transports,
            self._knowledge.shapes,
            self.policy,
            self.destinations,
            self._knowledge.answer_checks,
            self._runtime.contents,
        )
        instructions = {name: source.introduction for name, source in settings.sources.items()}
        descriptions = {name: source.surface.description for name, source in sources.items()}
        self.introductions = introductions(instructions, descriptions)
        self._menus = Menus(settings.menu, instructions)
        return catalog


def _destinations(settings: Settings) -> Mapping[str, Destination]:
    """Return the destination of each source's calls."""
    return {name: destination_of(source) for name, source in settings.sources.items()}
