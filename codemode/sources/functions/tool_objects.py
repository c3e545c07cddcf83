"""Read tool objects of agent frameworks: a `name`, an `args_schema` (pydantic model or JSON Schema), a run method.

LangChain's tools are among them. This module does not import LangChain: code that has its tools has already done so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codemode.catalog.identifiers import identifier
from codemode.catalog.tool import Effect, Tool
from codemode.errors import SourceError, UpstreamError
from codemode.sources.functions import callables
from codemode.sources.functions.described import parameters_of
from codemode.transports.function import ANY, FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.schema import Schema

#: The methods that run a tool object, in order of preference. Several frameworks use `_run`.
_RUN_METHODS = ("run", "_run", "func", "__call__")

#: The form of results of LangChain's tools that return content (for a model) and an artifact (for the program).
_WITH_ARTIFACT = "content_and_artifact"


def is_tool_object(target: object) -> bool:
    """Whether `target` has a name, an arguments schema and a run method, or is a LangChain tool."""
    if _is_langchain("BaseTool", target):
        return True
    is_named = isinstance(getattr(target, "name", None), str) and not isinstance(target, type)
    return is_named and _schema(target) is not None and _run(target) is not None


def is_langchain_toolkit(target: object) -> bool:
    """Whether `target` is a LangChain toolkit, whose `get_tools()` returns tools."""
    return _is_langchain("BaseToolkit", target)


def tool_of(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """Return the tool that runs a tool object. Raises SourceError if its arguments have no JSON Schema.

    The effect comes from `@codemode.tool` on its function, else from a LangChain tool's `metadata["effect"]`, else from
    its words.
    """
    is_langchain = _is_langchain("BaseTool", target)
    try:
        parameters = parameters_of((_langchain_schema if is_langchain else _schema)(target) or {})
    except Exception as error:  # noqa: BLE001 -- pydantic 1 and 2 raise many types
        message = f"{id_} cannot be called with JSON data: {' '.join(str(error).split())[:300]}"
        raise SourceError(message) from None
    about: dict[str, Any] = {
        "words": target.name,
        "description": str(getattr(target, "description", "") or ""),
        "parameters": parameters,
        "source": source,
    }
    keywords = {parameter.name: parameter.wire_name for parameter in parameters}
    if not is_langchain:
        run = _run(target)
        invocation = FunctionInvocation(run, keywords=keywords) if run else None
        return callables.function_tool(id_, invocation, callables.said_effect(run), tags=tags, **about)
    function = getattr(target, "coroutine", None) or getattr(target, "func", None)
    has_artifact = target.response_format == _WITH_ARTIFACT
    return callables.function_tool(
        id_,
        FunctionInvocation((_with_artifact if has_artifact else _plain)(target), keywords=keywords),
        _declared_effect(target, function),
        returns=None if has_artifact else _returns(function),
        tags=(*tags, *(target.tags or ())),
        aliases=tuple({target.name} - {identifier(target.name)}),
        **about,
    )


def _schema(target: object) -> Mapping[str, Any] | None:
    declared = getattr(target, "args_schema", None)
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return declared.model_json_schema()
    return declared if isinstance(declared, Mapping) else None


def _run(target: object) -> Callable[..., Any] | None:
    methods = (getattr(target, name, None) for name in _RUN_METHODS)
    return next((run for run in methods if callable(run)), None)


# --- LangChain ----------------------------------------------------------------------------------------------------


def _is_langchain(kind: str, target: object) -> bool:
    base = getattr(sys.modules.get("langchain_core.tools"), kind, None)
    return base is not None and isinstance(target, base)


def _langchain_schema(target: Any) -> Mapping[str, Any]:
    schema = target.tool_call_schema
    return schema if isinstance(schema, Mapping) else schema.model_json_schema()


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
    return Effect(declared) if declared in tuple(Effect) else None


def _returns(function: Callable[..., Any] | None) -> Schema | None:
    """Return the result schema from the type hint of the tool's function, or None."""
    try:
        return callables.tool_of(function, "", source="").returns if function is not None else None
    except SourceError:
        return None
