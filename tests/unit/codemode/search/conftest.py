"""Fixtures: small tools to search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToolFactory(Protocol):
    """Creates a tool from an id, a description, and parameters as JSON Schema properties."""

    def __call__(self, id_: str, description: str = "", /, **changes: Any) -> Tool: ...


@pytest.fixture
def tool() -> ToolFactory:
    def make(
        id_: str,
        description: str = "",
        /,
        *,
        parameters: Mapping[str, Any] | None = None,
        required: tuple[str, ...] = (),
        source: str = "",
        effect: Effect = Effect.READ,
        **changes: Any,
    ) -> Tool:
        declared = tuple(
            Parameter(name, name, Location.QUERY, name in required, Schema.of(schema), schema.get("description", ""))
            for name, schema in (parameters or {}).items()
        )
        return Tool(
            id=id_,
            source=source or id_.partition(".")[0],
            summary="",
            description=description,
            parameters=declared,
            effect=effect,
            invocation=None,
            **changes,
        )

    return make
