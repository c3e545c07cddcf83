"""Meta-tools: a model asks for more tools with them. The menu's owner answers them; nothing is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REQUEST_MORE_TOOLS = "request_more_tools"
REQUEST_TOOL = "request_tool"
META_TOOLS = frozenset((REQUEST_MORE_TOOLS, REQUEST_TOOL))

#: Categories listed in a definition, so that its cost and its enumeration stay bounded.
MOST_ENUMERATED = 100

NOTHING_NEW = "No new tools added"


@dataclass(frozen=True, slots=True)
class MetaAnswer:
    """The answer to a meta-tool: `text` for the model, and the ids of newly `loaded` tools.

    `skills` are instructions and examples of the loaded tools, for clients that cannot show the next menu's prompt.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    text: str = NOTHING_NEW
    loaded: tuple[str, ...] = ()
    skills: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON data."""
        return {"id": self.id, "name": self.name, "text": self.text, "loaded": list(self.loaded)}

    def event(self) -> dict[str, Any]:
        """Return the call as a transcript entry."""
        return {
            "type": "tools_requested",
            "tool": self.name,
            "arguments": dict(self.arguments),
            "loaded": list(self.loaded),
            "text": self.text,
        }


def more_tools(categories: Sequence[str]) -> dict[str, Any]:
    """Return the definition of `request_more_tools`; few categories become an enumeration."""
    listed = sorted(categories)
    is_short = len(listed) <= MOST_ENUMERATED
    told = ", ".join(listed[:MOST_ENUMERATED]) + ("" if is_short else f" and {len(listed) - MOST_ENUMERATED} more")
    items = {"type": "string", "enum": listed} if is_short else {"type": "string"}
    parameters = {
        "categories": {"type": "array", "items": items, "minItems": 1},
        "reason": {"type": "string", "description": "What the tools are needed for"},
    }
    return _function(
        REQUEST_MORE_TOOLS,
        "Load the tools of further categories, when none of the tools at hand does what is needed. They can be called "
        f"in the next step. Categories: {told}",
        parameters,
        ["categories", "reason"],
    )


def one_tool() -> dict[str, Any]:
    """Return the definition of `request_tool`."""
    parameters = {
        "name_or_description": {"type": "string", "description": "The tool's exact name, or what it should do"},
    }
    return _function(
        REQUEST_TOOL,
        "Load one tool that is not at hand, by its name or by what it should do. It can be called in the next step.",
        parameters,
        ["name_or_description"],
    )


def _function(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
