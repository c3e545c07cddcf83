"""Read a Python callable as a tool, from its signature, type hints and docstring."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from docstring_parser import Docstring, ParseError
from docstring_parser import parse as parse_docstring
from pydantic import BaseModel, ConfigDict, Field, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic import create_model as pydantic_model
from pydantic.errors import PydanticInvalidForJsonSchema

from codemode.catalog.effects import judge
from codemode.catalog.inverse import Inverse
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.errors import SourceError, WrongArgument
from codemode.text.nearest import did_you_mean
from codemode.text.prose import first_sentence
from codemode.transports.function import ANY, FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The errors of unreadable pydantic models, type hints and signatures.
_UNREADABLE = (
    PydanticSchemaGenerationError,
    PydanticInvalidForJsonSchema,
    PydanticUserError,
    NameError,
    TypeError,
    ValueError,
)

P = ParamSpec("P")
R = TypeVar("R")

#: The attribute that `tool` sets on a function and `tool_of` reads.
_MARK = "__codemode_tool__"

#: Valid values of `effect`.
EFFECTS = tuple(map(str, Effect))


@dataclass(frozen=True, slots=True)
class ToolMark:
    """The arguments of the decorator `tool`."""

    effect: Effect | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    revert: str = ""


def tool(
    *, effect: str | None = None, tags: Sequence[str] = (), examples: Sequence[str] = (), revert: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the effect (`read`, `write`, `destructive`), the tags and example calls of a function.

        @tool(effect="read", examples=("shop.find_order(number=7)",))
        def find_order(number: int) -> Order: ...

    Without `effect`, the function is destructive if its name or docstring says so, else it writes. `revert` is the call
    that undoes one: `cancel_order(number=result.number)`. Raises ValueError for an invalid `revert`.
    """
    if revert:
        Inverse.parse(revert)
    if effect is not None and effect not in EFFECTS:
        message = f"effect must be one of {', '.join(EFFECTS)}, not {effect!r}{did_you_mean(str(effect), EFFECTS)}"
        raise WrongArgument(message)
    mark = ToolMark(None if effect is None else Effect(effect), tuple(tags), tuple(examples), revert)

    def marked(function: Callable[P, R]) -> Callable[P, R]:
        setattr(function, _MARK, mark)
        return function

    return marked


def tool_of(function: Callable[..., Any], id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """Return the tool that calls `function`. Raises SourceError if its parameters have no JSON Schema."""
    mark: ToolMark = getattr(function, _MARK, ToolMark())
    doc = _documentation(function)
    try:
        read = _read_signature(function, doc)
        parameters = _parameters(read.model)
        returns = _schema(read.result.json_schema(mode="serialization")) if read.has_result else None
    except _UNREADABLE as error:
        raise _unreadable(id_, error) from None
    return function_tool(
        id_,
        FunctionInvocation(function, read.model, read.positional, read.result),
        mark.effect,
        source=source,
        words=id_,
        description=doc.description or "",
        parameters=parameters,
        returns=returns,
        tags=(*tags, *mark.tags),
        examples=mark.examples,
        revert=mark.revert,
    )


def function_tool(
    id_: str,
    invocation: FunctionInvocation | None,
    effect: Effect | None,
    *,
    source: str,
    words: str,
    description: str,
    **more: Any,
) -> Tool:
    """Return the tool that runs a function. Without a declared `effect`, its `words` and description decide."""
    judged, word, is_said = judge(effect, Effect.WRITE, (words,), description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description),
        description=description,
        effect=judged,
        effect_word=word,
        effect_said=is_said,
        invocation=invocation,
        retrieval_text=" ".join((id_, words)),
        key=id_,
        **more,
    )


def said_effect(function: object) -> Effect | None:
    """Return the effect that `@tool` declares for a function, or None."""
    mark: ToolMark | None = getattr(function, _MARK, None)
    return None if mark is None else mark.effect


