"""`random`, `secrets` and `uuid`. All draw from the seed of the execution, so that runs are repeatable."""

from __future__ import annotations

import random
import uuid
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.facades.copies import copies_of
from sandbox.guest.library.facades.threads import listed

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene


def random_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `random`. `Random()` takes its seed from the execution."""
    source = scene.random

    class Random(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(source.getrandbits(128) if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(source.getrandbits(128) if a is None else a, version)

    class SystemRandom(Random):
        """A generator that ignores seeds."""

        def seed(self, *args: Any) -> None:
            super().seed()

    for kind in (Random, SystemRandom):
        kind.__module__, kind.__qualname__ = "random", kind.__name__
    shared = Random()
    functions = {name: getattr(shared, name) for name in MODULES["random"].facade if hasattr(shared, name)}
    return {**functions, "Random": Random, "SystemRandom": SystemRandom}


def secrets_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `secrets`. The host knows the seed, and so every value."""
    copies_of(scene)["random"] = SimpleNamespace(**random_names(scene))
    return listed("secrets", copies_of(scene)["secrets"])


def uuid_names(scene: Scene) -> dict[str, Any]:
    """Return `uuid1` and `uuid4`, with the time and the seed of the execution."""
    source = scene.random

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        node = source.getrandbits(48) | 1 << 40 if node is None else node
        sequence = source.getrandbits(14) if clock_seq is None else clock_seq
        ticks = scene.clock.read_us() * 10 + 0x01B21DD213814000
        low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0x0FFF
        return uuid.UUID(fields=(low, middle, high, sequence >> 8 & 0x3F, sequence & 0xFF, node), version=1)

    return {"uuid1": uuid1, "uuid4": lambda: uuid.UUID(int=source.getrandbits(128), version=4)}
