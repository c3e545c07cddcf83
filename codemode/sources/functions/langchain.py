"""Read LangChain tools: `@tool` functions and `BaseTool` objects.

This module does not import LangChain: code that has LangChain tools has already imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.effects import judge
from codemode.catalog.identifiers import identifier
from codemode.catalog.tool import Effect, Tool
from codemode.errors import SourceError, UpstreamError
from codemode.sources.functions import callables
from codemode.sources.functions.described import parameters_of
from codemode.text.prose import first_sentence
from codemode.transports.function import ANY, FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.schema import Schema

_EFFECTS = tuple(Effect)


def is_langchain_tool(target: object) -> bool:
    """Whether `target` is a LangChain tool."""
    return _is_a("BaseTool", target)


def is_langchain_toolkit(target: object) -> bool:
    """Whether `target` is a LangChain toolkit, whose `get_tools()` returns tools."""
    return _is_a("BaseToolkit", target)


def tool_of(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """Return the tool that calls a LangChain tool. Raises SourceError if its arguments have no JSON Schema.

    The effect comes from `@codemode.tool` on its function, else from `metadata["effect"]`, else from its words.
    """
    try:
        schema = target.tool_call_schema
        schema = schema if isinstance(schema, Mapping) else schema.model_json_schema()
    except Exception as error:  # noqa: BLE001 -- pydantic 1 and 2 raise many types
        message = f"{id_} cannot be called with JSON data: {' '.join(str(error).split())[:300]}"
        raise SourceError(message) from None
    function = getattr(target, "coroutine", None) or getattr(target, "func", None)
    parameters = parameters_of(schema)
    description = str(target.description or "")
    call = _with_artifact(target) if target.response_format == "content_and_artifact" else _plain(target)
    keywords = {parameter.name: parameter.wire_name for parameter in parameters}
    effect, word, is_said = judge(_declared_effect(target, function), Effect.WRITE, (target.name,), description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description),
        description=description,
        parameters=parameters,
        effect=effect,
        effect_word=word,
        effect_said=is_said,
        invocation=FunctionInvocation(call, keywords=keywords),
        returns=None if target.response_format == "content_and_artifact" else _returns(function),
        tags=(*tags, *(target.tags or ())),
        aliases=tuple({target.name} - {identifier(target.name)}),
        retrieval_text=" ".join((id_, target.name)),
        key=id_,
    )


def _is_a(kind: str, target: object) -> bool:
    base = getattr(sys.modules.get("langchain_core.tools"), kind, None)
    return base is not None and isinstance(target, base)


def _plain(target: Any) -> Callable[..., Awaitable[Any]]:
    async def call(**arguments: Any) -> Any:
        return await target.ainvoke(arguments)

    return call


def _with_artifact(target: Any) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return a call whose result holds the content (for a model) and the artifact (for the program)."""

    async def call(**arguments: Any) -> dict[str, Any]:
        message = await target.ainvoke({"type": "tool_call", "id": "call", "name": target.name, "args": arguments})
        if message.status == "error":
            raise UpstreamError(str(message.content))
        return {"content": message.content, "artifact": _data(message.artifact)}

    return call


def _data(artifact: Any) -> Any:
    """Return an artifact as JSON data, or the name of its type if it has no JSON form."""
    try:
        return ANY.dump_python(artifact, mode="json")
    except Exception:  # noqa: BLE001 -- serializers of other libraries raise any type
        return f"<{type(artifact).__name__}>"


def _declared_effect(target: Any, function: object) -> Effect | None:
    declared = callables.said_effect(function) or (target.metadata or {}).get("effect")
    return Effect(declared) if declared in _EFFECTS else None


def _returns(function: Callable[..., Any] | None) -> Schema | None:
    """Return the result schema from the type hint of the tool's function, or None."""
    try:
        return callables.tool_of(function, "", source="").returns if function is not None else None
    except SourceError:
        return None
