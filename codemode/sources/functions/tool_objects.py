"""Tool objects of agent frameworks: a `name`, an `args_schema` (a pydantic model or JSON Schema), and a way to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codemode.catalog.effect_words import judge
from codemode.catalog.tool import Effect, Tool
from codemode.errors import SourceError
from codemode.sources.functions.callables import said_effect
from codemode.sources.toolkits.described import parameters_of
from codemode.text.prose import first_sentence
from codemode.transports.function import FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Callable

#: What runs a tool object, the first that it has; `_run` is what authors of tools write in several frameworks.
_RUNS = ("run", "_run", "func", "__call__")


def is_tool_object(target: object) -> bool:
    """Whether it is an object that says itself what its arguments are."""
    is_named = isinstance(getattr(target, "name", None), str) and not isinstance(target, type)
    return is_named and _schema(target) is not None and _run(target) is not None


def tool_of(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """The tool that runs a tool object. Raises SourceError where its arguments have no JSON Schema."""
    try:
        parameters = parameters_of(_schema(target) or {})
    except Exception as error:  # noqa: BLE001 -- whatever pydantic makes of the arguments
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
    found = (getattr(target, name, None) for name in _RUNS)
    return next((run for run in found if callable(run)), None)
