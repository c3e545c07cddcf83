"""Run one Python program that nobody trusts, and carry its calls out to a callback.

    from sandbox import Sandbox

    async with Sandbox() as sandbox:
        outcome = await sandbox.run("sum(range(10))")

The names are imported when they are first used: a guest that starts must not load the host's modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.engine import Engine
    from sandbox.errors import CallFailed, ProgramRefused, ProgramStopped, SandboxError, SandboxUnavailable
    from sandbox.guest.language.readings import is_blank
    from sandbox.host.arguments import check_inputs
    from sandbox.host.launch import HASH_SEED
    from sandbox.host.layers import REMEDIES
    from sandbox.host.recording import Delivery, Recording
    from sandbox.host.sandbox import Sandbox
    from sandbox.limits import Limits
    from sandbox.monty.engine import MontySandbox
    from sandbox.outcome import Call, CallSite, Failure, JsonText, Outcome, Refusal, Status, Usage, value_of

__all__ = [
    "HASH_SEED",
    "REMEDIES",
    "Call",
    "CallFailed",
    "CallSite",
    "Delivery",
    "Engine",
    "Failure",
    "JsonText",
    "Limits",
    "MontySandbox",
    "Outcome",
    "ProgramRefused",
    "ProgramStopped",
    "Recording",
    "Refusal",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "Status",
    "Usage",
    "check_inputs",
    "is_blank",
    "value_of",
]

_HOME = {
    "HASH_SEED": "sandbox.host.launch",
    "REMEDIES": "sandbox.host.layers",
    "check_inputs": "sandbox.host.arguments",
    "is_blank": "sandbox.guest.language.readings",
    "Delivery": "sandbox.host.recording",
    "Recording": "sandbox.host.recording",
    "Sandbox": "sandbox.host.sandbox",
    "MontySandbox": "sandbox.monty.engine",
    "Engine": "sandbox.engine",
    "Limits": "sandbox.limits",
    "CallFailed": "sandbox.errors",
    "ProgramRefused": "sandbox.errors",
    "ProgramStopped": "sandbox.errors",
    "SandboxError": "sandbox.errors",
    "SandboxUnavailable": "sandbox.errors",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module 'sandbox' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_HOME.get(name, "sandbox.outcome")), name)


def __dir__() -> list[str]:
    return __all__
