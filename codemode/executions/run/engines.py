"""The configured engine: what runs programs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.executions.run.turns import MOST_RUNNING

if TYPE_CHECKING:
    from codemode.settings import SandboxSettings
    from sandbox import Engine, Limits


def engine_of(settings: SandboxSettings, limits: Limits) -> Engine:
    """Return the engine of these settings, not yet started. Raises ConfigurationError if its extra is missing."""
    if settings.engine == "process":
        from sandbox import Sandbox

        return Sandbox(limits=limits, workers=settings.workers, running=MOST_RUNNING, require=settings.require)
    try:
        from sandbox import MontySandbox
    except ModuleNotFoundError as error:
        if error.name != "pydantic_monty":
            raise
        message = "sandbox.engine is monty, which needs pydantic-monty: pip install codemode[monty]"
        raise ConfigurationError(message) from None
    return MontySandbox(limits=limits, workers=settings.workers, running=MOST_RUNNING)


def engine_name(settings: SandboxSettings) -> str:
    """Return the engine with its version, on which the behaviour of a program depends."""
    if settings.engine == "process":
        return settings.engine
    try:
        return f"{settings.engine} {version('pydantic-monty')}"
    except PackageNotFoundError:
        return settings.engine
