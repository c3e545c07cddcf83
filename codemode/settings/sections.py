"""The sections on running programs, and the whole that holds all sections."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field, PrivateAttr

from codemode.settings.agent import AgentSettings
from codemode.settings.folders import user_cache, user_state
from codemode.settings.journal import JournalSettings
from codemode.settings.menu import MenuSettings
from codemode.settings.namespace import Namespace
from codemode.settings.observe import ObserveSettings
from codemode.settings.policy import PolicySettings
from codemode.settings.project import ProjectName, project_of
from codemode.settings.search import SearchSettings
from codemode.settings.section import HomePath, Section
from codemode.settings.server import ServerSettings
from codemode.settings.sources import SourceSettings


class LimitSettings(Section):
    """Budgets of one execution; see `sandbox.Limits` for the meaning and reason of each default."""

    wall_s: float = Field(default=30.0, gt=0, le=3600)
    cpu_s: int = Field(default=10, ge=1)
    memory_mib: int = Field(default=256, ge=32)
    output_bytes: int = Field(default=256 * 1024, ge=1024)
    result_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    source_bytes: int = Field(default=100_000, ge=1000)
    replies_mib: int = Field(default=256, ge=1)
    calls: int = Field(default=1_000, ge=0)
    calls_in_flight: int = Field(default=64, ge=1)


class SandboxSettings(Section):
    """Processes that run programs, and the layers of isolation without which none runs."""

    workers: int = Field(default=2, ge=1, le=64)
    require: tuple[Literal["seccomp", "rlimits", "fork_server", "landlock", "namespaces"], ...] = (
        "seccomp",
        "rlimits",
        "fork_server",
    )


class Settings(Section):
    """The whole of `codemode.yaml`. `pins` are the ids of tools that a model is given natively too, 8 at most.

    `name` is the identity of the project, see `project`.
    """

    name: ProjectName | None = None
    sources: dict[Namespace, SourceSettings] = Field(default_factory=dict)
    mcp_servers: tuple[HomePath, ...] = ()
    pins: tuple[str, ...] = Field(default=(), max_length=8)
    limits: LimitSettings = LimitSettings()
    sandbox: SandboxSettings = SandboxSettings()
    search: SearchSettings = SearchSettings()
    menu: MenuSettings = MenuSettings()
    agent: AgentSettings = AgentSettings()
    policy: PolicySettings = PolicySettings()
    server: ServerSettings = ServerSettings()
    observe: ObserveSettings = ObserveSettings()
    journal: JournalSettings = JournalSettings()
    state_folder: HomePath | None = None
    cache_folder: HomePath | None = None

    _where: Callable[[tuple[str | int, ...]], str] | None = PrivateAttr(default=None)
    _derived: str = PrivateAttr(default="")

    def place(self, *location: str | int) -> str:
        """A key as its reader finds it: with file and line where it is in a file."""
        return (self._where(location) if self._where else "") + ".".join(map(str, location))

    @property
    def project(self) -> str:
        """The identity under which executions, keys and what was learned stand; those of another do not exist here.

        It is `name`, else made of the configuration file's path; of settings made in code, of the state folder or
        the working directory, and where the journal is shared of the sources alone.
        """
        if self.name is not None:
            return self.name
        if not self._derived:
            self._derived = self._of_code()
        return self._derived

    def _of_code(self) -> str:
        sources = (f"{name} {one.location} {one.base_url} {one.command}" for name, one in sorted(self.sources.items()))
        if self.journal.url is not None:  # servers that share it may each have a folder of its own
            return project_of("shared", *sources)
        if self.state_folder is not None:
            where = self.state_folder.resolve()
            return project_of(where.parent.name, str(where))
        return project_of(Path.cwd().name, str(Path.cwd()), *sources)

    def state(self) -> Path:
        """Where what must be kept is kept: `state_folder`, else the project's in the user's state directory."""
        return self.state_folder or user_state() / self.project

    def learned(self) -> Path:
        """Where the project keeps what it has learned: a state folder that is named may be shared by several."""
        return self.state() if self.state_folder is None else self.state_folder / "learned" / self.project

    def left_behind(self, name: str) -> str:
        """What to do where earlier versions kept a file of all projects, of which this one has none yet; else ""."""
        earlier, mine = user_state() / name, self.state() / name
        if self.state_folder is not None or mine.exists() or not earlier.exists():
            return ""
        return (
            f"{earlier} is of an earlier version, which kept the state of all projects there, and is not used: each has"
            f" a folder of its own now, {mine.parent}; if it is this project's alone, move its files there"
        )

    @property
    def keeps_journal(self) -> bool:
        """Whether executions are recorded: as the configuration says, else where it is a file or names a folder."""
        if self.journal.enabled is not None:
            return self.journal.enabled
        return self.state_folder is not None or self.journal.url is not None or self._where is not None

    def tokens(self) -> Path:
        """Where the tokens of logins are kept."""
        return self.state() / "tokens"

    def servers(self) -> Path:
        """Where the accepted definitions of MCP servers are kept, and what servers say on standard error."""
        return self.state() / "mcp"

    def cache(self) -> Path:
        """Where what can be made again is kept: `cache_folder`, else `codemode` in the user's cache directory."""
        return self.cache_folder or user_cache()
