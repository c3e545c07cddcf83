"""The `plugins` section."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from codemode.settings.section import Section
from codemode.text.nearest import did_you_mean

#: The entry point group of plugins.
PLUGINS_GROUP = "codemode.plugins"


class PluginSettings(Section):
    """One plugin: an installed entry point, and its options."""

    name: str = Field(
        min_length=1,
        description="Name of an entry point in the group `codemode.plugins`. No plugin runs unless it is named here.",
        examples=["office_hours"],
    )
    options: dict[str, Any] = Field(
        default={}, description="Options, as the plugin documents them.", examples=[{"opens": 9, "closes": 17}]
    )

    @field_validator("name")
    @classmethod
    def _is_installed(cls, name: str) -> str:
        known = sorted(entry_points(group=PLUGINS_GROUP).names)
        if name in known:
            return name
        hint = did_you_mean(name, known) or ";"
        installed = f"installed: {', '.join(known)}" if known else "no package with plugins is installed here"
        message = f"unknown plugin {name!r}{hint} {installed}"
        raise ValueError(message)


def _by_name(value: Any) -> Any:
    """Accept a name in the place of a mapping."""
    return {"name": value} if isinstance(value, str) else value


#: A plugin, by its name or with options.
Plugin = Annotated[PluginSettings, BeforeValidator(_by_name, json_schema_input_type=PluginSettings | str)]
