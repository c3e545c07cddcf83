"""Any API surface as two tools for a model: `search`, and `execute` in a sandbox.

    from codemode import CodeMode

    async with CodeMode.from_config("codemode.yaml") as cm:
        print((await cm.search("freeze a membership")).text)

The names are imported when they are first used, so that importing one module of the package costs only that module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.catalog.tool import Effect, Tool
    from codemode.errors import (
        CallError,
        CodeModeError,
        ConfigurationError,
        ExecutionError,
        ExecutionFailed,
        SourceError,
        ToolNotFound,
        UpstreamError,
    )
    from codemode.executions.plugins.plugin import Approved, CallAnswer, Plugin, PluginCall, Rejected
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.promotion import Promotion
    from codemode.executions.types.records import Decision
    from codemode.features.plans.plans import Plans
    from codemode.features.saved.saved import SavedPrograms
    from codemode.gateway.caller import Caller
    from codemode.model.answer import Answer
    from codemode.model.tools import ModelTools
    from codemode.search.result import SearchAnswer
    from codemode.service import CodeMode
    from codemode.serving.application.mounted import app
    from codemode.serving.synchronous import SyncCodeMode
    from codemode.settings import SecretReference, Settings
    from codemode.sources.custom import CustomSource
    from codemode.sources.functions.callables import tool
    from codemode.sources.toolkits.source import bind
    from codemode.transports.base import CallContext

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "Approved",
    "CallAnswer",
    "CallContext",
    "CallError",
    "Caller",
    "CodeMode",
    "CodeModeError",
    "ConfigurationError",
    "CustomSource",
    "Decision",
    "Effect",
    "ExecutionError",
    "ExecutionFailed",
    "ExecutionOutcome",
    "ModelTools",
    "Plans",
    "Plugin",
    "PluginCall",
    "Promotion",
    "Rejected",
    "SavedPrograms",
    "SearchAnswer",
    "SecretReference",
    "Settings",
    "SourceError",
    "SyncCodeMode",
    "Tool",
    "ToolNotFound",
    "UpstreamError",
    "__version__",
    "app",
    "bind",
    "tool",
]

_HOME = {
    **dict.fromkeys(
        ("Approved", "CallAnswer", "Plugin", "PluginCall", "Rejected"), "codemode.executions.plugins.plugin"
    ),
    "Answer": "codemode.model.answer",
    "CallContext": "codemode.transports.base",
    "Caller": "codemode.gateway.caller",
    "CodeMode": "codemode.service",
    "CustomSource": "codemode.sources.custom",
    "Decision": "codemode.executions.types.records",
    "Effect": "codemode.catalog.tool",
    "ExecutionOutcome": "codemode.executions.types.outcome",
    "ModelTools": "codemode.model.tools",
    "Plans": "codemode.features.plans.plans",
    "Promotion": "codemode.executions.types.promotion",
    "SavedPrograms": "codemode.features.saved.saved",
    "SearchAnswer": "codemode.search.result",
    "SecretReference": "codemode.settings",
    "Settings": "codemode.settings",
    "SyncCodeMode": "codemode.serving.synchronous",
    "Tool": "codemode.catalog.tool",
    "app": "codemode.serving.application.mounted",
    "bind": "codemode.sources.toolkits.source",
    "tool": "codemode.sources.functions.callables",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module 'codemode' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOME.get(name, "codemode.errors")), name)


def __dir__() -> list[str]:
    return __all__
