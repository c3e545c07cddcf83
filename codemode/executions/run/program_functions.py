"""Functions that a program can call beside the tools: `search`, `describe` and `load`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, validate_call

from codemode.search.request import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.search.result import SearchAnswer

Name = Annotated[str, Field(max_length=1000)]


def program_functions(
    search: Callable[[SearchRequest], Awaitable[SearchAnswer]],
    describe: Callable[[str], Awaitable[str]],
    load: Callable[[str], Awaitable[Any]],
) -> Mapping[str, Callable[..., Awaitable[Any]]]:
    """Return the functions by signature. They raise ValidationError for wrong arguments."""

    async def searched(**arguments: Any) -> str:
        several = arguments.get("queries")
        if isinstance(several, list):  # positional arguments, one of which may be a list
            arguments["queries"] = [query for one in several for query in (one if isinstance(one, list) else [one])]
        return (await search(SearchRequest.model_validate({"introduce": False, **arguments}))).text

    @validate_call
    async def described(name: Name = "") -> str:
        return await describe(name)

    @validate_call
    async def loaded(handle: Name) -> Any:
        return await load(handle)

    return {
        f"search(*{', '.join(SearchRequest.model_fields)})": searched,
        "describe(name)": described,
        "load(handle)": loaded,
    }
