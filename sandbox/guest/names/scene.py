"""What the names of one program are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.guest.output import Streams

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from sandbox.guest.concurrency.clock import Clock
    from sandbox.guest.concurrency.hub import Hub
    from sandbox.guest.concurrency.loop import Loop
    from sandbox.guest.language.examples import Example
    from sandbox.guest.output import Errors, Output
    from sandbox.guest.runtime.access import Access
    from sandbox.guest.runtime.own import OwnClasses
    from sandbox.guest.tools import ToolCalls


@dataclass(slots=True)
class Scene:
    """One execution: its clock, its random numbers, its scheduler, its output."""

    own: OwnClasses
    access: Access
    clock: Clock
    hub: Hub
    loop: Loop
    calls: ToolCalls
    output: Output
    errors: Errors
    random: random.Random
    program_globals: dict[str, Any]
    note: Callable[[str], None]
    is_async: bool = False
    examples: Mapping[str, tuple[Example, ...]] = field(default_factory=dict)
    has_named_tuples: bool = False
    streams: Streams = field(init=False)

    def __post_init__(self) -> None:
        self.streams = Streams(self.output, self.errors)