def takes_any(function: Callable[..., Any]) -> bool:
    """Whether a function takes `**kwargs`."""
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(function).parameters.values())


def is_typed(function: Callable[..., Any]) -> bool:
    """Whether any parameter of a function has a type hint."""
    return any(parameter.annotation is not parameter.empty for parameter in _named_parameters(function))


def only_model(function: Callable[..., Any]) -> tuple[str, type[BaseModel]] | None:
    """Return the name and the pydantic model of a function's only parameter. None for other functions."""
    parameters = tuple(_named_parameters(function))
    try:
        hint = typing.get_type_hints(_annotated(function)).get(parameters[0].name) if len(parameters) == 1 else None
    except _UNREADABLE:
        return None
    return (parameters[0].name, hint) if isinstance(hint, type) and issubclass(hint, BaseModel) else None


@dataclass(frozen=True, slots=True)
class _Signature:
    """A function's signature: the model of its arguments, the positional-only names, the adapter of its result."""

    model: type[BaseModel]
    positional: tuple[str, ...]
    result: TypeAdapter[Any]
    has_result: bool


def _read_signature(function: Callable[..., Any], doc: Docstring) -> _Signature:
    hints = typing.get_type_hints(_annotated(function), include_extras=True)
    parameters = tuple(_named_parameters(function))
    descriptions = {param.arg_name: param.description or "" for param in doc.params}
    return _Signature(
        _model(parameters, hints, descriptions, extra="allow" if takes_any(function) else "forbid"),
        tuple(p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        TypeAdapter(hints["return"]) if hints.get("return", Any) is not Any else ANY,
        "return" in hints,
    )


def _unreadable(id_: str, error: Exception) -> SourceError:
    message = f"{id_} cannot be called with JSON data: {' '.join(str(error).split())[:300]}"
    return SourceError(message)


def _documentation(function: Callable[..., Any]) -> Docstring:
    text = inspect.getdoc(function) or ""
    try:
        return parse_docstring(text)
    except ParseError:
        fallback = Docstring()
        fallback.short_description = text
        return fallback


def _annotated(function: Callable[..., Any]) -> Any:
    """Return the function that has the annotations: that of a partial, or the `__call__` of an object."""
    function = inspect.unwrap(getattr(function, "func", function))
    return function if inspect.isroutine(function) else type(function).__call__


def _named_parameters(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield all parameters except `*args` and `**kwargs`."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            yield parameter


def _model(
    parameters: tuple[inspect.Parameter, ...],
    hints: dict[str, Any],
    descriptions: dict[str, str],
    extra: Literal["allow", "forbid"],
) -> type[BaseModel]:
    """Create a model with a field for each parameter. Fields are numbered: parameter names may be reserved."""
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        hint = hints.get(parameter.name, Any)
        options: dict[str, Any] = {"alias": parameter.name}
        if descriptions.get(parameter.name):
            options["description"] = descriptions[parameter.name]
        if parameter.default is not inspect.Parameter.empty:
            options["default"] = parameter.default
        fields[f"field_{number}"] = (hint, Field(**options))
    config = ConfigDict(extra=extra, protected_namespaces=())
    model: type[BaseModel] = pydantic_model("Arguments", __config__=config, **fields)
    return model


def _parameters(model: type[BaseModel]) -> tuple[Parameter, ...]:
    whole = _schema(model.model_json_schema(by_alias=True))
    required = whole.required()
    converted = [
        Parameter(
            name=name,
            wire_name=name,
            location=Location.ARGUMENT,
            required=name in required,
            schema=schema,
            description=str(schema.get("description", "")),
        )
        for name, schema in whole.properties().items()
    ]
    return tuple(sorted(converted, key=lambda parameter: not parameter.required))


def _schema(document: Any) -> Schema:
    return Schema(document, Graph.of(document), name=document.get("title", "") if "properties" in document else "")
