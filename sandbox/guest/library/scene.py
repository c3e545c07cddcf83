"""The parts of one execution that facades are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from sandbox.guest.base.output import Streams
    from sandbox.guest.scheduling.clock import Clock
    from sandbox.guest.scheduling.hub import Hub
    from sandbox.guest.scheduling.loop import Loop
    from sandbox.guest.tools import ToolCalls


@dataclass(eq=False)
class Scene:
    """The clock, scheduler, output, variables and random numbers of one execution."""

    clock: Clock
    hub: Hub
    loop: Loop
    calls: ToolCalls
    streams: Streams
    random: random.Random
    variables: dict[str, Any]
    note: Callable[[str], None]
    is_async: bool = False
