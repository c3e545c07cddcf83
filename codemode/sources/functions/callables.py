"""One Python callable as a tool: its signature, type hints and docstring as schema and text."""

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

from codemode.catalog.effect_words import judge
from codemode.catalog.inverse import Inverse
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.errors import SourceError, WrongArgument
from codemode.text.nearest import did_you_mean
from codemode.text.prose import first_sentence
from codemode.transports.function import FunctionInvocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: What pydantic, type hints and signatures of builtins raise where they cannot be read.
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

#: What `tool` leaves on a function for `tool_of` to read.
_MARK = "__codemode_tool__"


#: Valid values of `effect`.
EFFECTS = tuple(map(str, Effect))


@dataclass(frozen=True, slots=True)
class ToolMark:
    """What an author says of a function beside its signature."""

    effect: Effect | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    revert: str = ""


def tool(
    *, effect: str | None = None, tags: Sequence[str] = (), examples: Sequence[str] = (), revert: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Say what calling a function does (`read`, `write`, `destructive`), how it is tagged, and examples of calls.

    Without an `effect` the words of its name and docstring tell whether it destroys; else it writes.
    `revert` is the call that takes one back: `cancel_order(number=result.number)`.

        @tool(effect="read", examples=("shop.find_order(number=7)",))
        def find_order(number: int) -> Order: ...

    Raises ValueError for a `revert` that is no such call.
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
    """The tool that calls `function`. Raises SourceError where its parameters cannot be described as JSON data."""
    mark: ToolMark = getattr(function, _MARK, ToolMark())
    doc = _documentation(function)
    try:
        read = _read(function, doc)
        parameters = _parameters(read.model)
        returns = _schema(read.result.json_schema(mode="serialization")) if read.has_result else None
    except _UNREADABLE as error:
        raise _unreadable(id_, error) from None
    description = doc.description or ""
    effect, word, is_said = judge(mark.effect, Effect.WRITE, (id_,), description)
    return Tool(
        id_,
        source=source,
        summary=first_sentence(description),
        description=description,
        parameters=parameters,
        effect=effect,
        effect_word=word,
        effect_said=is_said,
        invocation=FunctionInvocation(function, read.model, read.positional, read.result),
        returns=returns,
        tags=(*tags, *mark.tags),
        examples=mark.examples,
        revert=mark.revert,
        retrieval_text=" ".join((id_, description)),
        key=id_,
    )


def said_effect(function: object) -> Effect | None:
    """The effect that `@tool` says of a function; None where it says nothing."""
    mark: ToolMark | None = getattr(function, _MARK, None)
    return None if mark is None else mark.effect


def takes_any(function: Callable[..., Any]) -> bool:
    """Whether a function takes arguments of any name (`**kwargs`); what they may be, its signature does not say."""
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(function).parameters.values())


def is_typed(function: Callable[..., Any]) -> bool:
    """Whether anything is said of the types of a function's arguments."""
    return any(parameter.annotation is not parameter.empty for parameter in _given(function))


def only_model(function: Callable[..., Any]) -> tuple[str, type[BaseModel]] | None:
    """The only parameter of a function and the model that it takes; None for every other function."""
    given = tuple(_given(function))
    try:
        hint = typing.get_type_hints(_hinted(function)).get(given[0].name) if len(given) == 1 else None
    except _UNREADABLE:
        return None
    return (given[0].name, hint) if isinstance(hint, type) and issubclass(hint, BaseModel) else None


@dataclass(frozen=True, slots=True)
class _Read:
    """A function's signature: a model of its arguments, those without a keyword, what becomes of its result."""

    model: type[BaseModel]
    positional: tuple[str, ...]
    result: TypeAdapter[Any]
    has_result: bool


def _read(function: Callable[..., Any], doc: Docstring) -> _Read:
    hints = typing.get_type_hints(_hinted(function), include_extras=True)
    given = tuple(_given(function))
    about = {param.arg_name: param.description or "" for param in doc.params}
    return _Read(
        _model(given, hints, about, extra="allow" if takes_any(function) else "forbid"),
        tuple(p.name for p in given if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        TypeAdapter(hints.get("return", Any)),
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
        plain = Docstring()
        plain.short_description = text
        return plain


def _hinted(function: Callable[..., Any]) -> Any:
    """Where the annotations stand: a partial's function, the `__call__` of an object that is called."""
    function = inspect.unwrap(getattr(function, "func", function))
    return function if inspect.isroutine(function) else type(function).__call__


def _given(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The parameters that a caller can give by name; `*args` and `**kwargs` say nothing of what they take."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            yield parameter


def _model(
    given: tuple[inspect.Parameter, ...],
    hints: dict[str, Any],
    about: dict[str, str],
    extra: Literal["allow", "forbid"],
) -> type[BaseModel]:
    """A model with a field for each parameter. Field names are numbers, so that no parameter's name is in the way."""
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(given):
        hint = hints.get(parameter.name, Any)
        said: dict[str, Any] = {"alias": parameter.name}
        if about.get(parameter.name):
            said["description"] = about[parameter.name]
        if parameter.default is not inspect.Parameter.empty:
            said["default"] = parameter.default
        fields[f"field_{number}"] = (hint, Field(**said))
    config = ConfigDict(extra=extra, protected_namespaces=())
    model: type[BaseModel] = pydantic_model("Arguments", __config__=config, **fields)
    return model


def _parameters(model: type[BaseModel]) -> tuple[Parameter, ...]:
    whole = _schema(model.model_json_schema(by_alias=True))
    required = whole.required()
    made = [
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
    return tuple(sorted(made, key=lambda parameter: not parameter.required))


def _schema(document: Any) -> Schema:
    return Schema(document, Graph.of(document), name=document.get("title", "") if "properties" in document else "")
