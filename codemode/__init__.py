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
    from codemode.errors import CodeModeError, ConfigurationError, SourceError, ToolNotFound
    from codemode.executions.execution import ExecutionOutcome
    from codemode.service import CodeMode
    from codemode.settings import Settings
    from codemode.sources.functions.callables import tool
    from codemode.sources.toolkits.source import bind

__version__ = "0.1.0"

__all__ = [
    "CodeMode",
    "CodeModeError",
    "ConfigurationError",
    "ExecutionOutcome",
    "Settings",
    "SourceError",
    "ToolNotFound",
    "__version__",
    "bind",
    "tool",
]

_HOME = {
    "CodeMode": "codemode.service",
    "ExecutionOutcome": "codemode.executions.execution",
    "Settings": "codemode.settings",
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
