"""`CodeMode`: two tools for a model, over any number of sources."""

from __future__ import annotations

import asyncio
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from codemode.catalog.catalog import Catalog
from codemode.catalog.content import id_in, is_content_id
from codemode.catalog.cost import CostReport, measure
from codemode.catalog.inline import inline
from codemode.catalog.loading import log_loading
from codemode.catalog.observed import ObservedShapes
from codemode.catalog.tokens import local_tokenizer
from codemode.errors import CallError, WrongArgument
from codemode.executions.journal.configured import journal_of, store_of
from codemode.executions.life.executions import Executions
from codemode.executions.life.programs import Request, require_inputs
from codemode.executions.life.results import Results
from codemode.executions.life.runner import Runner
from codemode.executions.life.slots import JournalSlots
from codemode.executions.plugins.loading import load_hooks
from codemode.executions.run.executor import Executor
from codemode.executions.run.program_functions import program_functions
from codemode.features.all import FEATURES
from codemode.features.composition import Features
from codemode.features.feature import Core, FeaturePart
from codemode.gateway.answer_checks import AnswerChecks
from codemode.gateway.call import CallState
from codemode.gateway.caller import LOCAL, Caller
from codemode.gateway.caller_view import View, Views
from codemode.gateway.lint import require_known_tools
from codemode.gateway.policy import AccessPolicy
from codemode.menus.menus import Menus, require_known_names
from codemode.menus.session import MenuSession
from codemode.menus.usage import MenuProposal, MenuUsage, propose_menu
from codemode.model.inlining import Inlining
from codemode.model.learning import Learned, learn, learning_plan
from codemode.model.programs import ModelPrograms
from codemode.model.tools import Memories, ModelTools
from codemode.observing.configured import observers_of
from codemode.search.answer import answer_search
from codemode.search.describe import describe
from codemode.search.index.enrichment import enriched
from codemode.search.introduction import introductions
from codemode.search.request import Detail, SearchRequest
from codemode.search.usage import UsageLog
from codemode.settings import (
    DEFAULT_FILE,
    Secrets,
    Settings,
    load_settings,
    settings_for_document,
    settings_for_mcp_server,
    tokenizer_folder,
)
from codemode.shared.callbacks import ignore
from codemode.shared.closing import save_and_close
from codemode.sources.destination import destination_of
from codemode.transports.allowances import Allowances
from codemode.transports.content import ANY_BYTES, Content, ContentStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from codemode.catalog.inline import Inline
    from codemode.catalog.loading import LoadingListener
    from codemode.catalog.tool import Effect, Tool
    from codemode.executions.life.observer import Observers
    from codemode.executions.plugins.plugin import Plugin
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import NewExecution
    from codemode.features.feature import Feature
    from codemode.gateway.caller_view import Visible
    from codemode.menus.menu import Menu
    from codemode.menus.selection import Selector
    from codemode.search.evaluation.evaluation import Metrics
    from codemode.search.evaluation.tuning import Proposal
    from codemode.search.result import SearchAnswer
    from codemode.search.semantic.similarity import Progress
    from codemode.settings import ModeName, SecretReference
    from codemode.shared.values import ValueStore
    from codemode.sources.destination import Destination
    from codemode.sources.factory import LoadedSource
    from sandbox import Failure


P = TypeVar("P", bound=FeaturePart)


