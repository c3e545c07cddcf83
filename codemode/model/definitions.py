"""The tools that a model is offered, in the forms of the APIs that take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from codemode.catalog.definitions import native, pinned, tool_search, two_tools
from codemode.catalog.tool import Effect
from codemode.errors import WrongArgument
from codemode.model.modes import native_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.tool import Tool
    from codemode.menus.menu import Menu
    from codemode.settings import ModeName, Settings

#: Chat completions and the Responses API of OpenAI, the Messages API of Anthropic, and `tools/list` of MCP.
Form = Literal["chat", "responses", "anthropic", "mcp"]

#: Modes in which programs run.
RUNS_PROGRAMS: tuple[ModeName, ...] = ("code", "hybrid")

#: Modes in which a model calls one tool at a time and writes no program.
ONE_CALL: tuple[ModeName, ...] = ("menu", "native", "deferred")

#: Modes with a menu.
HAS_MENU: tuple[ModeName, ...] = ("menu", "hybrid")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that a model may call. `effect` is None if it depends on the arguments."""

    function: Mapping[str, Any]
    effect: Effect | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function["name"])

    def in_form(self, form: Form) -> dict[str, Any]:
        """Return the definition as JSON data. Raises WrongArgument for an unknown form."""
        name, description, schema = (self.function[key] for key in ("name", "description", "parameters"))
        match form:
            case "chat":
                return {"type": "function", "function": dict(self.function)}
            case "responses":  # strict schemas cannot have optional arguments
                return {"type": "function", **self.function, "strict": False}
            case "anthropic":
                return {"name": name, "description": description, "input_schema": schema}
            case "mcp":
                return {"name": name, "description": description, "inputSchema": schema, **self._hints()}
        message = f"form={form!r}: expected chat, responses, anthropic or mcp"
        raise WrongArgument(message)

    def _hints(self) -> dict[str, Any]:
        if self.effect is None:
            return {}
        if self.effect is Effect.READ:
            return {"annotations": {"readOnlyHint": True}}
        return {"annotations": {"readOnlyHint": False, "destructiveHint": self.effect is Effect.DESTRUCTIVE}}


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of one request, text for the system prompt, and why they were chosen.

    `addition` is text for the end of the user's new message. Send it with the message from then on.
    """

    tools: tuple[Definition, ...] = ()
    prompt: str = ""
    summary: str = ""
    addition: str = ""

    @property
    def definitions(self) -> tuple[dict[str, Any], ...]:
        """The definitions for chat completions."""
        return tuple(one.in_form("chat") for one in self.tools)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(one.name for one in self.tools)


def offered_deferred(catalog: Catalog, settings: Settings, loaded: Iterable[Tool]) -> Offer:
    """Return the search of native tools, the pins, and the tools that searches have loaded."""
    tools = {tool.id: tool for tool in (*pinned(catalog, settings.pins).values(), *loaded)}
    search = Definition(tool_search(catalog.domains)["function"], Effect.READ)
    return Offer((search, *map(_native, tools.values())))


def offered(mode: ModeName, catalog: Catalog, settings: Settings, menu: Menu | None, inline: Inline) -> Offer:
    """Return the tools of a mode but `deferred`. `menu` is needed for `HAS_MENU`, `inline` for `RUNS_PROGRAMS`.

    Raises ModeRejected for too many tools.
    """
    if mode == "off":
        return Offer()
    if mode == "native":
        return Offer(tuple(map(_native, native_tools(catalog, settings.native_tools))))
    tools: dict[str, Definition] = {}
    if mode in RUNS_PROGRAMS:
        pins = pinned(catalog, settings.pins).values()
        tools |= {one.name: one for one in (*definitions_of(two_tools(catalog, inline)), *map(_native, pins))}
    if menu is None:
        return Offer(tuple(tools.values()))
    tools |= {one.name: one for one in _of_menu(menu) if one.name not in tools}
    return Offer(tuple(tools.values()), menu.prompt, menu.summary)


def definitions_of(two: Iterable[Mapping[str, Any]]) -> Iterator[Definition]:
    """Yield the definitions of `search` and `execute`."""
    for one in two:
        function = one["function"]
        yield Definition(function, Effect.READ if function["name"] == "search" else None)


def _native(tool: Tool) -> Definition:
    return Definition(native(tool)["function"], tool.effect)


def _of_menu(menu: Menu) -> Iterator[Definition]:
    """Yield the meta-tools, which only read, and the tools."""
    effects = [*(Effect.READ for _ in menu.meta), *(tool.effect for tool in menu.tools)]
    for one, effect in zip(menu.openai_tools(), effects, strict=True):
        yield Definition(one["function"], effect)
