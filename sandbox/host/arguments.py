"""The arguments of `Sandbox` and `Sandbox.run`, checked before anything is started."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.limits import Limits
from sandbox.protocol.host_messages import encode_run, encode_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from sandbox.host.calls import CallHandler
    from sandbox.host.recording import Recording
    from sandbox.outcome import CallSite
    from sandbox.protocol.strict_json import JsonValue

    Preflight = Callable[[tuple[CallSite, ...]], Awaitable[None]]

SEED_BYTES = 32


def counted_whole() -> float:
    """Return 0: all of a program's time counts. The default for `uncounted_s`."""
    return 0.0


class Program(NamedTuple):
    """The arguments of `Sandbox.run` with defaults filled in. `source` comes from `encode_program`."""

    source: bytes
    limits: Limits
    seed: bytes
    now: int
    inputs: Mapping[str, JsonValue] = MappingProxyType({})
    call: CallHandler | None = None
    preflight: Preflight | None = None
    recording: Recording | None = None
    uncounted_s: Callable[[], float] = counted_whole

    def left_s(self, began: float, now: float) -> float:
        """Return the seconds of `wall_s` that are left of a program that began at a time."""
        return self.limits.wall_s + self.uncounted_s() - (now - began)

    def encode(self) -> bytes:
        """Return the first frames to send. Raises InvalidJson or TypeError for inputs that are not JSON data."""
        return encode_run(
            self.source,
            seed=self.seed,
            now=self.now,
            limits=self.limits,
            inputs=self.inputs,
            asks=self.preflight is not None,
        )


def check_inputs(inputs: Mapping[str, Any]) -> None:
    """Raise ValueError or TypeError for inputs that a program cannot get: no JSON data, or nested too deeply."""
    encode_value(dict(inputs))


def check_settings(*, limits: Any, workers: Any, running: Any, require: Any, compiled_bytes: Any) -> None:
    """Check the arguments of `Sandbox`. Raises TypeError or ValueError."""
    check_limits(limits)
    for name, value, least in (("workers", workers, 0), ("running", running, 1), ("compiled_bytes", compiled_bytes, 0)):
        if not isinstance(value, int) or value < least:
            message = f"{name}={value!r}: expected an integer of at least {least}"
            raise ValueError(message)
    _check_words("require", require, '("seccomp",)')


def check_limits(limits: Any) -> None:
    """Raise TypeError unless `limits` is None or a Limits."""
    if limits is not None and not isinstance(limits, Limits):
        message = f"limits={limits!r}: expected sandbox.Limits, as in Limits(wall_s=5)"
        raise TypeError(message)


def check_program(code: Any, *, names: Any, inputs: Mapping[Any, Any], call: Any, seed: Any) -> None:
    """Check the arguments of `Sandbox.run`. Raises TypeError or ValueError."""
    if not isinstance(code, str):
        message = f"code is a {type(code).__name__}, expected str: the program's source"
        raise TypeError(message)
    _check_words("names", names, '("shop",)')
    if call is not None and not callable(call):
        message = f"call={call!r}: expected an async function that takes a Call and returns the answer"
        raise TypeError(message)
    if seed is not None and (not isinstance(seed, bytes) or len(seed) != SEED_BYTES):
        what = f"{len(seed)} bytes" if isinstance(seed, bytes) else type(seed).__name__
        message = f"seed is {what}, expected {SEED_BYTES} bytes, such as os.urandom({SEED_BYTES})"
        raise ValueError(message)
    for name in inputs:
        if not (isinstance(name, str) and name.isidentifier()):
            message = f"inputs: {name!r} is not an identifier; expected a name such as 'basket'"
            raise ValueError(message)


def _check_words(argument: str, value: Any, example: str) -> None:
    """Reject a single string, whose letters would be taken for names."""
    if isinstance(value, str):
        message = f"{argument}={value!r} is one string, expected a collection, as in {argument}={example}"
        raise TypeError(message)