class CodeMode:
    """A catalog, a search index over it, and a sandbox that runs programs against it.

        async with CodeMode.from_config("codemode.yaml") as cm:
            print((await cm.search("freeze a membership")).text)
            outcome = await cm.execute("gym.clients.get_clients_list(name='John')")

    Entering reads the sources; the sandbox starts with the first program. If a source cannot be read, its last stored
    state is used, or its namespace is unavailable, and reading is retried. With `strict`, entering raises SourceError
    instead. `plugins` are called after those that the settings name. Raises ConfigurationError.

    `progress` receives the steps of reading, indexing and embedding. The default logs them. `features` are what is
    optional: see `codemode.features.all`.
    """

    def __init__(
        self,
        settings: Settings,
        functions: Mapping[str, object] | None = None,
        *,
        strict: bool = False,
        progress: LoadingListener = log_loading,
        plugins: Sequence[Plugin] = (),
        store: ValueStore | None = None,
        features: Sequence[Feature] = FEATURES,
    ) -> None:
        how = "read a file with CodeMode.from_config(…), or use Settings.model_validate(…) for a dict"
        WrongArgument.unless(settings, Settings, "settings", how)
        from codemode.search.finder import Finder
        from codemode.sources.live import LiveSources

        self.settings = settings
        self.strict = strict
        #: Seconds that entering waits for all sources. None waits for each source's own time limit.
        self.patience_s: float | None = None
        #: Whether reading the sources also indexes their tools. If not, the first search does.
        self.indexes_early = True
        self._functions = dict(functions or {})
        #: What the servers of the project share: keys, names, documents and learned data.
        self.store = store or store_of(settings, Secrets())
        self.catalog = Catalog(())
        self._finder = Finder(settings.search, settings.cache(), progress)
        self._shapes = ObservedShapes(self.store.value("shapes"))
        #: The answers that differ from their schemas, counted by tool.
        self.answer_checks = AnswerChecks(self.store.value("answers"))
        self._memories = Memories()
        self._inlining = Inlining(self.store.value("usage"), self._shapes)
        self.policy = AccessPolicy(settings.policy)
        self._destinations = _destinations(settings)
        self._views = Views(self.catalog, self._finder, {}, self._shapes, self.policy)
        self._menus = Menus(settings.menu, {})
        self._introductions: Mapping[str, str] = {}
        self._menu_usage = MenuUsage(settings.learned() / "menu-usage.jsonl", keeps=settings.menu.record_usage)
        self._usage = UsageLog(settings.learned() / "usage.jsonl") if settings.search.record_usage else None
        self.features = Features(features, settings)
        first, last = self.features.plugins(settings)
        self.hooks = load_hooks(settings.plugins, plugins, first=first, last=last)
        self._programs = Runner(
            Executor(settings.sandbox, settings.limits, self.hooks, stages=self.features.stages),
            view=self.view,
            functions=lru_cache(256)(self._functions_of),  # building the validators takes longer than a program
            policy=lambda: self.settings.policy,
            destinations=lambda: self._destinations,
        )
        self._results = Results()
        #: Carries out requests for executions.
        self.programs = ModelPrograms(self._programs, self._results, settings.limits.longest_s, self._learn)
        self._contents = ContentStore(keep_s=settings.content.keep_s)
        #: The rates of upstream services and keys, which servers on one PostgreSQL share.
        self.allowances = Allowances()
        self._live = LiveSources(
            settings,
            self._functions,
            self._contents,
            self.store,
            self.allowances,
            strict=strict,
            publish=self._adopt,
            check=self._check,
            under_way=lambda: self._programs.under_way,
            progress=progress,
        )
        self._own_sources: Mapping[str, LoadedSource] = {}
        self._is_open = False

    @classmethod
    def from_config(
        cls, path: str | Path = DEFAULT_FILE, *, strict: bool = False, plugins: Sequence[Plugin] = ()
    ) -> Self:
        """Build a service from a configuration file. Raises ConfigurationError with every mistake in it."""
        return cls(load_settings(path), strict=strict, plugins=plugins)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        functions: Mapping[str, object] | None = None,
        strict: bool = False,
        progress: LoadingListener = log_loading,
        plugins: Sequence[Plugin] = (),
        store: ValueStore | None = None,
    ) -> Self:
        """Build a service from settings, with `functions` as further sources by namespace.

        Each value of `functions` is a function, a module, a class, an object, or a list or dict of these. `store` is
        what servers share, None for that of the settings. The service closes it.
        """
        return cls(settings, functions, strict=strict, progress=progress, plugins=plugins, store=store)

    @classmethod
    def from_openapi(
        cls, location: str | Path, *, base_url: str = "", name: str = "", bearer: SecretReference | None = None
    ) -> Self:
        """Create the service for one API document, by file or URL, without a configuration file.

        `base_url` is where the operations are; `bearer` refers to a bearer token (`SecretReference(env="GYM_TOKEN")`).
        The namespace is `name`, or is derived from the location. Raises ConfigurationError.
        """
        return cls(settings_for_document(str(location), base_url=base_url, name=name, bearer=bearer))

    @classmethod
    def from_mcp(
        cls,
        server: str | Sequence[str],
        *more: object,
        name: str = "mcp",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Self:
        """Create the service for one MCP server: its URL, or the command that starts it (`["npx", "-y", "server"]`).

        The namespace is `name`; `headers` are sent with each request to a URL. Raises ConfigurationError.
        """
        if more:
            raise WrongArgument('pass the command as one list: CodeMode.from_mcp(["npx", "-y", "server"])')
        return cls(settings_for_mcp_server(server, name=name, headers=headers))

    @classmethod
    def from_functions(cls, *unnamed: object, **functions: object) -> Self:
        """Build a service from Python functions only: `CodeMode.from_functions(shop=[find_order, cancel_order])`."""
        if unnamed:
            raise WrongArgument("name the functions by their namespace: CodeMode.from_functions(shop=[find_order])")
        return cls(Settings(), functions)

    def __repr__(self) -> str:
        names = ", ".join([*self.settings.sources, *self._functions])
        state = f"{len(self.catalog)} tools" if self._is_open else "not open"
        return f"<CodeMode {names or 'without sources'}: {state}>"

    async def start(self) -> Self:
        """Read the sources, as entering does, and return the service. Close it with `aclose`."""
        return await self.__aenter__()

    async def __aenter__(self) -> Self:
        try:
            await self._load()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def open(self) -> None:
        """Open the service without reading its sources, which are read on first use. Close it with `aclose`.

        Raises ConfigurationError.
        """
        if self._is_open:
            return
        self.store.open()
        await asyncio.to_thread(self._shapes.load)
        await asyncio.to_thread(self.answer_checks.load)
        await asyncio.to_thread(self._inlining.usage.load)
        self.observers = observers_of(self.settings.observe)
        journal = journal_of(self.settings, Secrets())
        if journal is not None:
            executions = Executions(journal, self._programs, self.settings.journal, self._approvers)
            self.programs.journal = executions
            if journal.slots is not None:
                self.allowances.slots = JournalSlots(journal.slots, executions.open)
        self._programs.parts = self.features.open(
            Core(
                self.settings,
                lambda: self.settings,
                Secrets(),
                self.store,
                self._programs,
                self.programs.journal,
                self._contents,
                self._approvers,
                self.result,
                self._live.publish_again,
            )
        )
        if self.programs.journal is not None:
            self.programs.journal.parts = self._programs.parts
        self._is_open = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the sandbox's processes and close the connections of all sources."""
        self._is_open = False
        await self._live.stop()
        self._finder.close()
        if self.programs.journal is not None:
            await self.programs.journal.aclose()
        await self._programs.executor.aclose()
        await self._live.aclose()
        await self.hooks.aclose()
        self.observers.close()
        await save_and_close(self.store, self.answer_checks.save, self._inlining.usage.save)

    async def search(
        self,
        queries: str | Sequence[str],
        *,
        namespace: str | None = None,
        source: str | None = None,
        effect: Effect | None = None,
        tag: str | None = None,
        detail: Detail = "auto",
        limit: int | None = None,
        offset: int = 0,
        introduce: bool = True,
        caller: Caller = LOCAL,
    ) -> SearchAnswer:
        """Find tools that the role of `caller` may use. The answer's text fits the configured budget.

        `SearchRequest` documents the arguments. Raises WrongArgument, and SearchInvalid for unknown filter values.
        """
        request = SearchRequest.checked(
            queries=queries,
            namespace=namespace,
            detail=detail,
            source=source,
            effect=effect,
            tag=tag,
            limit=limit,
            offset=offset,
            introduce=introduce,
        )
        return await self.find(request, caller)

    async def find(self, request: SearchRequest, caller: Caller) -> SearchAnswer:
        """Answer a search whose arguments are valid. See `search`."""
        if self._shapes.is_outdated:
            await asyncio.to_thread(self._shapes.load)
        view = await self.view(caller)
        return await answer_search(
            request,
            view.catalog,
            view.finder,
            budget_tokens=self.settings.search.budget_tokens,
            observed=partial(self._shapes.schema, caller.id),
            guarded=partial(self.policy.guards, caller.role),
            searched=partial(self._usage.searched, who=caller.id) if self._usage is not None else lambda _: None,
            introductions=self._introductions,
        )

    async def describe(self, name: str = "", *, caller: Caller = LOCAL) -> str:
        """Return a namespace with its instructions, a group or a tool as text within the configured budget.

        Raises ToolNotFound with the nearest ids.
        """
        return describe(
            name,
            (await self.view(caller)).catalog,
            budget_tokens=self.settings.search.budget_tokens,
            introductions=self._introductions,
            observed=partial(self._shapes.schema, caller.id),
        )

    async def inline(self, caller: Caller = LOCAL) -> Inline:
        """Return the signatures that the definition of `execute` carries for a caller."""
        catalog = (await self.view(caller)).catalog
        return await self._inlining.of(caller, catalog, self.settings.definitions, self._introductions)

    async def select_menu(
        self, message: str, history: Iterable[Any] = (), *, summary: str = "", caller: Caller = LOCAL
    ) -> Menu:
        """Return the tools to offer for a message, for models that cannot write code. Configure it in `settings.menu`.

        `history` are the previous messages in the form of OpenAI, its SDK or LangChain; `summary` may replace older
        ones. If the service was not entered, this reads the sources. Raises ConfigurationError if the settings do not
        work for the role of `caller`, and what entering raises.
        """
        return await self._menu_session(caller, answers=False).offer(message, history, summary)

    async def menu_session(self, caller: Caller = LOCAL) -> MenuSession:
        """Return a session that offers menus for one conversation and answers its meta-tools."""
        return self._menu_session(caller, answers=True)

    def _menu_session(self, caller: Caller, *, answers: bool) -> MenuSession:
        async def run(tool: Tool, arguments: Mapping[str, Any]) -> Any:
            ended = await self.execute(f"{tool.id}(**{dict(arguments)!r})", caller=caller)
            if not ended.ok:
                raise CallError(ended.failure.message if ended.failure else str(ended.status))
            return ended.value

        offered = partial(self._menu_usage.offered, who=caller.id)
        return MenuSession(partial(self._selector, caller), answers=answers, run=run, offered=offered)

    async def _selector(self, caller: Caller) -> Selector:
        await self._load()  # bots that run their own tools do not enter the service
        view = await self.view(caller)
        return await self._menus.selector(caller.role, view.catalog, view.finder)

    async def propose_menu(self) -> MenuProposal | None:
        """Return default and core tools proposed from recorded calls, None if there are too few calls."""
        return propose_menu(self._menu_usage.read(), await self._selector(LOCAL))

    async def execute(
        self,
        code: str,
        *,
        caller: Caller = LOCAL,
        credentials: Mapping[str, str] = MappingProxyType({}),
        resume_from: str = "",
        fresh_reads: bool = False,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        dry_run: bool = False,
        conversation: str = "",
        plan: str = "",
        idempotency_key: str = "",
        begun: Callable[[], None] = ignore,
        watch: Callable[[LedgerEntry], None] = ignore,
    ) -> ExecutionOutcome:
        """Run a program with every tool bound that the role of `caller` may use.

        With a journal, the outcome may be `paused`. `execute("", resume_from=id)` continues it once its calls are
        decided, or returns the outcome of one that has ended. With a program, `resume_from` repairs an execution: its
        committed calls are reused instead of repeated, and its reads too unless `fresh_reads`. `continuations` continue
        a paused program if the settings have these instead of the journal.

        A `dry_run` sends reads only. Writes, and calls that need a person, are listed in `planned` of the outcome and
        return placeholders. With a journal, the list becomes a plan with the id `plan`. Once an approver has approved
        it, `execute("", plan=…)` runs the program: listed calls are approved, and any other write waits for a person.

        `inputs` are variables of the program, as JSON data; `keep_content` returns references for files.
        `conversation` is any id of 1 to 128 visible characters. The caller's programs with the same id share what
        `store(name, value)` keeps, and the previous result as `last`.

        `credentials` are the caller's own secrets for services, by their names in the configuration (`caller: NAME`).
        They are held for this execution only.

        `idempotency_key` needs the journal: a second call with the caller's same key runs nothing and raises
        RequestRepeated with the id of the first execution, or RequestConflict if the program differs.

        `begun` is called when the program has compiled and is about to run. `watch` is called with each call's entry
        when the call is refused, sent and ended.

        Errors of the program or of a tool are part of the outcome. Raises `sandbox.SandboxError` if no program can run,
        ExecutionNotFound for an unknown `resume_from` or another caller's, JournalUnavailable, WrongArgument; for a
        plan PlanNotFound, ExecutionWaiting before its approval, PlanRefused.
        """
        WrongArgument.unless(code, str, "code")
        WrongArgument.unless(resume_from or "", str, "resume_from")
        require_inputs(inputs or {})
        request = Request(
            code,
            credentials,
            resume_from or "",  # models send null, and callers pass it on
            fresh_reads,
            inputs or {},
            plan or "",
            key=idempotency_key,
            conversation=conversation or "",
            begun=begun,
            watch=watch,
        )
        return await self.programs.perform(request, caller, dry_run=dry_run)

    async def _learn(self, outcome: ExecutionOutcome, caller: Caller) -> None:
        """Store what the calls of a program taught: shapes of answers, differences from schemas, usage."""
        if self._shapes.is_unsaved:
            await asyncio.to_thread(self._shapes.save)
        if self.answer_checks.is_unsaved:
            await asyncio.to_thread(self.answer_checks.save)
        if self._inlining.usage.is_unsaved:
            await asyncio.to_thread(self._inlining.usage.save)
        made = [call for call in outcome.calls if call.state in (CallState.COMMITTED, CallState.READ)]
        self._inlining.usage.called(caller.role, {call.tool for call in made})
        for call in made:
            self._menu_usage.called(call.tool, who=caller.id)
            if self._usage is not None:
                self._usage.called(call.tool, who=caller.id)

    async def learn(self, source: str) -> list[Learned]:
        """Call the reads of a source whose results are undocumented, and show all callers the fields of the answers.

        Nothing else is called, nor what the policy denies or a person decides. Raises ConfigurationError for an unknown
        source.
        """
        plan = learning_plan(source, (await self.view()).catalog, partial(self.policy.guards, LOCAL.role))
        learned = await learn(plan, partial(self.execute, dry_run=True), self._shapes, LOCAL.id)
        await asyncio.to_thread(self._shapes.save)
        return learned

    async def check(self, code: str, *, caller: Caller = LOCAL) -> Failure | None:
        """Return the mistakes that keep a program from running: syntax, unknown tools and arguments. None without any.

        Nothing of the program runs. Raises `sandbox.SandboxError` if no program can run, WrongArgument.
        """
        WrongArgument.unless(code, str, "code")
        await self.view(caller)
        return await self._programs.check(code, caller)

    def tools(
        self,
        caller: Caller = LOCAL,
        conversation: str = "",
        *,
        mode: ModeName = "code",
        approver: Caller | None = None,
        shows: Collection[str] | None = (),
    ) -> ModelTools:
        """Return what a model sees and calls in one conversation of a caller, for a loop of your own.

            tools = cm.tools(conversation="chat-7")
            await tools.definitions("responses")             # or "chat", "anthropic", "mcp"
            answer = await tools.call(name, arguments)       # text, data, content, status, ids of what waits

        Every interface of codemode uses this object. `mode` says what the model gets. `approver` is the caller in whose
        name `tools.decide` decides. `shows` are the media types that the client shows, None for all. Raises
        ConfigurationError if the approver may not decide.
        """
        WrongArgument.unless(caller, Caller, "caller", "Caller(id, role) creates one")
        memory = self._memories.of(caller, conversation, mode)
        return ModelTools(self, caller, conversation, mode=mode, approver=approver, shows=shows, memory=memory)

    async def definitions(self, caller: Caller = LOCAL) -> list[dict[str, Any]]:
        """Return a model's tools as OpenAI function definitions: `search`, `execute`, and the caller's pins."""
        return await self.tools(caller).definitions()

    def _functions_of(self, caller: Caller) -> Mapping[str, Callable[..., Awaitable[Any]]]:
        """Return the functions available to the caller's programs beside the tools."""
        return program_functions(
            partial(self.find, caller=caller),
            partial(self.describe, caller=caller),
            partial(self.result, caller=caller),
        )

    async def result(self, handle: str, *, caller: Caller = LOCAL) -> Any:
        """Return the whole result of one of the caller's programs, as JSON data. Models see large results in part.

        `handle` is `h_` and the digits of the execution's id, or the id of content: its text or `{"$base64": …}`.
        Raises ResultNotFound, ContentNotFound.
        """
        if is_content_id(handle):
            return (await self.content(handle, caller=caller)).value
        return await self._results.load(handle, caller, self.programs.journal)

    async def content(self, reference: str | Mapping[str, Any], *, caller: Caller = LOCAL) -> Content:
        """Return an image or file of the caller, by a reference in a result or its id. Raises ContentNotFound."""
        return await self._contents.find(reference if isinstance(reference, str) else id_in(reference), caller.id)

    async def keep_content(
        self, data: bytes, media_type: str = "", name: str = "", *, caller: Caller = LOCAL
    ) -> dict[str, Any]:
        """Store a file for the caller and return its reference, for `inputs` and for arguments of tools.

        Without a media type, common ones are recognized. Raises JournalUnavailable.
        """
        WrongArgument.unless(data, bytes, "data")
        await self.open()
        return await self._contents.add(Content(data, media_type or ANY_BYTES, name), caller.id)

    def part(self, kind: type[P]) -> P:
        """Return what a feature does for this service, such as `Plans`.

        Raises ConfigurationError if the service was made without the feature, or the settings do not ask for it.
        """
        return self.features.part(kind)

    @property
    def executions(self) -> Executions:
        """The recorded executions. Raises ConfigurationError if the settings disable the journal."""
        return self.programs.executions

    def know_roles(self, role_of: Callable[[NewExecution], str | None]) -> None:
        """Look up the current roles of owners with `role_of`, which returns None for an owner without one."""
        self._programs.role_of = role_of
        if self.programs.journal is not None:
            self.programs.journal.role_of = role_of

    def _approvers(self) -> tuple[str, ...]:
        return self.settings.policy.approvers

    @property
    def observers(self) -> Observers:
        """The observers of running programs."""
        return self._programs.observers

    @observers.setter
    def observers(self, observers: Observers) -> None:
        self._programs.observers = observers

    @property
    def caller_names(self) -> frozenset[str]:
        """The names under which callers bring their own credentials."""
        return frozenset(name for source in self.settings.sources.values() for name in source.caller_names)

    @property
    def is_ready(self) -> bool:
        """Whether the sources are read and the sandbox has started."""
        return bool(self.sources) and self._programs.is_started

    async def view(self, caller: Caller = LOCAL) -> View:
        """Return the part of the catalog visible to a caller. Raises RuntimeError if the service is not entered."""
        WrongArgument.unless(caller, Caller, "caller", "Caller(id, role) creates one")
        if not self.sources and self._is_open:
            await self._load()
        if not self.sources:
            raise RuntimeError("the service is not open: enter it with `async with`, or call `await cm.start()`")
        if self.features.have_changed():
            await self._live.publish_again()
        return await self._views.of(caller.role)

    def visible(self, role: str) -> Visible | None:
        """Return how many tools a role may use and of which sources, None while the sources are unread."""
        return self._views.visible(role)

    async def start_sandbox(self) -> Mapping[str, str]:
        """Start the sandbox before the first program needs it. Return the layers of isolation in force."""
        return await self._programs.start()

    async def settle_search(self, queries: Sequence[str], timeout_s: float) -> Progress | None:
        """Wait up to `timeout_s` for embeddings, or until they fail. Return their progress, None without embeddings."""
        await asyncio.to_thread(self._finder.settle, queries, timeout_s, gives_up=True)
        return self._finder.embedded

    def evaluate_search(self, labelled: Path, *, change: Callable[[str], str] = str) -> Metrics:
        """Return how well search answers the labelled queries of a file, after `change` is applied to each query.

        Raises ConfigurationError if the file is unreadable, or an entry is invalid or names an unknown tool.
        """
        from codemode.search.evaluation.quality import evaluate_search

        return evaluate_search(self._finder, self.catalog, labelled, change)

    def propose_weights(self, labelled: Path) -> Proposal:
        """Return ranking weights for the labelled queries of a file.

        Raises ConfigurationError, also for too few queries.
        """
        from codemode.search.evaluation.quality import propose_weights

        return propose_weights(self._finder, self.catalog, labelled)

    def cost(self) -> CostReport:
        """Return the catalog's cost to a model in tokens, as native tools and as two tools."""
        signatures = inline(self.catalog, tuple, self.settings.definitions.inline_tokens)
        return measure(self.catalog, local_tokenizer(tokenizer_folder()), signatures)

    async def reload(self, settings: Settings | None = None) -> None:
        """Read all sources again, with the sources, policy and menus of `settings` if given.

        Running executions keep their catalog and connections, which are closed after the last of them ends. If an
        existing source cannot be read, nothing changes and the error is raised (SourceError, ConfigurationError).
        Changes to sandbox, limits, plugins, server and folders need a restart.
        """
        await self._live.reload(settings)

    @property
    def sources(self) -> Mapping[str, LoadedSource]:
        """The sources as last read, by name."""
        return {**self._live.loaded, **self._own_sources} if self._live.loaded else {}

    async def _load(self) -> None:
        if not self.sources:
            await self.open()
            await asyncio.to_thread(self.features.refresh)
            await self._live.load(self.patience_s)

    def _check(self, settings: Settings, catalog: Catalog) -> None:
        """Raise ConfigurationError if the policy or the menus name tools that the catalog does not have."""
        from codemode.sources.loader import catalog_of

        own = self.features.own_sources(catalog)
        absent = {name: source for name, source in own.items() if name not in catalog.namespaces}
        if absent:
            catalog = catalog.merged(catalog_of(absent))
        require_known_tools(settings, AccessPolicy(settings.policy), catalog)
        require_known_names(settings, catalog)

    async def _adopt(self, settings: Settings, sources: Mapping[str, LoadedSource]) -> Catalog:
        """Use these sources from now on. A running execution keeps its catalog."""
        if settings is not self.settings:
            self.settings, self.policy = settings, AccessPolicy(settings.policy)
            self._destinations = _destinations(settings)
        from codemode.sources.loader import catalog_of

        await asyncio.to_thread(self.features.refresh)
        self._own_sources = self.features.own_sources(catalog_of(sources))
        sources = {**sources, **self._own_sources}
        catalog = enriched(catalog_of(sources), settings)
        open_ = self._finder.open if self.indexes_early else self._finder.open_later
        await asyncio.to_thread(open_, catalog, [source.surface.digest for source in sources.values()])
        self.catalog = catalog
        transports = {name: source.transport for name, source in sources.items()}
        self._views = Views(
            catalog,
            self._finder,
            transports,
            self._shapes,
            self.policy,
            self._destinations,
            self.answer_checks,
            self._contents,
        )
        instructions = {name: source.introduction for name, source in settings.sources.items()}
        descriptions = {name: source.surface.description for name, source in sources.items()}
        self._introductions = introductions(instructions, descriptions)
        self._menus = Menus(settings.menu, instructions)
        return catalog


def _destinations(settings: Settings) -> Mapping[str, Destination]:
    """Return the destination of each source's calls."""
    return {name: destination_of(source) for name, source in settings.sources.items()}
