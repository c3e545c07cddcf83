"""The whole configuration, and the sections `limits` and `sandbox`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from codemode.settings.agent import AgentSettings
from codemode.settings.approvals import ApprovalSettings
from codemode.settings.budgets import Budgets
from codemode.settings.console import ConsoleSettings, or_switch
from codemode.settings.content import ContentSettings
from codemode.settings.continuations import ContinuationSettings
from codemode.settings.conversations import ConversationSettings
from codemode.settings.definitions import DefinitionSettings
from codemode.settings.flow import QUARANTINE, FlowSettings
from codemode.settings.folders import user_cache, user_state
from codemode.settings.journal import JournalSettings
from codemode.settings.logins import LoginSettings
from codemode.settings.menu import MenuSettings
from codemode.settings.modes import ModeRuleSettings
from codemode.settings.namespace import Namespace
from codemode.settings.notify import NotifySettings
from codemode.settings.observe import ObserveSettings
from codemode.settings.plugins import Plugin
from codemode.settings.policy import PolicySettings
from codemode.settings.project import ProjectName, project_of
from codemode.settings.reviewers import Reviewers
from codemode.settings.saved import SavedSettings
from codemode.settings.search import SearchSettings
from codemode.settings.section import HomePath, Section
from codemode.settings.server import ServerSettings
from codemode.settings.sources import SourceSettings

EngineName = Literal["process", "monty"]


def _or_file_name(schema: dict[str, Any]) -> None:
    """Accept the name of a file with the section. `load_settings` reads it."""
    schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"type": "string"}]
    schema["examples"] = ["menu.yaml"]


class LimitSettings(Section):
    """Budgets of one execution. See `sandbox.Limits` for the reasons of the defaults."""

    wall_s: float = Field(
        default=30.0, gt=0, le=3600, description="Maximum time of an execution in seconds, tool time included."
    )
    cpu_s: int = Field(default=10, ge=1, description="Maximum processor time of the program, in seconds.")
    memory_mib: int = Field(
        default=256, ge=32, description="Maximum memory of the program, in MiB beyond that of an idle worker."
    )
    output_bytes: int = Field(
        default=256 * 1024,
        ge=1024,
        description="Maximum size of printed text, in bytes. The rest is cut, with a note. The default is 256 KiB.",
    )
    result_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=1024,
        description="Maximum size of the result as JSON, in bytes. The default is 16 MiB.",
    )
    source_bytes: int = Field(default=100_000, ge=1000, description="Maximum size of the program text, in bytes.")
    replies_mib: int = Field(default=256, ge=1, description="Maximum size of all call results together, in MiB.")
    calls: int = Field(default=1_000, ge=0, description="Maximum number of calls.")
    calls_in_flight: int = Field(
        default=64, ge=1, description="Calls that run at the same time. Further calls wait, in order."
    )
    finish_s: float = Field(
        default=10.0,
        ge=0,
        le=300,
        description="Maximum seconds that writes under way may take to finish once their program has ended.",
    )

    @property
    def longest_s(self) -> float:
        """Return the seconds after which an execution has ended, with waits for services and with its last calls."""
        return 2 * self.wall_s + self.finish_s


class SandboxSettings(Section):
    """Worker processes, and the isolation layers that they require."""

    engine: EngineName = Field(
        default="process",
        description="What runs programs. process: CPython in locked-down processes, on Linux. monty: the Monty "
        "interpreter, on Linux, macOS and Windows. It needs codemode[monty], and supports less of Python.",
    )
    workers: int = Field(default=2, ge=1, le=64, description="Number of idle worker processes kept ready.")
    require: tuple[Literal["seccomp", "rlimits", "fork_server", "landlock", "namespaces"], ...] = Field(
        default=("seccomp", "rlimits", "fork_server"),
        description="Isolation layers that must be in force. Otherwise no program runs. Only for engine: process.",
    )

    @model_validator(mode="after")
    def _require_no_layers_of_monty(self) -> Self:
        if self.engine == "monty" and "require" in self.model_fields_set:
            message = "engine: monty has no such layers: remove `require`, or use engine: process"
            raise ValueError(message)
        return self


class Settings(Section):
    """The whole configuration."""

    name: ProjectName | None = Field(
        default=None,
        description="Name of the project, to which stored executions, keys and learned data belong. null: derived "
        "from the path of the configuration file.",
        examples=["gym-production"],
    )
    sources: dict[Namespace, SourceSettings] = Field(
        default={},
        description="Sources by namespace. Programs call the tools of `gym` as `gym.…`. A namespace has up to 32 "
        "lower-case letters, digits and `_`.",
        examples=[{"gym": {"location": "gym.json", "base_url": "http://127.0.0.1:8137"}}],
        json_schema_extra={"additionalProperties": False},
    )
    mcp_servers: tuple[HomePath, ...] = Field(
        default=(),
        description="Files of other MCP clients, whose servers become sources.",
        examples=[[".mcp.json"]],
    )
    pins: tuple[str, ...] = Field(
        default=(),
        max_length=8,
        description="Ids of tools that the model also gets natively, at most 8.",
        examples=[["gym.clients.get_clients_list"]],
    )
    definitions: DefinitionSettings = Field(
        default=DefinitionSettings(), description="The signatures that the definition of `execute` carries."
    )
    modes: tuple[ModeRuleSettings, ...] = Field(
        default=(),
        description="Which tools a model gets, by role, client, model and tools. The first rule that matches decides, "
        "else `server.mcp` or `agent.mode`.",
        examples=[[{"clients": "cursor*", "mode": "hybrid"}, {"roles": "kiosk", "mode": "menu", "enforced": True}]],
    )
    native_tools: int = Field(
        default=256, ge=1, le=10_000, description="Maximum number of tools that the mode `native` gives to a model."
    )
    limits: LimitSettings = Field(default=LimitSettings(), description="Budgets of one execution.")
    sandbox: SandboxSettings = Field(
        default=SandboxSettings(), description="Worker processes, and the isolation layers that they require."
    )
    search: SearchSettings = Field(
        default=SearchSettings(), description="How search finds and orders tools, and how long its answers are."
    )
    menu: MenuSettings = Field(
        default=MenuSettings(),
        description="Which tools are offered to a model that cannot write code, or the name of a file with this "
        "section.",
        json_schema_extra=_or_file_name,
    )
    agent: AgentSettings = Field(
        default=AgentSettings(),
        description="The model of `codemode chat` and `Agent`, and its limits for one message.",
    )
    flow: FlowSettings = Field(
        default=FlowSettings(), description="What text from outsiders, and private text, may be used for."
    )
    policy: PolicySettings = Field(
        default=PolicySettings(), description="Who may call what: ordered rules, quotas and default decisions."
    )
    budgets: Budgets = Field(
        default=(),
        description="What one caller, one role or all callers may do in a day: calls, or sums of an argument.",
        examples=[[{"name": "refunds", "tools": "bank.refund", "amount": "amount", "most": 500}]],
    )
    approvals: ApprovalSettings = Field(
        default=ApprovalSettings(), description="Where people decide on pending calls, besides the inbox."
    )
    plugins: tuple[Plugin, ...] = Field(
        default=(),
        description="Plugins whose hooks run in this process, in this order. Installing a package alone runs nothing.",
        examples=[["office_hours"], [{"name": "office_hours", "options": {"opens": 9, "closes": 17}}]],
    )
    reviewers: Reviewers = Field(
        default=(),
        description="Functions and models that are asked before a person is: they reject calls, or approve low-risk "
        "ones.",
        examples=[[{"name": "fraud", "tools": "bank.payments.*", "model": {"model": "gpt-5-mini"}}]],
    )
    server: ServerSettings = Field(
        default=ServerSettings(), description="The HTTP server: address, authentication and load."
    )
    console: ConsoleSettings = Field(
        default=ConsoleSettings(),
        description="The console in the browser, at `/console` of the HTTP server. `false` turns it off.",
        json_schema_extra=or_switch,
    )
    observe: ObserveSettings = Field(
        default=ObserveSettings(), description="Logs, audit records, traces and metrics for operators."
    )
    journal: JournalSettings = Field(
        default=JournalSettings(), description="Where executions are recorded, how safely, and for how long."
    )
    content: ContentSettings = Field(
        default=ContentSettings(),
        description="How long images and files of tools and callers are kept, and how large they may be.",
    )
    conversations: ConversationSettings = Field(
        default=ConversationSettings(),
        description="What programs of one conversation may store for each other, and for how long.",
    )
    notify: NotifySettings = Field(
        default=NotifySettings(), description="Messages to people about what waits for them."
    )
    continuations: ContinuationSettings | None = Field(
        default=None,
        description="Paused executions that their callers keep, sealed, in the place of the journal. null: none.",
        examples=[{"key": {"env": "CONTINUATION_KEY"}}],
    )
    logins: LoginSettings | None = Field(
        default=None,
        description="The key that seals logins at services. null: the mode of their files protects them, or the key of "
        "the journal in a database.",
        examples=[{"key": {"env": "LOGIN_KEY"}}],
    )
    saved: SavedSettings = Field(
        default=SavedSettings(),
        description="Saved programs: where they are, and who may save them.",
        examples=[{"folder": "programs", "roles": ["author"]}],
    )
    state_folder: HomePath | None = Field(
        default=None,
        description="Folder of files to keep, relative to the configuration file. null: `codemode/PROJECT` in "
        "`$XDG_STATE_HOME` or `~/.local/state`.",
        examples=["/var/lib/codemode"],
    )
    cache_folder: HomePath | None = Field(
        default=None,
        description="Folder of files that can be made again, relative to the configuration file. null: `codemode` in "
        "`$XDG_CACHE_HOME` or `~/.cache`.",
        examples=["/var/cache/codemode"],
    )

    @model_validator(mode="after")
    def _one_record(self) -> Self:
        if self.continuations is not None and (self.journal.enabled or self.journal.url is not None):
            message = "continuations take the place of the journal: remove one of `continuations` and `journal`"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _keep_own_namespaces(self) -> Self:
        for name, use in self.own_namespaces.items():
            if name in self.sources:
                message = f"sources: `{name}` is the namespace of {use}: rename this source"
                raise ValueError(message)
        return self

    _where: Callable[[tuple[str | int, ...]], str] | None = PrivateAttr(default=None)
    _derived: str = PrivateAttr(default="")

    def place(self, *location: str | int) -> str:
        """Return a key for messages, with file and line if the settings come from a file."""
        return (self._where(location) if self._where else "") + ".".join(map(str, location))

    @property
    def project(self) -> str:
        """The project to which stored executions, keys and learned data belong.

        It is `name`, or derived from the path of the configuration file. Settings without a file derive it from the
        state folder or the working directory, or with `journal.url` from the sources alone.
        """
        if self.name is not None:
            return self.name
        if not self._derived:
            self._derived = self._of_code()
        return self._derived

    def _of_code(self) -> str:
        sources = (f"{name} {one.location} {one.base_url} {one.command}" for name, one in sorted(self.sources.items()))
        if self.journal.url is not None:  # servers of one database may have different folders
            return project_of("shared", *sources)
        if self.state_folder is not None:
            where = self.state_folder.resolve()
            return project_of(where.parent.name, str(where))
        return project_of(Path.cwd().name, str(Path.cwd()), *sources)

    def state(self) -> Path:
        """Return the folder of files to keep: `state_folder`, or the project's folder in the user's state directory."""
        return self.state_folder or user_state() / self.project

    def learned(self) -> Path:
        """Return the folder of learned data. Several projects may share a named state folder."""
        return self.state() if self.state_folder is None else self.state_folder / "learned" / self.project

    def left_behind(self, name: str) -> str:
        """Return advice if an earlier version left a state file that this project does not have yet, else ""."""
        earlier, mine = user_state() / name, self.state() / name
        if self.state_folder is not None or mine.exists() or not earlier.exists():
            return ""
        return (
            f"{earlier} is not used: an earlier version stored the state of all projects there, and each project now"
            f" has its own folder, {mine.parent}. If the old state belongs to this project alone, move its files there"
        )

    @property
    def used_sections(self) -> frozenset[str]:
        """The keys that are written, with those of sources that a feature needs."""
        of_sources = {"connections"} if any(one.connections for one in self.sources.values()) else set()
        return frozenset(self.model_fields_set | of_sources)

    @property
    def has_mixed_modes(self) -> bool:
        """Whether MCP clients may get other tools than either search and execute, or a menu."""
        return bool(self.modes) or self.server.mcp not in ("code", "menu")

    @property
    def keeps_journal(self) -> bool:
        """Whether executions are recorded: `journal.enabled`, or by default with a file, a state folder or a URL.

        `continuations` take the place of the journal.
        """
        if self.journal.enabled is not None or self.continuations is not None:
            return bool(self.journal.enabled)
        return self.state_folder is not None or self.journal.url is not None or self._where is not None

    @property
    def has_shared_store(self) -> bool:
        """Whether servers on several machines share the project's state: in the PostgreSQL journal."""
        return self.keeps_journal and self.journal.url is not None

    @property
    def saves_programs(self) -> bool:
        """Whether there is a place for saved programs: the shared store, or a folder."""
        return self.has_shared_store or self.saved.folder is not None

    @property
    def own_namespaces(self) -> Mapping[str, str]:
        """The namespaces that codemode itself has tools in, and of what they are."""
        saved = {"saved": "saved programs"} if self.saves_programs else {}
        extracts = self.flow.mode != "off" and self.flow.extract is not None
        return {**saved, **({QUARANTINE: "`flow.extract`"} if extracts else {})}

    def servers(self) -> Path:
        """Return the folder of accepted MCP definitions and of the servers' standard error."""
        return self.state() / "mcp"

    def cache(self) -> Path:
        """Return the folder of files that can be made again: `cache_folder`, or the user's cache directory."""
        return self.cache_folder or user_cache()
