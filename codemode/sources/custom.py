"""A base class for source kinds of other packages: it is the source and the transport in one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from codemode.catalog.effects import judge
from codemode.catalog.tool import Effect, Tool
from codemode.errors import UpstreamError
from codemode.sources.functions.described import parameters_of
from codemode.sources.loaded import Surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext
    from codemode.transports.base import CallContext, Page


class CustomSource(ABC):
    """One source of a kind that another package provides.

    A subclass implements `tools` and `call`. Its entry point in the group `codemode.sources` is `Subclass.load`.

        class Weather(CustomSource):
            async def tools(self):
                return [self.tool("forecast", summary="Forecast the weather", parameters=CITY, effect="read")]

            async def call(self, tool, arguments, context):
                await context.before_send()
                return {"city": arguments["city"], "degrees": 20}

    `settings.options` are the options of the kind in the configuration. `context.secrets` resolves secret references.
    """

    #: The request header that carries `context.idempotency_key`, "" if the service accepts no such key.
    idempotency_header: ClassVar[str] = ""

    def __init__(self, name: str, settings: SourceSettings, context: SourceContext) -> None:
        self.name = name
        self.settings = settings
        self.context = context

    @classmethod
    async def load(cls, name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, Self]:
        """Create the source and read its tools. Raises what `tools` raises."""
        source = cls(name, settings, context)
        return Surface(tuple(await source.tools())), source

    def tool(
        self,
        path: str,
        *,
        summary: str,
        parameters: Mapping[str, Any] | None = None,
        effect: Effect | str | None = None,
        description: str = "",
        invocation: Any = None,
    ) -> Tool:
        """Create a tool of this source.

        `path` is the id without the namespace (`forecast` or `cities.list`). `parameters` is a JSON Schema of an
        object. Without `effect`, words can make the tool destructive, else it writes. `invocation` is any value that
        `call` needs to reach the operation.
        """
        said = None if effect is None else Effect(effect)
        effect, word, is_said = judge(said, Effect.WRITE, (path,), summary, description)
        return Tool(
            f"{self.name}.{path}",
            source=self.name,
            summary=summary,
            description=description,
            parameters=parameters_of(parameters or {"type": "object"}),
            effect=effect,
            effect_word=word,
            effect_said=is_said,
            invocation=invocation,
            key=path,
        )

    @abstractmethod
    async def tools(self) -> Iterable[Tool]:
        """Return the tools. Raises SourceError if they cannot be read, ConfigurationError for invalid settings."""

    @abstractmethod
    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Send validated arguments and return JSON data. Raises CallError.

        Await `context.before_send()` right before a request that may have an effect.
        """

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Send validated arguments and return one page of a list. Raises UpstreamError: there are no pages."""
        message = f"{tool.id} has no pages"
        raise UpstreamError(message)

    async def aclose(self) -> None:  # noqa: B027 -- most sources have nothing to close
        """Close the connections."""
