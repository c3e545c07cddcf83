"""A menu: the tools offered to a model for a message, with the reason for each."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.definitions import native, native_name
from codemode.catalog.tokens import estimate
from codemode.errors import CodeModeError, ConfigurationError
from codemode.transports.function import FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool

    RunTool = Callable[[Tool, dict[str, Any]], Awaitable[Any]]

#: Catalogs up to this size are counted exactly; larger ones by an even sample of this size.
_COUNTED = 500

#: Cut tools listed in the summary.
_NAMED = 20


class Reason(NamedTuple):
    """Why a category is offered: how it was found (`kind`), by what (`detail`), and its score."""

    kind: str
    category: str = ""
    score: float = 1.0
    detail: str = ""

    def __str__(self) -> str:
        told = f"{self.kind} {self.detail}".strip()
        return f"{self.category}: {told}" if self.category else told

    @property
    def short(self) -> str:
        """Return the form of the summary: `weather(keyword:1.00)`."""
        return f"{self.category}({self.kind}:{self.score:.2f})"


CORE = Reason("core")


class MenuEntry(NamedTuple):
    """An offered tool and the reason for it."""

    tool: Tool
    reason: Reason


@dataclass(frozen=True, slots=True)
class MenuCost:
    """The size of the menu and of all tools: definitions, JSON bytes, and estimated tokens."""

    tools: int
    bytes: int
    tokens: int
    all_tools: int
    all_bytes: int
    all_tokens: int


class Definitions:
    """The native definitions of a catalog, each built and counted when first offered."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._made: dict[str, dict[str, Any]] = {}
        self._counted: dict[str, tuple[int, int]] = {}

    def of(self, tool: Tool) -> dict[str, Any]:
        """Return a tool's chat-completions definition; always the same object."""
        made = self._made.get(tool.id)
        if made is None:
            made = self._made[tool.id] = native(tool)
        return made

    def size(self, tool: Tool) -> tuple[int, int]:
        """Return the bytes and tokens of a definition."""
        size = self._counted.get(tool.id)
        if size is None:
            size = self._counted[tool.id] = _size(self.of(tool))
        return size

    @cached_property
    def whole(self) -> tuple[int, int]:
        """Return the bytes and tokens of all definitions, extrapolated from a sample for large catalogs."""
        tools = self._catalog.tools
        count = min(len(tools), _COUNTED)
        sizes = [_size(native(tools[at * len(tools) // count])) for at in range(count)]
        factor = len(tools) / count if count else 0
        return round(sum(size[0] for size in sizes) * factor), round(sum(size[1] for size in sizes) * factor)


@dataclass(frozen=True)
class Menu:
    """The tools offered to a model: `meta` tools, answered by the application, then `offered`, core first.

    `activated` are the matched categories, `related` those they bring along. Both are empty if the defaults are offered
    (`is_default`). `cut` names tools without room, `notes` the problems met. Add `prompt` to the system prompt.
    `total` is the number of tools in the caller's view.
    """

    offered: tuple[MenuEntry, ...]
    total: int
    definitions: Definitions = field(repr=False)
    meta: tuple[dict[str, Any], ...] = ()
    activated: tuple[Reason, ...] = ()
    related: tuple[Reason, ...] = ()
    is_default: bool = False
    cut: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    prompt: str = ""
    run: RunTool | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.meta) + len(self.offered)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the offered catalog tools, core first."""
        return tuple(offered.tool for offered in self.offered)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all offered functions, in order."""
        return (*(one["function"]["name"] for one in self.meta), *(native_name(tool) for tool in self.tools))

    def openai_tools(self) -> list[dict[str, Any]]:
        """Return `tools` for a chat-completions request. The objects are shared: do not modify them."""
        return [*self.meta, *(self.definitions.of(tool) for tool in self.tools)]

    def responses_tools(self) -> list[dict[str, Any]]:
        """Return `tools` for a Responses API request."""
        return [{"type": "function", **one["function"]} for one in self.openai_tools()]

    def langchain_tools(self) -> list[Any]:
        """Return tools for LangChain's `bind_tools`, which call through the gateway.

        Python functions keep their own names, unless two have the same. Meta-tools are returned as definitions,
        because only the menu's owner can answer them. Raises ConfigurationError without langchain-core (the extra
        `langchain`).
        """
        own = {tool.id: _own_name(tool) for tool in self.tools}
        uses = Counter((*own.values(), *self.names))
        names = {id_: name for id_, name in own.items() if uses[name] == 1}
        return [
            *self.meta,
            *(
                _langchain_tool(tool, names.get(tool.id, ""), self.definitions.of(tool), self.run)
                for tool in self.tools
            ),
        ]

    @property
    def summary(self) -> str:
        """Return one line: `18/35 tools | activated: weather(keyword:1.00), calendar(embed:0.52)`."""
        parts = [f"{len(self.offered)}/{self.total} tools"]
        if self.activated:
            parts.append("activated: " + ", ".join(reason.short for reason in self.activated))
        if self.is_default:
            parts.append("nothing matched: defaults")
        if self.related:
            parts.append("related: " + ", ".join(reason.category for reason in self.related))
        if self.cut:
            more = f" and {len(self.cut) - _NAMED} more" if len(self.cut) > _NAMED else ""
            parts.append(f"cut: {', '.join(self.cut[:_NAMED])}{more}")
        return " | ".join([*parts, *self.notes])

    @cached_property
    def cost(self) -> MenuCost:
        """Return the bytes and tokens offered, and those of all tools."""
        sizes = [self.definitions.size(tool) for tool in self.tools] + [_size(one) for one in self.meta]
        whole = self.definitions.whole
        sent = (sum(size[0] for size in sizes), sum(size[1] for size in sizes))
        return MenuCost(len(self), *sent, self.total, *whole)

    def explain(self) -> str:
        """Return the summary, its cost, and a line with the reason for each tool."""
        cost = self.cost
        lines = [
            self.summary,
            f"{cost.bytes:,} of {cost.all_bytes:,} bytes, {cost.tokens:,} of {cost.all_tokens:,} tokens (estimate)",
            *(f"{one['function']['name']}  # meta" for one in self.meta),
            *(f"{offered.tool.id}  # {offered.reason}" for offered in self.offered),
            *(f"{name}  # cut: no room" for name in self.cut),
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the menu as JSON data."""
        cost = self.cost
        return {
            "tools": self.openai_tools(),
            "summary": self.summary,
            "prompt": self.prompt,
            "activated": [_reason(reason) for reason in self.activated],
            "related": [reason.category for reason in self.related],
            "offered": [
                {"id": one.tool.id, "name": native_name(one.tool), **_reason(one.reason), "why": str(one.reason)}
                for one in self.offered
            ],
            "cut": list(self.cut),
            "notes": list(self.notes),
            "cost": {name: getattr(cost, name) for name in MenuCost.__slots__},
        }


def _reason(reason: Reason) -> dict[str, Any]:
    return {"category": reason.category, "kind": reason.kind, "score": round(reason.score, 4)}


def _size(definition: dict[str, Any]) -> tuple[int, int]:
    text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"), default=str)
    return len(text.encode("utf-8", "surrogatepass")), estimate(text)


def named(tools: Iterable[Tool]) -> tuple[str, ...]:
    """Return the function names of tools."""
    return tuple(native_name(tool) for tool in tools)


def _langchain_tool(tool: Tool, own_name: str, definition: dict[str, Any], run: RunTool | None) -> Any:
    try:
        tools = import_module("langchain_core.tools")
    except ImportError:
        message = "LangChain tools need langchain-core: pip install 'codemode[langchain]'"
        raise ConfigurationError(message) from None
    function = definition["function"]

    async def call(**arguments: Any) -> Any:
        if run is None:
            message = f"{tool.id} cannot be called from this menu"
            raise tools.ToolException(message)
        try:
            return await run(tool, arguments)
        except CodeModeError as error:
            raise tools.ToolException(error.for_model()) from None

    return tools.StructuredTool(
        name=own_name or function["name"],
        description=function["description"] or tool.id,
        args_schema=function["parameters"],
        coroutine=call,
        handle_tool_error=True,
    )


def _own_name(tool: Tool) -> str:
    """Return the own name of an operator's Python function, "" for other tools."""
    if not isinstance(tool.invocation, FunctionInvocation):
        return ""
    return next(iter(tool.aliases), tool.id.rpartition(".")[2])
