"""What a caller hands to `Sandbox`, looked at before anything is started: what is wrong, and what fits there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

SEED_BYTES = 32


def check_settings(*, limits: Any, workers: Any, running: Any, require: Any, compiled_bytes: Any) -> None:
    """Look at the arguments of `Sandbox`. Raises TypeError, ValueError."""
    check_limits(limits)
    for name, value, least in (("workers", workers, 0), ("running", running, 1), ("compiled_bytes", compiled_bytes, 0)):
        if not isinstance(value, int) or value < least:
            message = f"{name}={value!r}: a whole number is expected, {least} or more"
            raise ValueError(message)
    _check_words("require", require, '("seccomp",)')


def check_limits(limits: Any) -> None:
    """Raise TypeError for what are no limits."""
    if limits is not None and not isinstance(limits, Limits):
        message = f"limits={limits!r}: expected sandbox.Limits, as in Limits(wall_s=5)"
        raise TypeError(message)


def check_program(code: Any, *, names: Any, inputs: Mapping[Any, Any], call: Any, seed: Any) -> None:
    """Look at the arguments of `Sandbox.run`. Raises TypeError, ValueError."""
    if not isinstance(code, str):
        message = f"code is a {type(code).__name__}, expected str: the text of a program"
        raise TypeError(message)
    _check_words("names", names, '("shop",)')
    if call is not None and not callable(call):
        message = f"call={call!r}: expected an async function that takes a Call and returns the answer"
        raise TypeError(message)
    if seed is not None and (not isinstance(seed, bytes) or len(seed) != SEED_BYTES):
        what = f"{len(seed)} bytes" if isinstance(seed, bytes) else type(seed).__name__
        message = f"seed is {what}, expected {SEED_BYTES} bytes, as os.urandom({SEED_BYTES}) gives them"
        raise ValueError(message)
    for name in inputs:
        if not (isinstance(name, str) and name.isidentifier()):
            message = f"inputs: {name!r} is no name that a program can write; expected an identifier, as in basket"
            raise ValueError(message)


def _check_words(argument: str, value: Any, example: str) -> None:
    """Refuse one text where several are expected: its letters would be taken for them."""
    if isinstance(value, str):
        message = f"{argument}={value!r} is one text, expected a collection of them, as in {argument}={example}"
        raise TypeError(message)
