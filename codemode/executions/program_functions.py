"""The functions that a program finds beside the tools: `search` and `describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, validate_call

from codemode.search.request import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.search.result import SearchAnswer

Name = Annotated[str, Field(max_length=1000)]


def program_functions(
    search: Callable[[SearchRequest], Awaitable[SearchAnswer]], describe: Callable[[str], Awaitable[str]]
) -> Mapping[str, Callable[..., Awaitable[Any]]]:
    """Return the functions by their signatures. They raise ValidationError for wrong arguments."""

    async def searched(**arguments: Any) -> str:
        return (await search(SearchRequest.model_validate(arguments))).text

    @validate_call
    async def described(name: Name = "") -> str:
        return await describe(name)

    return {f"search({', '.join(SearchRequest.model_fields)})": searched, "describe(name)": described}
