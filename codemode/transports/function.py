"""Tools that are Python functions of the operator: called in this process, on arguments made of JSON data."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from codemode.errors import AnswerInvalid, ArgumentsInvalid, CallError, UpstreamError, UpstreamTimeout
from codemode.transports.rate_limit import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext


#: A result of any type that has a form as JSON data.
ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class FunctionInvocation:
    """How a function is called.

    `arguments` is a model whose fields have the function's own names as aliases, None where it takes them as they are;
    `positional` are those that cannot be given by keyword, in order. `result` makes JSON data of what it returns.
    `keywords` are the function's names of parameters that are called otherwise.
    """

    function: Callable[..., Any]
    arguments: type[BaseModel] | None = None
    positional: tuple[str, ...] = ()
    result: TypeAdapter[Any] = ANY
    keywords: Mapping[str, str] = field(default_factory=dict)


class FunctionTransport:
    """Calls the functions of one source: coroutines on the loop, others in threads, at most `concurrency` at once."""

    idempotency_header = ""

    def __init__(self, source: str, *, timeout_s: float = 30.0, concurrency: int = 32) -> None:
        self._source = source
        self._timeout_s = timeout_s
        self._pace = Pace(concurrency)

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Call the function and return JSON data.

        Raises ArgumentsInvalid, UpstreamError with what the function raised, AnswerInvalid for a result that is no
        data, and UpstreamTimeout: a thread cannot be stopped, so whether a late function did its work is unknown.
        """
        plan: FunctionInvocation = tool.invocation
        positional, named = _arguments(tool, plan, arguments)
        try:
            async with asyncio.timeout(self._timeout_s), self._pace:
                await context.before_send()
                value = await _result(tool, plan.function, positional, named)
        except TimeoutError:
            message = f"{self._source} gave no answer within {self._timeout_s:g} s"
            raise UpstreamTimeout(message) from None
        try:
            return plan.result.dump_python(value, mode="json", by_alias=True)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            message = f"{tool.id} returned what is no data: {error}"
            raise AnswerInvalid(message) from None

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Raises CallError: a function returns its whole list."""
        message = f"{tool.id} has no pages: call it as it is"
        raise CallError(message)

    async def aclose(self) -> None:
        """Nothing is open."""


def _arguments(tool: Tool, plan: FunctionInvocation, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    named = {plan.keywords.get(name, name): value for name, value in given.items()}
    if plan.arguments is None:
        return [], named
    try:
        made = plan.arguments.model_validate(named)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        place = ".".join(map(str, first["loc"]))
        message = f"{place}: {first['msg']}"
        raise ArgumentsInvalid(tool.id, message, parameter=name, valid=tool.parameter_names) from None
    fields = plan.arguments.model_fields
    values = {str(fields[name].alias): getattr(made, name) for name in fields if name in made.model_fields_set}
    values |= made.model_extra or {}
    return [values.pop(name) for name in plan.positional if name in values], values


async def _result(tool: Tool, function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """What a function returns. Raises UpstreamError with what it raises, but for errors of calls and time-outs."""
    try:
        return await _called(function, positional, named)
    except (CallError, TimeoutError):
        raise
    except Exception as error:
        message = f"{tool.id} raised {type(error).__name__}: {error}" if str(error) else f"{tool.id} raised {error!r}"
        raise UpstreamError(message) from error


async def _called(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*positional, **named)
    value = await asyncio.to_thread(function, *positional, **named)
    return await value if inspect.isawaitable(value) else value
