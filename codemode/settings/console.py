"""The `console` section."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from codemode.settings.section import Section


class ConsoleSettings(Section):
    """The console in the browser, at `/console` of the HTTP server. `console: false` turns it off."""

    enabled: bool = Field(default=True, description="Serve the console at `/console`.", examples=[False])

    @model_validator(mode="before")
    @classmethod
    def _switch(cls, value: Any) -> Any:
        """Accept `true` and `false` for the whole section."""
        return {"enabled": value} if isinstance(value, bool) else value


def or_switch(schema: dict[str, Any]) -> None:
    """Accept `true` and `false` in the JSON Schema of the field."""
    schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"type": "boolean"}]
    schema["examples"] = [False]
