"""`random`, `secrets` and `uuid`: all draw from the seed of the execution, so that a run can be repeated."""

from __future__ import annotations

import base64
import hmac
import random
import uuid
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.copying import COPIED
from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.guest.names.scene import Scene

_FUNCTIONS = """
    random uniform triangular randint choice randrange sample shuffle choices normalvariate lognormvariate expovariate
    vonmisesvariate gammavariate gauss binomialvariate betavariate paretovariate weibullvariate getstate setstate
    getrandbits randbytes seed
"""


def _random(scene: Scene) -> dict[str, Any]:
    kind = generator_class(scene.random)
    shared = kind(scene.random.getrandbits(128))
    names = {name: getattr(shared, name) for name in _FUNCTIONS.split() if hasattr(shared, name)}
    return {**names, "Random": kind, "SystemRandom": _system_random(kind)}


def _system_random(kind: type[random.Random]) -> type[random.Random]:
    """Make `SystemRandom`, which no seed changes: it draws from the execution."""

    @handed_out
    class SystemRandom(kind):  # type: ignore[misc, valid-type]
        def __init__(self, x: Any = None) -> None:
            super().__init__()

        def seed(self, *args: Any) -> None:
            super().seed()

    SystemRandom.__module__, SystemRandom.__qualname__ = "random", "SystemRandom"
    return SystemRandom


def generator_class(source: random.Random) -> type[random.Random]:
    """Make a `random.Random` that takes its seed from the execution where the program gives none."""

    @handed_out
    class Random(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(source.getrandbits(128) if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(source.getrandbits(128) if a is None else a, version)

    Random.__module__, Random.__qualname__ = "random", "Random"
    BASES.add(Random)
    COPIED.add(Random)
    return Random


def _secrets(scene: Scene) -> dict[str, Any]:
    source = scene.random

    def token_bytes(nbytes: int | None = None) -> bytes:
        return source.randbytes(32 if nbytes is None else nbytes)

    def token_hex(nbytes: int | None = None) -> str:
        return token_bytes(nbytes).hex()

    def token_urlsafe(nbytes: int | None = None) -> str:
        return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode()

    def randbelow(exclusive_upper_bound: int) -> int:
        if exclusive_upper_bound <= 0:
            raise ValueError("Upper bound must be positive.")
        return source.randrange(exclusive_upper_bound)

    def choice(sequence: Sequence[Any]) -> Any:
        return source.choice(sequence)

    return {
        "token_bytes": token_bytes,
        "token_hex": token_hex,
        "token_urlsafe": token_urlsafe,
        "randbelow": randbelow,
        "randbits": lambda k: source.getrandbits(k),
        "choice": choice,
        "compare_digest": hmac.compare_digest,
        "SystemRandom": _system_random(generator_class(source)),
    }


def _uuid(scene: Scene) -> dict[str, Any]:
    source = scene.random

    def uuid4() -> uuid.UUID:
        return uuid.UUID(int=source.getrandbits(128), version=4)

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        node = source.getrandbits(48) | 1 << 40 if node is None else node
        clock_seq = source.getrandbits(14) if clock_seq is None else clock_seq
        ticks = scene.clock.read_us() * 10 + 0x01B21DD213814000
        fields = (
            ticks & 0xFFFFFFFF,
            ticks >> 32 & 0xFFFF,
            ticks >> 48 & 0x0FFF,
            clock_seq >> 8 & 0x3F,
            clock_seq & 0xFF,
        )
        return uuid.UUID(fields=(*fields, node), version=1)

    names = ("UUID", "uuid3", "uuid5", "NAMESPACE_DNS", "NAMESPACE_URL", "NAMESPACE_OID", "NAMESPACE_X500", "SafeUUID")
    return {**{name: getattr(uuid, name) for name in names}, "uuid4": uuid4, "uuid1": uuid1}


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {"random": _random, "secrets": _secrets, "uuid": _uuid}
