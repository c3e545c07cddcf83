"""Tools that are the operator's Python functions, called in this process with arguments made from JSON data."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from codemode.catalog.content import is_content
from codemode.catalog.value_count import holds_too_many
from codemode.errors import AnswerInvalid, ArgumentsInvalid, CallError, UpstreamError, UpstreamTimeout
from codemode.shared.collection import without_collection
from codemode.shared.foreign_code import await_contained, call_contained, described
from codemode.transports.content import Content, ContentStore
from codemode.transports.http.rate_limit import Pace
from codemode.transports.not_numbers import with_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext
    from codemode.transports.content import OwnedContents

#: Converts a result of any type that has a JSON form.
ANY: TypeAdapter[Any] = TypeAdapter(Any)

#: Largest number of values that a generator may yield: no thread can be stopped.
_MOST_YIELDED = 1_000_000

#: Values of an answer from which on it is made into JSON data in a thread.
_MANY = 4_000


@dataclass(frozen=True, slots=True)
class FunctionInvocation:
    """How a function is called.

    - `arguments`: a model whose aliases are the function's parameter names. None passes arguments unchanged.
    - `positional`: positional-only parameters, in order.
    - `result`: converts the return value to JSON data.
    - `keywords`: the function's names of parameters whose tool name differs.
    """

    function: Callable[..., Any]
    arguments: type[BaseModel] | None = None
    positional: tuple[str, ...] = ()
    result: TypeAdapter[Any] = ANY
    keywords: Mapping[str, str] = field(default_factory=dict)


class FunctionTransport:
    """Calls the functions of one source, at most `concurrency` at once.

    Coroutines run on the event loop, other functions in threads.
    """

    idempotency_header = ""

    def __init__(
        self,
        source: str,
        *,
        timeout_s: float = 30.0,
        concurrency: int = 32,
        contents: ContentStore | None = None,
    ) -> None:
        self._source = source
        self._contents = contents or ContentStore()
        self._timeout_s = timeout_s
        self._pace = Pace(concurrency)

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Call the function and return JSON data. Bytes that it takes or returns are content references.

        Raises ArgumentsInvalid, UpstreamError for an exception of the function, AnswerInvalid for a result without JSON
        form, and UpstreamTimeout. A thread cannot be stopped, so a function that timed out may still do its work.
        """
        plan: FunctionInvocation = tool.invocation
        contents = self._contents.of(context.owner)
        positional, named = _arguments(tool, plan, _with_bytes(arguments, contents))
        try:
            async with asyncio.timeout(self._timeout_s) as limit, self._pace:
                await context.before_send()
                value = await _result(tool, plan.function, positional, named)
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"{self._source} did not answer within {self._timeout_s:g} s"
            raise UpstreamTimeout(message) from None
        if holds_too_many(value, _MANY):
            return await asyncio.to_thread(_answer, tool, plan.result, value, contents)
        return _answer(tool, plan.result, value, contents)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Raise CallError, because a function returns its whole list."""
        message = f"{tool.id} has no pages: call it without .items or .pages"
        raise CallError(message)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def _answer(tool: Tool, result: TypeAdapter[Any], value: Any, contents: OwnedContents) -> Any:
    """Return a result as JSON data with references. Raises AnswerInvalid."""
    try:
        kept = with_names(_with_references(value, contents))
        described_by = result if kept is value else ANY  # a declared type does not describe references
        return with_names(call_contained(_data, described_by, kept))
    except Exception as error:  # noqa: BLE001 -- serializers and properties of the value are the operator's code
        message = f"{tool.id} returned a value that has no JSON form: {error}"
        raise AnswerInvalid(message) from None


def _data(result: TypeAdapter[Any], value: Any) -> Any:
    """Return a value as JSON data. Without a declared type, pydantic would write null for NaN and infinities."""
    if result is ANY:
        with without_collection():
            return to_jsonable_python(value, by_alias=True, inf_nan_mode="strings")
    with without_collection():
        return result.dump_python(value, mode="json", by_alias=True)


def _arguments(tool: Tool, plan: FunctionInvocation, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    named = {plan.keywords.get(name, name): value for name, value in arguments.items()}
    if plan.arguments is None:
        return [], named
    try:
        model = call_contained(plan.arguments.model_validate, named)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        place = ".".join(map(str, first["loc"]))
        message = f"{place}: {first['msg']}"
        raise ArgumentsInvalid(tool.id, message, parameter=name, valid=tool.parameter_names) from None
    except Exception as error:  # validators are the operator's code
        raise ArgumentsInvalid(tool.id, described(error), valid=tool.parameter_names) from error
    fields = plan.arguments.model_fields
    values = {str(fields[name].alias): getattr(model, name) for name in fields if name in model.model_fields_set}
    values |= model.model_extra or {}
    return [values.pop(name) for name in plan.positional if name in values], values


def _with_bytes(value: Any, contents: OwnedContents) -> Any:
    """Return arguments with the bytes of each content in the content's place. Raises CallError."""
    if is_content(value):
        return contents.get(value).data
    if isinstance(value, Mapping):
        return {name: _with_bytes(item, contents) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_bytes(item, contents) for item in value]
    return value


def _with_references(value: Any, contents: OwnedContents) -> Any:
    """Return a result with a reference in the place of all bytes. A result without bytes is returned itself."""
    if isinstance(value, (bytes, bytearray)):
        return contents.put(Content(bytes(value)))
    if type(value) is dict:
        items = {name: _with_references(item, contents) for name, item in value.items()}
        return items if any(items[name] is not item for name, item in value.items()) else value
    if type(value) in (list, tuple):
        parts = [_with_references(item, contents) for item in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value


async def _result(tool: Tool, function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """Return a function's result. Raises its exceptions as UpstreamError, except call errors."""
    try:
        return await _called(function, positional, named)
    except CallError:
        raise
    except Exception as error:
        message = f"{tool.id} raised {described(error)}"
        raise UpstreamError(message) from error


async def _called(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """Return what a function returns, awaited, or the list of what it yields."""
    if inspect.iscoroutinefunction(function):
        return await await_contained(function(*positional, **named))
    value = await asyncio.to_thread(call_contained, _to_its_end, function, *positional, **named)
    if inspect.isasyncgen(value):
        return await await_contained(_yielded(value))
    return await await_contained(value) if inspect.isawaitable(value) else value


def _to_its_end(function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
    value = function(*positional, **named)
    if not inspect.isgenerator(value):
        return value
    items = list(islice(value, _MOST_YIELDED + 1))
    if len(items) > _MOST_YIELDED:
        message = f"it yields more than {_MOST_YIELDED:,} values"
        raise ValueError(message)
    return items


async def _yielded(values: AsyncIterable[Any]) -> list[Any]:
    return [value async for value in values]
