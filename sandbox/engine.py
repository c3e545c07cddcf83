"""`Engine`: what runs programs. `Sandbox` and `MontySandbox` are engines, and pass one contract suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from sandbox.host.arguments import Preflight
    from sandbox.host.calls import CallHandler
    from sandbox.host.recording import Recording
    from sandbox.limits import Limits
    from sandbox.outcome import Outcome
    from sandbox.protocol.strict_json import JsonValue


class Engine(Protocol):
    """Runs programs, and passes their calls to a handler. `sandbox.Sandbox` documents the arguments."""

    @property
    def isolation(self) -> Mapping[str, str]:
        """The state of each isolation layer that this engine can use; `"in force"` at the start, or what is missing."""
        ...

    async def start(self) -> None:
        """Start what programs need. Raises SandboxUnavailable if this machine lacks it."""
        ...

    async def aclose(self) -> None:
        """End all processes of the engine."""
        ...

    async def run(
        self,
        code: str,
        *,
        names: Collection[str] = ...,
        call: CallHandler | None = ...,
        preflight: Preflight | None = ...,
        seed: bytes | None = ...,
        now: datetime | None = ...,
        limits: Limits | None = ...,
        inputs: Mapping[str, JsonValue] = ...,
        recording: Recording | None = ...,
        uncounted_s: Callable[[], float] = ...,
    ) -> Outcome:
        """Run one program and return its outcome. No action of the program raises here."""
        ...
