"""The source kind `weather`: one tool, whose answers this module computes."""

from collections.abc import Mapping
from typing import Any

from codemode.catalog.tool import Effect, Tool
from codemode.errors import UpstreamError
from codemode.settings import SourceSettings
from codemode.sources.loaded import Surface
from codemode.sources.source import SourceContext
from codemode.sources.toolkits.described import parameters_of
from codemode.transports.base import CallContext, Page

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class WeatherTransport:
    """Answers calls of the tools that `load` returned."""

    idempotency_header = ""

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Return JSON data for validated arguments. Raises a CallError."""
        await context.before_send()
        if arguments["city"] == "Atlantis":
            raise UpstreamError("no such city")
        return {"city": arguments["city"], "degrees": tool.invocation}

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Return one page of a list; this source has no lists."""
        raise UpstreamError("the weather has no pages")

    async def aclose(self) -> None:
        """Close the connections; this source has none."""


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, WeatherTransport]:
    """Return the tools of the source `name` and their transport. Raises SourceError and ConfigurationError."""
    forecast = Tool(
        f"{name}.forecast",
        source=name,
        summary="Forecast tomorrow's weather",
        description="Forecast tomorrow's weather in a city, in degrees Celsius.",
        parameters=parameters_of(CITY),
        effect=Effect.READ,
        invocation=settings.options.get("degrees", 20),
        key="forecast",
    )
    return Surface((forecast,)), WeatherTransport()
