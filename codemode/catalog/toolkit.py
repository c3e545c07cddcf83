"""A toolkit: tools that belong together, and what their author says of them as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from codemode.catalog.identifiers import identifier


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Tools of one source that belong together.

    `tools` are their keys (`Tool.key`), which stay as they are when a tool is renamed; `Catalog.tools_of` gives the
    tools themselves. `tier` is a class of the author's ("core", "premium"), `keywords` the words of a message that ask
    for the toolkit, `instructions` and `examples` what a model is told when it gets the tools.
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
        """The group that its tools are called by (`gym.clients`), and that `describe` knows it by."""
        return f"{self.source}.{identifier(self.name)}"
