"""Saved programs: programs that are tools of the namespace `saved`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.catalog.effects import exceeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Effect, Tool

#: The namespace of saved programs, and the name of their source.
SAVED = "saved"


@dataclass(frozen=True, slots=True)
class SavedProgram:
    """A program that is called as `saved.NAME(…)`.

    - `parameters`: JSON Schemas (2020-12) by name. The program reads its arguments as variables. A parameter with a
      `default` is optional.
    - `returns`: the JSON Schema of the value. Empty if it is unknown.
    - `effect`: the worst effect that its calls may have.
    - `tools`: the ids of the tools that it may call.
    - `roles`: the roles that see it. Empty: all.
    - `version`: counts from 1, and grows with each change.
    - `saved_by`, `saved_at`, `execution`: the caller and the time (RFC 3339) of the save, and the promoted execution.
    - `problem`: why it is broken, "" if it is not. It depends on the catalog, and is in no file.
    - `code`: the whole text of its file, so that the lines of errors are lines of the file.
    """

    name: str
    description: str
    code: str
    effect: Effect
    tools: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    returns: Mapping[str, Any] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    version: int = 1
    saved_by: str = ""
    saved_at: str = ""
    execution: str = ""
    problem: str = ""

    @property
    def id(self) -> str:
        """The id of its tool."""
        return f"{SAVED}.{self.name}"

    @property
    def defaults(self) -> dict[str, Any]:
        """The defaults of optional parameters."""
        return {name: schema["default"] for name, schema in self.parameters.items() if "default" in schema}

    @property
    def author(self) -> str:
        """Who saved which version, for people: `saved.report version 2, saved by ann`."""
        return f"{self.id} version {self.version}, {f'saved by {self.saved_by}' if self.saved_by else 'from a file'}"

    def forbids(self, tool: Tool) -> str:
        """Return why the program may not call a tool, "" if it may. The header is law, whatever the code does."""
        if tool.id not in self.tools:
            return f"the header of {self.id} does not list it among its tools"
        if exceeds(tool.effect, self.effect):
            return f"the header of {self.id} says {self.effect}, and the tool is {tool.effect}"
        return ""

    def widens(self, earlier: SavedProgram) -> str:
        """Return what this version may do that the earlier one may not, "" if there is nothing."""
        more = [f"calls {id_}" for id_ in self.tools if id_ not in earlier.tools]
        more += [f"is {self.effect}, not {earlier.effect}"] if exceeds(self.effect, earlier.effect) else []
        return ", ".join(more)

    def missing(self, catalog: Catalog) -> tuple[str, ...]:
        """Return the tools that it needs and the catalog lacks."""
        return tuple(id_ for id_ in self.tools if id_ not in catalog)


def program_of(tool: Tool | None) -> SavedProgram | None:
    """Return the saved program behind a tool, None for any other tool."""
    if tool is None or tool.source != SAVED:
        return None
    invocation = tool.invocation
    return invocation if isinstance(invocation, SavedProgram) else None
