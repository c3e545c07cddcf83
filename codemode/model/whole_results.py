"""`load_result`: the rest of a result that was shown in part, for models that write no programs.

A call is a program that loads the result by its handle and takes a part of it. It is offered once something was cut.
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codemode.catalog.tool import Effect
from codemode.model.definitions import Definition

LOAD_RESULT = Definition(
    {
        "name": "load_result",
        "description": "Show more of a result that was shortened.",
        "parameters": {
            "type": "object",
            "properties": {
                "handle": {"type": "string"},
                "path": {"type": "string", "description": "A part of it, such as items[3].text or items[].name"},
                "start": {"type": "integer", "description": "The first item, or character of a text; default 0"},
            },
            "required": ["handle"],
        },
    },
    Effect.READ,
)

#: Names and places, and `[]` for all items of a list, as JMESPath and the selection of fields have it.
_STEPS = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<place>-?\d+)\]|\[\*?\]")


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
            message = "expected names and places, such as items[3].text, or [] for all items, as in items[].name"
            raise ValueError(message)
        return path

    def program(self) -> str:
        """Return the program that takes the part."""
        rest = f"[{self.start}:]" if self.start else ""
        part, loops = f"load({self.handle!r})", ""
        for step in _STEPS.finditer(self.path):
            name, place = step["name"], step["place"]
            if place is not None:
                part += f"[{place}]"
            elif name is None:
                item = f"item{loops.count(' for ')}"
                part, loops = item, f"{loops} for {item} in {part}"
            else:
                part = f"({part} or {{}}).get({name!r})" if loops else f"{part}[{name!r}]"
        return f"[{part}{loops}]{rest}" if loops else f"{part}{rest}"
