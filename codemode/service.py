"""`CodeMode`: two tools for a model, over any number of sources."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from codemode.catalog.loading import log_loading
from codemode.composition.construction import Construction
from codemode.composition.discovery import Discovery
from codemode.composition.knowledge import Knowledge
from codemode.composition.runtime import Runtime
from codemode.errors import CallError, WrongArgument
from codemode.executions.life.programs import Request, require_inputs
from codemode.features.all import FEATURES
from codemode.features.feature import FeaturePart
from codemode.gateway.caller import LOCAL, Caller
from codemode.model.tools import ModelTools
from codemode.search.request import Detail, SearchRequest
from codemode.settings import (
    Settings,
)
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import TracebackType

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.loading import LoadingListener
    from codemode.catalog.tool import Effect, Tool
    from codemode.executions.life.executions import Executions
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.plugins.plugin import Plugin
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.features.feature import Feature
    from codemode.gateway.caller_view import View, Visible
    from codemode.menus.menu import Menu
    from codemode.menus.session import MenuSession
    from codemode.model.programs import ModelPrograms
    from codemode.search.result import Accepts, SearchAnswer
    from codemode.settings import ModeName
    from codemode.shared.values import ValueStore
    from codemode.sources.factory import LoadedSource
    from codemode.transports.content import Content
    from sandbox import Failure


P = TypeVar("P", bound=FeaturePart)


class CodeMode(Construction):
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
        self.strict = strict
        self.functions = dict(functions or {})
        #: What calls teach, what runs programs, and what models find.
        self.knowledge = Knowledge(settings, store)
        #: What the servers of the project share: keys, names, documents and learned data.
        self.store = self.knowledge.store
        self.runtime = Runtime(settings, self.store, self.knowledge, features, plugins, lambda: self.discovery)
        self.discovery = Discovery(
            settings, self.functions, self.store, self.knowledge, self.runtime, strict=strict, progress=progress
        )

    def __repr__(self) -> str:
        names = ", ".join([*self.settings.sources, *self.functions])
        state = f"{len(self.catalog)} tools" if self.runtime.is_open else "not open"
        return f"<CodeMode {names or 'without sources'}: {state}>"

    async def start(self) -> Self:
        """Read the sources, as entering does, and return the service. Close it with `aclose`."""
        return await self.__aenter__()

    async def __aenter__(self) -> Self:
        try:
            await self.discovery.load()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def open(self) -> None:
        """Open the service without reading its sources, which are read on first use. Close it with `aclose`.

        Raises ConfigurationError.
        """
        await self.runtime.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the sandbox's processes and close the connections of all sources."""
        self.runtime.is_open = False
        await self.discovery.stop()
        await self.runtime.aclose()
        await self.discovery.aclose()
        await self.runtime.close_observers()
        await self.knowledge.aclose()

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

    async def find(
        self, request: SearchRequest, caller: Caller, accepts: Accepts | None = None, conversation: str = ""
    ) -> SearchAnswer:
        """Answer a search whose arguments are valid: with `accepts`, by the sure hits that it accepts. See `search`."""
        return await self.discovery.find(request, caller, accepts, conversation)

    async def describe(self, name: str = "", *, caller: Caller = LOCAL) -> str:
        """Return a namespace with its instructions, a group or a tool as text within the configured budget.

        Raises ToolNotFound with the nearest ids.
        """
        return await self.discovery.describe(name, caller)

    async def inline(self, caller: Caller = LOCAL) -> Inline:
        """Return the signatures that the definition of `execute` carries for a caller."""
        return await self.discovery.inline(caller)

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

        return self.discovery.menu_session(caller, run, answers=answers)

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

    async def check(self, code: str, *, caller: Caller = LOCAL) -> Failure | None:
        """Return the mistakes that keep a program from running: syntax, unknown tools and arguments. None without any.

        Nothing of the program runs. Raises `sandbox.SandboxError` if no program can run, WrongArgument.
        """
        WrongArgument.unless(code, str, "code")
        await self.view(caller)
        return await self.runtime.runner.check(code, caller)

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
        return ModelTools(
            self,
            caller,
            conversation,
            mode=mode,
            approver=approver,
            shows=shows,
            memory=self.knowledge.memories.of(caller, conversation, mode),
            memories=self.knowledge.memories,
        )

    async def definitions(self, caller: Caller = LOCAL) -> list[dict[str, Any]]:
        """Return a model's tools as OpenAI function definitions: `search`, `execute`, and the caller's pins."""
        return await self.tools(caller).definitions()

    async def result(self, handle: str, *, caller: Caller = LOCAL) -> Any:
        """Return the whole result of one of the caller's programs, as JSON data. Models see large results in part.

        `handle` is `h_` and the digits of the execution's id, or the id of content: its text or `{"$base64": …}`.
        Raises ResultNotFound, ContentNotFound.
        """
        return await self.runtime.result(handle, caller=caller)

    async def content(self, reference: str | Mapping[str, Any], *, caller: Caller = LOCAL) -> Content:
        """Return an image or file of the caller, by a reference in a result or its id. Raises ContentNotFound."""
        return await self.runtime.content(reference, caller)

    async def keep_content(
        self, data: bytes, media_type: str = "", name: str = "", *, caller: Caller = LOCAL
    ) -> dict[str, Any]:
        """Store a file for the caller and return its reference, for `inputs` and for arguments of tools.

        Without a media type, common ones are recognized. Raises JournalUnavailable.
        """
        WrongArgument.unless(data, bytes, "data")
        return await self.runtime.keep_content(data, media_type, name, caller)

    def part(self, kind: type[P]) -> P:
        """Return what a feature does for this service, such as `Plans`.

        Raises ConfigurationError if the service was made without the feature, or the settings do not ask for it.
        """
        return self.runtime.features.part(kind)

    async def view(self, caller: Caller = LOCAL) -> View:
        """Return the part of the catalog visible to a caller. Raises RuntimeError if the service is not entered."""
        return await self.discovery.view(caller)

    async def start_sandbox(self) -> Mapping[str, str]:
        """Start the sandbox before the first program needs it. Return the layers of isolation in force."""
        return await self.runtime.runner.start()

    def visible(self, role: str) -> Visible | None:
        """Return how many tools a role may use and of which sources, None while the sources are unread."""
        return self.discovery.views.visible(role)

    async def reload(self, settings: Settings | None = None) -> None:
        """Read all sources again, with the sources, policy, flow rules and menus of `settings` if given.

        Running executions keep their catalog and connections, which are closed after the last of them ends. If an
        existing source cannot be read, nothing changes and the error is raised (SourceError, ConfigurationError).
        Changes to sandbox, limits, plugins, server and folders need a restart.
        """
        await self.discovery.reload(settings)

    @property
    def settings(self) -> Settings:
        """The settings, as last reloaded."""
        return self.discovery.settings

    @property
    def catalog(self) -> Catalog:
        """All tools, as last read."""
        return self.discovery.catalog

    @property
    def sources(self) -> Mapping[str, LoadedSource]:
        """The sources as last read, by name."""
        return self.discovery.sources

    @property
    def hooks(self) -> Hooks:
        """The hooks of the plugins."""
        return self.runtime.hooks

    @property
    def programs(self) -> ModelPrograms:
        """What carries out requests for executions."""
        return self.runtime.programs

    @property
    def executions(self) -> Executions:
        """The recorded executions. Raises ConfigurationError if the settings disable the journal."""
        return self.programs.executions

    @property
    def is_ready(self) -> bool:
        """Whether the sources are read and the sandbox has started."""
        return bool(self.sources) and self.runtime.runner.is_started
