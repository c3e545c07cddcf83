"""`load_result`: the rest of a result that was shown in part, for models that write no programs.

A call is a program that loads the result by its handle and takes a part of it. It is offered once something was cut.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codemode.catalog.tool import Effect
from codemode.model.definitions import Definition

if TYPE_CHECKING:
    from collections.abc import Iterator

LOAD_RESULT = Definition(
    {
        "name": "load_result",
        "description": "Show more of a result that was shortened.",
        "parameters": {
            "type": "object",
            "properties": {
                "handle": {"type": "string"},
                "path": {"type": "string", "description": "A part of it, such as items[3].text"},
                "start": {"type": "integer", "description": "The first item, or character of a text; default 0"},
            },
            "required": ["handle"],
        },
    },
    Effect.READ,
)

_STEPS = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<place>-?\d+)\]")


class LoadArguments(BaseModel):
    """Arguments of `load_result`."""

    model_config = ConfigDict(extra="forbid")

    handle: str
    path: str = ""
    start: int = Field(default=0, ge=0)

    @field_validator("path")
    @classmethod
    def _readable(cls, path: str) -> str:
        if "".join(step[0] for step in _STEPS.finditer(path)) != path:
            message = "expected names and places, such as items[3].text"
            raise ValueError(message)
        return path

    def program(self) -> str:
        """Return the program that takes the part."""
        rest = f"[{self.start}:]" if self.start else ""
        return f"load({self.handle!r}){''.join(self._steps())}{rest}"

    def _steps(self) -> Iterator[str]:
        for step in _STEPS.finditer(self.path):
            yield f"[{step['name']!r}]" if step["name"] else f"[{step['place']}]"
