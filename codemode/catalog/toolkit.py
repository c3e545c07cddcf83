"""Toolkits: tools that belong together, with a common description and instructions."""

from __future__ import annotations

from dataclasses import dataclass

from codemode.catalog.identifiers import identifier


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Tools of one source that belong together.

    Attributes:
        tools: the keys of the tools (`Tool.key`), which survive renaming. `Catalog.tools_of` returns the tools.
        tier: a class that the author chose, such as "core" or "premium".
        keywords: words in a message that select the toolkit.
        instructions: text for a model that gets the tools.
        examples: example uses for the model.
    """

    name: str
    source: str
    tools: frozenset[str] = frozenset()
    tier: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    instructions: str = ""
    examples: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The group in the ids of its tools, such as `gym.clients`. `describe` accepts it too."""
        return f"{self.source}.{identifier(self.name)}"
