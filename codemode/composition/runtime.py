"""What runs programs for models: the sandbox, the journal, the features, and what results and content are kept."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from codemode.catalog.content import id_in, is_content_id
from codemode.executions.journal.configured import journal_of
from codemode.executions.life.executions import Executions
from codemode.executions.life.results import Results
from codemode.executions.life.runner import Runner
from codemode.executions.life.slots import JournalSlots
from codemode.executions.plugins.loading import load_hooks
from codemode.executions.run.executor import Executor
from codemode.executions.run.program_functions import program_functions
from codemode.features.composition import Features
from codemode.features.feature import Core
from codemode.model.programs import ModelPrograms
from codemode.observing.configured import observers_of
from codemode.settings import Secrets
from codemode.transports.allowances import Allowances
from codemode.transports.content import ANY_BYTES, Content, ContentStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.composition.finding import Finding
    from codemode.composition.knowledge import Knowledge
    from codemode.executions.plugins.plugin import Plugin
    from codemode.executions.types.records import NewExecution
    from codemode.features.feature import Feature
    from codemode.gateway.caller import Caller
    from codemode.gateway.caller_view import View
    from codemode.settings import Settings
    from codemode.shared.values import ValueStore


class Runtime:
    """Runs the programs of a service. `finding` returns what its programs find.

    `programs` carries out requests for executions. `allowances` are the rates of upstream services and keys, which
    servers on one PostgreSQL share.
    """

    def __init__(
        self,
        settings: Settings,
        store: ValueStore,
        knowledge: Knowledge,
        features: Sequence[Feature],
        plugins: Sequence[Plugin],
        finding: Callable[[], Finding],
    ) -> None:
        self._settings = settings
        self._store = store
        self._knowledge = knowledge
        self._finding = finding
        self.is_open = False
        self.features = Features(features, settings)
        first, last = self.features.plugins(settings)
        self.hooks = load_hooks(settings.plugins, plugins, first=first, last=last)
        self.runner = Runner(
            Executor(settings.sandbox, settings.limits, self.hooks, stages=self.features.stages),
            view=self._view,
            functions=lru_cache(256)(self._functions_of),  # building the validators takes longer than a program
            policy=lambda: finding().settings.policy,
            destinations=lambda: finding().destinations,
        )
        self._results = Results()
        self.programs = ModelPrograms(self.runner, self._results, settings.limits.longest_s, knowledge.learn)
        self.contents = ContentStore(keep_s=settings.content.keep_s)
        self.allowances = Allowances()

    async def open(self) -> None:
        """Open the store and what the settings record. Raises ConfigurationError."""
        if self.is_open:
            return
        await self._knowledge.open()
        self.runner.observers = observers_of(self._settings.observe)
        journal = journal_of(self._settings, Secrets())
        if journal is not None:
            executions = Executions(journal, self.runner, self._settings.journal, self._approvers)
            self.programs.journal = executions
            if journal.slots is not None:
                self.allowances.slots = JournalSlots(journal.slots, executions.open)
        self.runner.parts = self.features.open(
            Core(
                settings=self._settings,
                current=lambda: self._finding().settings,
                secrets=Secrets(),
                store=self._store,
                runner=self.runner,
                executions=self.programs.journal,
                contents=self.contents,
                approvers=self._approvers,
                result=self.result,
                publish=lambda: self._finding().publish_again(),
            )
        )
        if self.programs.journal is not None:
            self.programs.journal.parts = self.runner.parts
        self.is_open = True

    async def aclose(self) -> None:
        """End the sandbox's processes, and close the journal."""
        if self.programs.journal is not None:
            await self.programs.journal.aclose()
        else:
            for part in self.runner.parts:
                await part.aclose()
        await self.runner.executor.aclose()

    async def close_observers(self) -> None:
        """Close plugins and observers, which may hear of calls until the connections of all sources are closed."""
        await self.hooks.aclose()
        self.runner.observers.close()

    def know_roles(self, role_of: Callable[[NewExecution], str | None]) -> None:
        """Look up the current roles of owners with `role_of`, which returns None for an owner without one."""
        self.runner.role_of = role_of
        if self.programs.journal is not None:
            self.programs.journal.role_of = role_of

    async def result(self, handle: str, *, caller: Caller) -> Any:
        """See `CodeMode.result`."""
        if is_content_id(handle):
            return (await self.content(handle, caller)).value
        return await self._results.load(handle, caller, self.programs.journal)

    async def content(self, reference: str | Mapping[str, Any], caller: Caller) -> Content:
        """See `CodeMode.content`."""
        return await self.contents.find(reference if isinstance(reference, str) else id_in(reference), caller.id)

    async def keep_content(self, data: bytes, media_type: str, name: str, caller: Caller) -> dict[str, Any]:
        """See `CodeMode.keep_content`."""
        await self.open()
        return await self.contents.add(Content(data, media_type or ANY_BYTES, name), caller.id)

    def _approvers(self) -> tuple[str, ...]:
        return self._finding().settings.policy.approvers

    async def _view(self, caller: Caller) -> View:
        return await self._finding().view(caller)

    def _functions_of(self, caller: Caller) -> Mapping[str, Callable[..., Awaitable[Any]]]:
        """Return the functions available to the caller's programs beside the tools."""
        return program_functions(
            lambda request: self._finding().find(request, caller),
            lambda name: self._finding().describe(name, caller),
            partial(self.result, caller=caller),
        )
