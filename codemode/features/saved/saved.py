"""The saved programs of a service: list, read, check, save and remove them."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from codemode.catalog.saved import SAVED, SavedProgram, program_of
from codemode.errors import ConfigurationError
from codemode.executions.run.inner_run import WITHIN
from codemode.executions.run.preflight import check
from codemode.executions.types.saving_errors import SavingForbidden, SavingRefused
from codemode.features.feature import FeaturePart
from codemode.features.saved.folder import SavedFolder
from codemode.features.saved.promotion import completed, draft
from codemode.features.saved.runs import SavedRuns
from codemode.features.saved.shared_programs import SharedPrograms
from codemode.features.saved.sites import call_sites
from codemode.gateway.caller import LOCAL
from codemode.shared.values import UNAVAILABLE
from sandbox import ProgramRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.life.executions import Executions
    from codemode.executions.life.runner import Runner
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.promotion import Promotion
    from codemode.features.feature import Core
    from codemode.features.saved.folder import Stamp
    from codemode.features.saved.shared_programs import SharedStamp
    from codemode.gateway.caller import Caller
    from codemode.settings import Settings
    from codemode.shared.values import SharedValue
    from codemode.sources.factory import LoadedSource

log = logging.getLogger(__name__)

#: Seconds between two attempts to read programs from a database that did not answer.
RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class Checked:
    """A saved program or a file of the folder, and why it is broken: "" if it is not."""

    name: str
    problem: str = ""


class SavedPrograms(FeaturePart):
    """The saved programs, as callers may see them.

    `settings` returns the settings of the service. `shared` is the value of the programs that servers share, used if
    the settings have a shared store. `executions` returns the recorded executions, `programs` runs programs, and
    `publish` makes the programs tools after a change.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        shared: SharedValue,
        programs: Runner,
        executions: Callable[[], Executions],
        publish: Callable[[], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._shared = shared
        self._programs = programs
        self._executions = executions
        self._publish = publish
        self._stamp: Stamp | SharedStamp | None = None
        self._refreshed = float("-inf")
        #: What is wrong with files that are no programs, by name.
        self.problems: Mapping[str, str] = {}
        #: The source of the saved programs by its name. Empty if there is no place for them.
        self.loaded: Mapping[str, LoadedSource] = {}
        self._all: Mapping[str, SavedProgram] = {}

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart`."""

        def executions() -> Executions:
            if core.executions is None:
                raise ConfigurationError(cls.absent)
            return core.executions

        return cls(core.current, core.store.value("programs"), core.runner, executions, core.publish)

    def stage(self, staging: Staging) -> SavedRuns:
        """See `Part`."""
        return SavedRuns(staging)

    # --- for the catalog ---------------------------------------------------------------------------------------

    def has_changed(self) -> bool:
        """See `Part`. Does not wait for a database."""
        if not self._settings().saves_programs:
            return False
        if self._stamp is None:
            return time.monotonic() - self._refreshed > RETRY_S
        try:
            return self._place().stamp() != self._stamp
        except UNAVAILABLE:
            return False  # the known ones are used until the database answers

    def refresh(self) -> None:
        """Read the programs, in a thread. If the database does not answer, the known ones stay."""
        if not self._settings().saves_programs:
            return
        self._refreshed = time.monotonic()
        place = self._place()
        try:
            stamp = place.stamp()
            self._all, self.problems = place.read()
            self._stamp = stamp
        except UNAVAILABLE as error:
            self._stamp = None
            log.error("saved programs cannot be read, and are those of before: %s", error)

    def sources(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """Return the programs that were read as a source over `catalog`, by its name."""
        from codemode.features.saved.source import source_of

        has_any = self._settings().saved.folder is not None or self._all or self.problems
        self.loaded = {SAVED: source_of(self._all, self.problems, catalog)} if has_any else {}
        return self.loaded

    # --- for callers -------------------------------------------------------------------------------------------

    async def list(self, caller: Caller = LOCAL) -> tuple[Tool, ...]:
        """Return the saved programs that the caller's role sees, as tools. `program_of` returns the program."""
        return tuple(tool for tool in await self._catalog(caller) if tool.source == SAVED)

    async def get(self, name: str, caller: Caller = LOCAL) -> Tool:
        """Return a saved program as a tool, by its name or id. Raises ToolNotFound."""
        return (await self._catalog(caller)).get(_id(name))

    async def check(self, caller: Caller = LOCAL) -> tuple[Checked, ...]:
        """Check every saved program: its tools, its arguments and its language. Nothing is run.

        Files that are no programs are returned too.
        """
        catalog = await self._catalog(caller)
        programs = [program for tool in await self.list(caller) if (program := program_of(tool)) is not None]
        found = [Checked(program.name, await self._problem(program, catalog)) for program in programs]
        return (*found, *(Checked(name, problem) for name, problem in self.problems.items()))

    async def promote(self, promotion: Promotion, caller: Caller = LOCAL, *, reader: Caller | None = None) -> Tool:
        """Save the program of the caller's completed execution. An existing program gets the next version.

        `reader` is who sees the execution if that is not the caller: the operator sees all.

        Raises SavingForbidden, SavingRefused, ExecutionNotFound, ConfigurationError.
        """
        self._require_right(caller)
        place = self._place()
        stored = await self._executions().get(promotion.execution, reader or caller)
        catalog = await self._catalog(caller)
        self._require_own(promotion.name, catalog)
        program = draft(promotion, stored, self._all.get(promotion.name))
        await self._programs.start()
        found = await call_sites(self._programs.executor.sandbox, program.code, catalog.domains, program.parameters)
        if found.refused:
            message = f"the program cannot run with these parameters: {found.refused}"
            raise SavingRefused(message)
        calls = (stored.outcome or {}).get("calls", ())
        called = [call["tool"] for call in calls if WITHIN not in call["path"]]  # others belong to saved programs
        whole = completed(replace(program, saved_by=caller.label or caller.id), found.calls, called, catalog)
        self._require_no_more(whole, caller)
        problem = await self._problem(whole, catalog)
        if problem:
            message = f"{whole.id} would be broken: {problem}"
            raise SavingRefused(message)
        await asyncio.to_thread(place.write, whole)
        await self._publish()
        return next(tool for tool in self.loaded[SAVED].tools if tool.id == whole.id)  # the role may not see it

    async def remove(self, name: str, caller: Caller = LOCAL) -> None:
        """Remove a saved program, as an approver. Raises SavingForbidden, SavingRefused."""
        self._require_right(caller)
        bare = _id(name).partition(".")[2]
        self._require_own(bare, await self._catalog(caller))
        if bare in self._all and not self._is_approver(caller):
            message = f"only an approver may remove {_id(name)}: any other program could then take its name"
            raise SavingForbidden(message)
        await asyncio.to_thread(self._place().remove, bare, self._all)
        await self._publish()

    async def _problem(self, program: SavedProgram, catalog: Catalog) -> str:
        missing = program.missing(catalog)
        if missing:
            return f"it needs {', '.join(missing)}, which no longer exists"
        await self._programs.start()
        engine = self._programs.executor.sandbox
        found = await call_sites(engine, program.code, catalog.domains, program.parameters)
        if found.refused:
            return found.refused
        try:
            check(found.calls, catalog, program)
        except ProgramRefused as refused:
            return "; ".join(f"line {one.line}: {one.message}" for one in refused.refusals)
        return ""

    def _place(self) -> SavedFolder | SharedPrograms:
        settings = self._settings()
        folder = None if settings.saved.folder is None else SavedFolder(settings.saved.folder)
        if settings.has_shared_store:
            return SharedPrograms(self._shared, folder)
        if folder is None:
            message = (
                "programs cannot be saved here: set `saved.folder` in the configuration, such as `folder: programs`"
            )
            raise ConfigurationError(message)
        return folder

    def _require_right(self, caller: Caller) -> None:
        roles = self._settings().saved.roles
        is_allowed = caller.role in roles or (roles and self._is_approver(caller))
        if caller.id != LOCAL.id and not is_allowed:
            who = f"the roles {', '.join(roles)}" if roles else "people on the server itself"
            message = f"only {who} may save and remove programs; this key has the role {caller.role}"
            raise SavingForbidden(message)

    def _is_approver(self, caller: Caller) -> bool:
        return caller.id == LOCAL.id or caller.role in self._settings().policy.approvers

    def _require_no_more(self, program: SavedProgram, caller: Caller) -> None:
        """Raise SavingForbidden for a version that may do more than the current one, unless an approver saves it."""
        current = self._all.get(program.name)
        if current is None and program.name in self.problems and not self._is_approver(caller):
            message = f"only an approver may replace a program that cannot be read: {program.name}"
            raise SavingForbidden(message)
        more = program.widens(current) if current is not None else ""
        if current is not None and more and not self._is_approver(caller):
            message = (
                f"{program.id} version {program.version} {more}, unlike version {current.version}: an approver must"
                " save it, or give it another name"
            )
            raise SavingForbidden(message)

    def _require_own(self, name: str, catalog: Catalog) -> None:
        """Raise SavingRefused for a program that the caller's role does not see."""
        if name in self._all and self._all[name].id not in catalog:
            message = f"the name {name!r} is taken by a program that this role does not see"
            raise SavingRefused(message)

    async def _catalog(self, caller: Caller) -> Catalog:
        return await self._programs.catalog(caller)


def _id(name: str) -> str:
    return name if name.startswith(f"{SAVED}.") else f"{SAVED}.{name}"


def saved_json(tool: Tool) -> dict[str, Any]:
    """Return a saved program as JSON data, without its code."""
    program = program_of(tool)
    assert program is not None  # noqa: S101 - tools of this source are programs
    fields = asdict(program)
    del fields["code"]
    return {**fields, "id": program.id, "effect": str(tool.effect)}
