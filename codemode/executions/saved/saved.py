"""The saved programs of a service: list, read, check, save and remove them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.saved import SAVED, SavedProgram, program_of
from codemode.errors import ConfigurationError
from codemode.executions.preflight import check
from codemode.executions.saved.errors import SavingForbidden, SavingRefused
from codemode.executions.saved.folder import SavedFolder
from codemode.executions.saved.promotion import completed, draft
from codemode.executions.saved.sites import call_sites
from codemode.executions.saved.source import source_of
from codemode.gateway.caller import LOCAL
from sandbox import ProgramRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.executions import Executions
    from codemode.executions.runner import Runner
    from codemode.executions.saved.folder import Stamp
    from codemode.executions.saved.promotion import Promotion
    from codemode.gateway.caller import Caller
    from codemode.settings import SavedSettings
    from codemode.sources.factory import LoadedSource


@dataclass(frozen=True, slots=True)
class Checked:
    """A saved program or a file of the folder, and why it is broken: "" if it is not."""

    name: str
    problem: str = ""


class SavedPrograms:
    """The saved programs, as callers may see them.

    `settings` returns the section. `executions` returns the recorded executions, `programs` runs programs, and
    `publish` reads the folder again after a change.
    """

    def __init__(
        self,
        settings: Callable[[], SavedSettings],
        programs: Runner,
        executions: Callable[[], Executions],
        publish: Callable[[], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._programs = programs
        self._executions = executions
        self._publish = publish
        self._stamp: Stamp | None = None
        #: What is wrong with files of the folder, by name.
        self.problems: Mapping[str, str] = {}
        #: The source of the saved programs by its name. Empty if no folder is configured.
        self.loaded: Mapping[str, LoadedSource] = {}
        self._all: Mapping[str, SavedProgram] = {}

    # --- for the catalog ---------------------------------------------------------------------------------------

    def has_changed(self) -> bool:
        """Return whether the files have changed since they were read."""
        folder = self._settings().folder
        return folder is not None and SavedFolder(folder).stamp() != self._stamp

    def read(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """Read the folder, and return its programs as a source over `catalog`, by its name."""
        if self._settings().folder is not None:
            folder = self._folder()
            self._stamp = folder.stamp()
            self._all, self.problems = folder.read()
            self.loaded = {SAVED: source_of(self._all, self.problems, catalog)}
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
        folder = self._folder()
        stored = await self._executions().get(promotion.execution, reader or caller)
        catalog = await self._catalog(caller)
        self._require_own(promotion.name, catalog)
        program = draft(promotion, stored, self._all.get(promotion.name))
        await self._programs.start()
        found = await call_sites(self._programs.executor.sandbox, program.code, catalog.domains, program.parameters)
        if found.refused:
            message = f"the program cannot run with these parameters: {found.refused}"
            raise SavingRefused(message)
        called = [call["tool"] for call in (stored.outcome or {}).get("calls", ())]
        whole = completed(replace(program, saved_by=caller.label or caller.id), found.calls, called, catalog)
        problem = await self._problem(whole, catalog)
        if problem:
            message = f"{whole.id} would be broken: {problem}"
            raise SavingRefused(message)
        await asyncio.to_thread(folder.write, whole)
        await self._publish()
        return next(tool for tool in self.loaded[SAVED].tools if tool.id == whole.id)  # the role may not see it

    async def remove(self, name: str, caller: Caller = LOCAL) -> None:
        """Remove a saved program. Raises SavingForbidden, SavingRefused."""
        self._require_right(caller)
        bare = _id(name).partition(".")[2]
        self._require_own(bare, await self._catalog(caller))
        await asyncio.to_thread(self._folder().remove, bare, self._all)
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
            check(found.calls, catalog)
        except ProgramRefused as refused:
            return "; ".join(f"line {one.line}: {one.message}" for one in refused.refusals)
        return ""

    def _folder(self) -> SavedFolder:
        folder = self._settings().folder
        if folder is None:
            message = (
                "programs cannot be saved here: set `saved.folder` in the configuration, such as `folder: programs`"
            )
            raise ConfigurationError(message)
        return SavedFolder(folder)

    def _require_right(self, caller: Caller) -> None:
        roles = self._settings().roles
        if caller.id != LOCAL.id and caller.role not in roles:
            who = f"the roles {', '.join(roles)}" if roles else "people on the server itself"
            message = f"only {who} may save and remove programs; this key has the role {caller.role}"
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
