"""Read tool objects of agent frameworks: a `name`, an `args_schema` (pydantic model or JSON Schema), a run method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codemode.catalog.effects import judge
from codemode.catalog.tool import Effect, Tool
from codemode.errors import SourceError
from codemode.sources.functions.callables import said_effect
from codemode.sources.functions.described import parameters_of
from codemode.text.prose import first_sentence
from codemode.transports.function import FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Callable

#: The methods that run a tool object, in order of preference. Several frameworks use `_run`.
_RUN_METHODS = ("run", "_run", "func", "__call__")


def is_tool_object(target: object) -> bool:
    """Whether `target` has a name, an arguments schema and a run method."""
    is_named = isinstance(getattr(target, "name", None), str) and not isinstance(target, type)
    return is_named and _schema(target) is not None and _run(target) is not None


def tool_of(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """Return the tool that runs a tool object. Raises SourceError if its arguments have no JSON Schema."""
    try:
        parameters = parameters_of(_schema(target) or {})
    except Exception as error:  # noqa: BLE001 -- pydantic raises many types
        message = f"{id_} cannot be called with JSON data: {' '.join(str(error).split())[:300]}"
        raise SourceError(message) from None
    run = _run(target)
    description = str(getattr(target, "description", "") or "")
    effect, word, is_said = judge(said_effect(run), Effect.WRITE, (target.name,), description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description),
        description=description,
        parameters=parameters,
        effect=effect,
        effect_word=word,
        effect_said=is_said,
        invocation=FunctionInvocation(run, keywords={one.name: one.wire_name for one in parameters}) if run else None,
        tags=tags,
        retrieval_text=" ".join((id_, target.name)),
        key=id_,
    )


def _schema(target: object) -> Mapping[str, Any] | None:
    declared = getattr(target, "args_schema", None)
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return declared.model_json_schema()
    return declared if isinstance(declared, Mapping) else None


def _run(target: object) -> Callable[..., Any] | None:
    methods = (getattr(target, name, None) for name in _RUN_METHODS)
    return next((run for run in methods if callable(run)), None)
