"""What a feature is: one record of all places in which it takes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from codemode.executions.life.part import Part

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence
    from typing import Any, Protocol

    from codemode.executions.life.executions import Executions
    from codemode.executions.life.runner import Runner
    from codemode.executions.plugins.plugin import Plugin
    from codemode.gateway.caller import Caller
    from codemode.settings import Secrets, Settings
    from codemode.shared.values import ValueStore
    from codemode.transports.content import ContentStore

    class LoadResult(Protocol):
        """Returns a caller's result by its handle. Raises ResultNotFound."""

        def __call__(self, handle: str, *, caller: Caller) -> Awaitable[Any]:
            """Return the result as JSON data."""
            ...


@dataclass(frozen=True, slots=True)
class Core:
    """What a service has without features, from which each makes its part.

    `settings` are those at the start, and `current` returns those of the last reload. `publish` publishes the sources
    again. `executions` are None without a journal. `approvers` returns the roles that decide on pending calls.
    `result` loads a caller's result by its handle.
    """

    settings: Settings
    current: Callable[[], Settings]
    secrets: Secrets
    store: ValueStore
    runner: Runner
    executions: Executions | None
    contents: ContentStore
    approvers: Callable[[], Collection[str]]
    result: LoadResult
    publish: Callable[[], Awaitable[None]]


class FeaturePart(Part):
    """What a feature does for one service. `codemode.executions.life.part` has the methods to override."""

    #: Why a service whose feature is on has no such part, and what to do.
    absent: ClassVar[str] = "executions are not recorded here: set `journal.enabled: true` in the configuration"

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """Build the part when the service opens. None if the settings do not ask for it. Raises ConfigurationError."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """All places in which a feature takes part. Leave out those in which it does not.

    - `name`: what it is called, as its folder is.
    - `section`: its key in `codemode.yaml`, or in each source there. A service without the feature refuses a
      configuration that has the key.
    - `part`: what it does for one service, and what its faces call: `service.part(Plans)`. It makes the
      feature's stage in the pipeline of each call.
    - `plugins`: the plugins that are asked before all others, and those that are asked after them.
    - `routes`: the function that adds its HTTP routes, `module:name` below `codemode.serving`.
    - `faces`: the modules below `codemode.serving` that show it: routes, commands, console pages.
    - `page`: its page below `docs`.
    """

    name: str
    section: str = ""
    part: type[FeaturePart] | None = None
    plugins: Callable[[Settings], tuple[Sequence[Plugin], Sequence[Plugin]]] | None = None
    routes: str = ""
    faces: tuple[str, ...] = ()
    page: str = ""
