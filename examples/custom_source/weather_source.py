"""The source kind `weather`: one tool, whose answers this module computes."""

from collections.abc import Mapping
from typing import Any

from codemode import CallContext, CustomSource, Tool, UpstreamError

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather(CustomSource):
    """Forecasts; the option `degrees` is the temperature everywhere."""

    async def tools(self) -> list[Tool]:
        """Return the one tool."""
        return [self.tool("forecast", summary="Forecast tomorrow's weather", parameters=CITY, effect="read")]

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Return the forecast for a city. Raises UpstreamError for Atlantis."""
        await context.before_send()
        if arguments["city"] == "Atlantis":
            raise UpstreamError("no such city")
        return {"city": arguments["city"], "degrees": self.settings.options.get("degrees", 20)}


load = Weather.load
