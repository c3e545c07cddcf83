"""What the facades of one program are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from sandbox.guest.process.output import Streams
    from sandbox.guest.scheduling.clock import Clock
    from sandbox.guest.scheduling.hub import Hub
    from sandbox.guest.scheduling.loop import Loop
    from sandbox.guest.tools import ToolCalls


@dataclass(slots=True)
class Scene:
    """One execution: its clock, its random numbers, its scheduler, its output, its variables."""

    clock: Clock
    hub: Hub
    loop: Loop
    calls: ToolCalls
    streams: Streams
    random: random.Random
    variables: dict[str, Any]
    note: Callable[[str], None]
    is_async: bool = False
