"""`CodeMode`: two tools for a model, over any number of sources."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

from pydantic import Field, validate_call

from codemode.catalog.catalog import Catalog
from codemode.catalog.cost import CostReport, measure
from codemode.catalog.definitions import native, pinned, two_tools
from codemode.catalog.observed import ObservedShapes
from codemode.catalog.tokens import local_tokenizer
from codemode.errors import CallError, ConfigurationError
from codemode.executions.executions import Executions
from codemode.executions.executor import Executor, nothing
from codemode.executions.journal.configured import journal_of
from codemode.executions.ledger import unwatched
from codemode.executions.programs import Request
from codemode.executions.repetition import Repetition
from codemode.executions.runner import Running
from codemode.gateway.call import CallState
from codemode.gateway.caller import CALLER, LOCAL, Caller
from codemode.gateway.caller_view import View, Views
from codemode.gateway.lint import require_known_tools
from codemode.gateway.policy import AccessPolicy
from codemode.menus.menus import Menus, require_known_names
from codemode.menus.session import MenuSession
from codemode.menus.usage import MenuProposal, MenuUsage, propose_menu
from codemode.observing.configured import observers_of
from codemode.parameters import (
    COUNT,
    FLAG,
    FUNCTION,
    MAPPING,
    MAYBE_TEXT,
    MESSAGES,
    PATH,
    SECONDS,
    SECRETS,
    TEXT,
    TEXTS,
    Kind,
    are_named,
    instance,
    one_of,
    takes,
)
from codemode.search.describe import describe
from codemode.search.finder import Finder
from codemode.search.index.enrichment import enriched
from codemode.search.query import DEFAULT_LIMIT, Query
from codemode.search.ranking.evaluation import Metrics, evaluate, read_labelled
from codemode.search.ranking.tuning import Proposal, propose
from codemode.search.render import Detail, render
from codemode.search.result import SearchAnswer, unavailable_line, wholly_unavailable
from codemode.search.usage import UsageLog
from codemode.settings import DEFAULT_FILE, Secrets, Settings, load_settings, tokenizer_folder
from codemode.sources.destination import destination_of
from codemode.sources.factory import with_definitions
from codemode.sources.loader import Reader, bound_functions, catalog_of, close_after, require_sources, to_retry
from codemode.sources.reconnection import Retries
from codemode.transports.content import ContentStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

    from codemode.catalog.tool import Effect, Tool
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.observer import Observers
    from codemode.menus.menu import Menu
    from codemode.menus.selection import Selector
    from codemode.search.semantic.similarity import Progress
    from codemode.sources.destination import Destination
    from codemode.sources.factory import LoadedSource
    from codemode.transports.mcp.transport import Definitions

log = logging.getLogger(__name__)

#: What a program may ask: one text, or one for each step of a plan.
Asked = Annotated[str, Field(max_length=1000)]
Plan = Annotated[list[Asked], Field(min_length=1, max_length=20)]

_HOW_SETTINGS: Mapping[type, str] = {
    Mapping: "Settings.model_validate(…) makes one of it",
    str: "CodeMode.from_config(…) reads a file",
    PurePath: "CodeMode.from_config(…) reads a file",
}
_SETTINGS = instance(Settings, _HOW_SETTINGS)
_MAYBE_SETTINGS = instance(Settings, _HOW_SETTINGS, is_optional=True)
_FUNCTIONS = Kind("a dict of functions by namespace", are_named, lambda _: "such as {'shop': [find_order]}")

#: That measuring waits for the embeddings of its queries.
EMBEDDING_S = 600.0


class CodeMode:
    """A catalog, an index over it, and a sandbox to run programs against it.

        async with CodeMode.from_config("codemode.yaml") as cm:
            print((await cm.search("freeze a membership")).text)
            outcome = await cm.execute("gym.clients.get_clients_list(name='John')")

    Entering reads the sources; the sandbox starts with the first program. A source that cannot be read is used as it
    was when it was last read, or its namespace is unavailable, and it is tried again; where `strict` its error is
    raised (SourceError). Raises ConfigurationError.
    """

    @takes(settings=_SETTINGS, functions=_FUNCTIONS, strict=FLAG)
    def __init__(
        self, settings: Settings, functions: Mapping[str, object] | None = None, *, strict: bool = False
    ) -> None:
        self.settings = settings
        self.strict = strict
        #: Seconds that entering waits for sources: None for as long as each may take.
        self.patience_s: float | None = None
        self._functions = dict(functions or {})
        self.sources: Mapping[str, LoadedSource] = {}
        self.catalog = Catalog(())
        self._finder = Finder(settings.search, settings.cache())
        self._shapes = ObservedShapes(settings.learned() / "shapes.json")
        self.policy = AccessPolicy(settings.policy)
        self._views = Views(self.catalog, self._finder, {}, self._shapes, self.policy)
        self._menus = Menus(settings.menu, {})
        self._menu_usage = MenuUsage(settings.learned() / "menu-usage.jsonl", keeps=settings.menu.record_usage)
        self._repetition = Repetition()
        self._usage = UsageLog(settings.learned() / "usage.jsonl") if settings.search.record_usage else None
        self._programs = Running(
            Executor(settings.sandbox, settings.limits),
            view=self.view,
            questions=lru_cache(256)(self._questions),  # making what checks them takes longer than a program
            policy=lambda: self.settings.policy,
            destinations=self._destinations,
        )
        self._executions: Executions | None = None
        self._adopting = asyncio.Lock()
        self._renewals: set[asyncio.Task[None]] = set()
        self._changed: dict[str, Definitions] = {}  # of MCP servers, until they are taken over
        self._contents = ContentStore()
        self._reader = self._reader_of(settings)
        self._retries = Retries(lambda name: self._reader.read(name), self._arrived)
        self._is_open = False

    @classmethod
    @takes(path=PATH, strict=FLAG)
    def from_config(cls, path: str | Path = DEFAULT_FILE, *, strict: bool = False) -> Self:
        """From a configuration file. Raises ConfigurationError with every mistake in it."""
        return cls(load_settings(path), strict=strict)

    @classmethod
    @takes(settings=_SETTINGS, functions=_FUNCTIONS, strict=FLAG)
    def from_settings(
        cls, settings: Settings, *, functions: Mapping[str, object] | None = None, strict: bool = False
    ) -> Self:
        """From settings made in code, and functions as sources beside those of the settings, by namespace.

        Each of `functions` is a function, a module, a class, an object, or a list or dict of these.
        """
        return cls(settings, functions, strict=strict)

    @classmethod
    def from_functions(cls, **functions: object) -> Self:
        """From Python functions alone: `CodeMode.from_functions(shop=[find_order, cancel_order])`."""
        return cls(Settings(), functions)

    async def __aenter__(self) -> Self:
        try:
            await self._load()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def open(self) -> None:
        """Enter for who may need no source: they are read when they are first asked for. Close it with `aclose`.

        Raises ConfigurationError.
        """
        if self._is_open:
            return
        self.observers = observers_of(self.settings.observe)
        journal = journal_of(self.settings, Secrets())
        if journal is not None:
            self._executions = Executions(
                journal, self._programs, self.settings.journal, lambda: self.settings.policy.approvers
            )
        self._is_open = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the sandbox's processes and close the connections of all sources."""
        self._is_open = False
        await self._retries.aclose()
        self._finder.close()
        if self._executions is not None:
            await self._executions.aclose()
        await self._programs.executor.aclose()
        await asyncio.gather(*self._renewals, return_exceptions=True)
        self.observers.close()
        sources, self.sources = self.sources, {}
        await asyncio.gather(*(source.transport.aclose() for source in sources.values()))

    @takes(
        queries=TEXTS,
        namespace=MAYBE_TEXT,
        source=MAYBE_TEXT,
        effect=MAYBE_TEXT,
        tag=MAYBE_TEXT,
        detail=one_of(*get_args(Detail)),
        limit=COUNT,
        offset=COUNT,
        caller=CALLER,
    )
    async def search(
        self,
        queries: str | Sequence[str],
        *,
        namespace: str | None = None,
        source: str | None = None,
        effect: Effect | None = None,
        tag: str | None = None,
        detail: Detail = "auto",
        limit: int = DEFAULT_LIMIT,
        offset: int = 0,
        caller: Caller = LOCAL,
    ) -> SearchAnswer:
        """Find tools: one query, or one for each step of a plan. The answer's text fits the configured budget.

        The filters hold for all queries; `namespace` may name a group too (`github.issues`). `limit` hits are given
        from the place `offset` on. There is nothing but what the role of `caller` may use.
        """
        view = await self.view(caller)
        finder, catalog = view.finder, view.catalog
        if wholly_unavailable(catalog, namespace or source):
            return SearchAnswer(f"# {unavailable_line(catalog)}", (), 0, note=unavailable_line(catalog))
        texts = (queries,) if isinstance(queries, str) else tuple(queries)
        query = Query(texts, namespace, source, effect, tag, limit, offset)
        if finder.uses_embeddings:  # it may wait for them
            hits = await asyncio.to_thread(finder.search, query)
        else:
            hits = finder.search(query)
        if self._usage is not None:
            self._usage.searched(hits, who=caller.id)
        hits = replace(hits, note="; ".join(filter(None, (hits.note, unavailable_line(catalog)))))
        observed = partial(self._shapes.schema, caller.id)
        text = render(
            hits,
            budget_tokens=self.settings.search.budget_tokens,
            detail=detail,
            observed=observed,
            guarded=partial(self.policy.guards, caller.role),
        )
        return SearchAnswer(text, hits.hits, hits.total, tuple(hits.query.queries[at] for at in hits.unsure), hits.note)

    @takes(name=TEXT, caller=CALLER)
    async def describe(self, name: str = "", *, caller: Caller = LOCAL) -> str:
        """A namespace (with the operator's instructions), a group or a tool, as text within the configured budget.

        Raises ToolNotFound, which names the nearest.
        """
        return describe(
            name,
            (await self.view(caller)).catalog,
            budget_tokens=self.settings.search.budget_tokens,
            instructions={source: settings.instructions for source, settings in self.settings.sources.items()},
            observed=partial(self._shapes.schema, caller.id),
        )

    @takes(message=TEXT, history=MESSAGES, summary=TEXT, caller=CALLER)
    async def select_menu(
        self, message: str, history: Iterable[Any] = (), *, summary: str = "", caller: Caller = LOCAL
    ) -> Menu:
        """The tools to offer for a message, for models that cannot write code; `settings.menu` says how.

        `history` are the messages before it, as OpenAI, its SDK or LangChain have them, `summary` one of them. Where
        the service was not entered the sources are read now. Raises ConfigurationError where the settings cannot be
        followed for the role of `caller`, and what entering raises.
        """
        return await self._menu_session(caller, answers=False).offer(message, history, summary)

    @takes(caller=CALLER)
    async def menu_session(self, caller: Caller = LOCAL) -> MenuSession:
        """Menus for one conversation, whose meta-tools are answered by the session."""
        return self._menu_session(caller, answers=True)

    def _menu_session(self, caller: Caller, *, answers: bool) -> MenuSession:
        async def run(tool: Tool, arguments: Mapping[str, Any]) -> Any:
            ended = await self.execute(f"{tool.id}(**{dict(arguments)!r})", caller=caller)
            if not ended.ok:
                raise CallError(ended.failure.message if ended.failure else str(ended.status))
            return ended.value

        told = partial(self._menu_usage.offered, who=caller.id)
        return MenuSession(partial(self._selector, caller), answers=answers, run=run, offered=told)

    async def _selector(self, caller: Caller) -> Selector:
        await self._load()  # a bot that runs its own tools need not enter the service
        view = await self.view(caller)
        return await self._menus.selector(caller.role, view.catalog, view.finder)

    async def propose_menu(self) -> MenuProposal | None:
        """Defaults and core tools from what was called so far; None for too few calls."""
        return propose_menu(self._menu_usage.read(), await self._selector(LOCAL))

    @takes(
        code=TEXT,
        caller=CALLER,
        credentials=SECRETS,
        resume_from=TEXT,
        fresh_reads=FLAG,
        begun=FUNCTION,
        watch=FUNCTION,
    )
    async def execute(
        self,
        code: str,
        *,
        caller: Caller = LOCAL,
        credentials: Mapping[str, str] = MappingProxyType({}),
        resume_from: str = "",
        fresh_reads: bool = False,
        begun: Callable[[], None] = nothing,
        watch: Callable[[LedgerEntry], None] = unwatched,
    ) -> ExecutionOutcome:
        """Run a program with every tool that the role of `caller` may use bound in its namespace.

        Where executions are recorded its outcome may be `paused`, and `executions` is how it goes on. `resume_from` is
        the id of an earlier one of the caller, which failed: what it has done and this program does again is not done
        again, but given from there; with `fresh_reads` its reads are made anew.
        `credentials` are the caller's own for services behind the tools, by the names that the configuration asks for
        (`caller: NAME`); they are held for this execution alone.
        `begun` is called when the program is compiled and about to run, if it comes to that; `watch` with each call
        when it is refused, sent, and ended.
        Never raises for what the program or a tool did. Raises `sandbox.SandboxError` where no program can run,
        ExecutionNotFound for a `resume_from` of nobody or of another, JournalUnavailable.
        """
        await self.view(caller)
        await self.start_sandbox()
        if resume_from or self._executions is not None:
            request = Request(code, credentials, resume_from, fresh_reads, begun=begun, watch=watch)
            outcome = await self.executions.execute(request, caller)
        else:
            who = caller.bringing(credentials) if credentials else caller
            outcome = await self._programs.run(code, who, begun=begun, watch=watch)
        note = self._repetition.note(code, caller, outcome)
        if note:
            outcome = replace(outcome, notes=(*outcome.notes, note))
        await asyncio.to_thread(self._shapes.save)
        for call in outcome.calls:
            if call.state is CallState.COMMITTED:
                self._menu_usage.called(call.tool, who=caller.id)
                if self._usage is not None:
                    self._usage.called(call.tool, who=caller.id)
        return outcome

    @takes(caller=CALLER)
    async def definitions(self, caller: Caller = LOCAL) -> list[dict[str, Any]]:
        """What a model is given, as OpenAI function definitions: `search`, `execute`, and the caller's pins."""
        catalog = (await self.view(caller)).catalog
        return [*two_tools(catalog), *map(native, pinned(catalog, self.settings.pins).values())]

    @takes(name=TEXT, arguments=MAPPING, caller=CALLER)
    async def program_of(self, name: str, arguments: Mapping[str, Any], caller: Caller = LOCAL) -> str | None:
        """The program that calls the pin of that native name; None where the caller has none."""
        tool = pinned((await self.view(caller)).catalog, self.settings.pins).get(name)
        return None if tool is None else f"{tool.id}(**{dict(arguments)!r})"

    def _questions(self, caller: Caller) -> Mapping[str, Callable[..., Awaitable[Any]]]:
        """What a program may ask besides calling tools, in the view of its caller."""

        @validate_call
        async def search(queries: Asked | Plan, namespace: Asked | None = None, detail: Detail = "auto") -> str:
            return (await self.search(queries, namespace=namespace, detail=detail, caller=caller)).text

        @validate_call
        async def describe(name: Asked = "") -> str:
            return await self.describe(name, caller=caller)

        return {"search(queries, namespace, detail)": search, "describe(name)": describe}

    @property
    def executions(self) -> Executions:
        """The recorded executions. Raises ConfigurationError where the settings say that nothing is recorded."""
        if self._executions is None:
            message = "executions are not recorded here: `journal.enabled: true` in the configuration turns that on"
            raise ConfigurationError(message)
        return self._executions

    @property
    def observers(self) -> Observers:
        """Who looks on while programs run."""
        return self._programs.observers

    @observers.setter
    def observers(self, observers: Observers) -> None:
        self._programs.observers = observers

    @property
    def caller_names(self) -> frozenset[str]:
        """The names under which callers bring credentials of their own."""
        return frozenset(name for source in self.settings.sources.values() for name in source.caller_names)

    @property
    def is_ready(self) -> bool:
        """Whether the sources are read and the sandbox has started."""
        return bool(self.sources) and self._programs.is_started

    @takes(caller=CALLER)
    async def view(self, caller: Caller = LOCAL) -> View:
        """What there is for a caller. Raises RuntimeError where the service was not entered, or was left."""
        if not self.sources and self._is_open:
            await self._load()
        if not self.sources:
            raise RuntimeError("its sources are not read: enter it, as `async with CodeMode.from_config() as cm:` does")
        return await self._views.of(caller.role)

    async def start_sandbox(self) -> Mapping[str, str]:
        """Start the sandbox before the first program needs it; returns the layers of isolation in force."""
        return await self._programs.start()

    @takes(queries=TEXTS, timeout_s=SECONDS)
    async def settle_search(self, queries: Sequence[str], timeout_s: float) -> Progress | None:
        """Wait for embeddings, where there are any, until they fail: for who is in no hurry. Says how far they are."""
        await asyncio.to_thread(self._finder.settle, queries, timeout_s, gives_up=True)
        return self._finder.embedded

    @takes(labelled=PATH, change=FUNCTION)
    def evaluate_search(self, labelled: Path, *, change: Callable[[str], str] = str) -> Metrics:
        """How well search answers the labelled queries of a file, each passed through `change` first.

        Raises ConfigurationError where the file cannot be read, or an entry of it is wrong or names no tool.
        """
        queries = read_labelled(labelled, self.catalog)
        self._finder.settle([change(each.query) for each in queries], EMBEDDING_S)
        return evaluate(lambda text: [hit.tool.id for hit in self._finder.search(Query((change(text),))).hits], queries)

    @takes(labelled=PATH)
    def propose_weights(self, labelled: Path) -> Proposal:
        """Ranking weights for the labelled queries of a file. Raises ConfigurationError, also for too few of them."""
        try:
            return propose(self._finder.index, read_labelled(labelled, self.catalog))
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    def cost(self) -> CostReport:
        """What the catalog costs a model as native tools, and as two tools, in tokens."""
        return measure(self.catalog, local_tokenizer(tokenizer_folder()))

    @takes(settings=_MAYBE_SETTINGS)
    async def reload(self, settings: Settings | None = None) -> None:
        """Read all sources anew, with other sources, another policy and other menus if `settings` have them.

        Nothing is dropped: an execution under way keeps the catalog and the connections that it began with, which are
        closed once the last of these has ended. Where a source that was there cannot be read all stays as it was, and
        the error is raised (SourceError, ConfigurationError). Sandbox, limits, server and folders stay those of the
        start.
        """
        async with self._adopting:
            wanted = self.settings
            if settings is not None:
                changes = {name: getattr(settings, name) for name in ("sources", "policy", "menu")}
                wanted = wanted.model_copy(update=changes)
            bound = bound_functions(self._functions)
            reader = self._reader_of(wanted)
            loaded = {**(await reader.read_all(must=self._is_there)).sources, **bound}
            policy = AccessPolicy(wanted.policy)
            try:
                require_known_tools(wanted, policy, catalog_of(loaded))
                require_known_names(wanted, catalog_of(loaded))
            except ConfigurationError:
                await close_after((), loaded)
                raise
            await self._retries.aclose()
            retired, running = self.sources, set(self._programs.under_way)
            self.settings, self.policy, self._reader = wanted, policy, reader
            await self._adopt(loaded)
            self._retries.start(to_retry(loaded))
            self._later(close_after(running, retired))

    def _is_there(self, name: str) -> bool:
        return self.strict or (name in self.sources and self.sources[name].failure is None)

    async def _load(self) -> None:
        async with self._adopting:
            if self.sources:
                return
            await self.open()
            require_sources(self.settings, self._functions)
            bound = bound_functions(self._functions)
            reading = await self._reader.read_all(must=lambda _: self.strict, patience_s=self.patience_s)
            await self._adopt({**reading.sources, **bound})
            self._retries.start(to_retry(reading.sources), reading.late)
            require_known_tools(self.settings, self.policy, self.catalog)
            require_known_names(self.settings, self.catalog)

    def _reader_of(self, settings: Settings) -> Reader:
        return Reader(settings, contents=self._contents, on_change=self._definitions_changed)

    async def _arrived(self, source: LoadedSource) -> None:
        """A source that was not there can be read: take it over beside what is going on."""
        async with self._adopting:
            retired, running = {source.name: self.sources[source.name]}, set(self._programs.under_way)
            await self._adopt({**self.sources, source.name: source})
            self._later(close_after(running, retired))
            try:
                require_known_tools(self.settings, self.policy, self.catalog)
            except ConfigurationError as error:
                log.warning("%s", error)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._renewals.add(task)
        task.add_done_callback(self._renewals.discard)

    async def _adopt(self, sources: Mapping[str, LoadedSource]) -> None:
        """Make these the sources from now on; an execution under way keeps the catalog that it began with."""
        self.sources = sources
        catalog = enriched(catalog_of(sources), self.settings)
        await asyncio.to_thread(self._finder.open, catalog, [source.surface.digest for source in sources.values()])
        self.catalog = catalog
        transports = {name: source.transport for name, source in sources.items()}
        self._views = Views(catalog, self._finder, transports, self._shapes, self.policy, self._destinations())
        instructions = {name: source.instructions for name, source in self.settings.sources.items()}
        self._menus = Menus(self.settings.menu, instructions)

    def _destinations(self) -> Mapping[str, Destination]:
        """Where the calls of each source go, as the settings of now say."""
        return {name: destination_of(source) for name, source in self.settings.sources.items()}

    def _definitions_changed(self, name: str, definitions: Definitions) -> None:
        """An MCP server has other tools than before: take them over beside what is going on."""
        is_waiting = name in self._changed
        self._changed[name] = definitions
        if not is_waiting:
            self._later(self._renew(name))

    async def _renew(self, name: str) -> None:
        async with self._adopting:
            definitions = self._changed.pop(name)
            settings = self.settings.sources.get(name)
            if settings is None or name not in self.sources:
                return  # it was taken out meanwhile
            renewed = await asyncio.to_thread(
                with_definitions, self.sources[name], settings, definitions, self.settings.servers()
            )
            await self._adopt({**self.sources, name: renewed})
