"""The interface of plugins: a base class whose methods are the hooks, and what they receive and return.

A plugin is trusted code. It runs in the host process with the host's rights, and never enters the sandbox.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.call import CallState


@dataclass(frozen=True, slots=True)
class PluginCall:
    """A call of a program, as hooks see it.

    - `execution`, `path`: the execution, and the call's position in the tree of the program's tasks.
    - `tool`, `effect`: the id of the tool, and `read`, `write` or `destructive`.
    - `arguments`: a copy of the validated arguments. They may hold secrets of the program.
    - `caller`, `role`: the id and the role of the caller.
    - `rule`, `reason`: the policy rule that decided on the call, and its configured reason.
    - `low_risk`: whether that rule lets a plugin approve the call.
    - `shown`: in `answer_approval`, the arguments without secrets.
    """

    execution: str
    path: str
    tool: str
    effect: str
    arguments: Mapping[str, Any] = field(repr=False)
    caller: str
    role: str
    rule: str = ""
    reason: str = ""
    low_risk: bool = False
    shown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """How a call that was sent has ended.

    - `state`: `committed` (a write) or `read`, `failed`, `unknown` (a write), or `not started`.
    - `value`: the answer as JSON data, None without one. It is the host's own value: return a copy to change it.
    - `error`: the message that the program receives, "" for a committed call.
    """

    state: CallState
    value: Any = field(default=None, repr=False)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Approved:
    """The answer of a plugin that approves a pending call. It counts only if the policy rule is `low_risk`.

    The ledger and the audit file hold the reason.
    """

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The answer of a plugin that rejects a pending call. The program receives the reason."""

    reason: str = ""


class Plugin:
    """Base class of plugins. Override the hooks that the plugin needs; the others cost nothing.

        class OfficeHours(Plugin):
            async def before_call(self, call):
                return "the office is closed" if call.effect != "read" and not is_open() else None

    The entry point in the group `codemode.plugins` is the class. `options` are the plugin's options in the
    configuration; a constructor that rejects them raises ConfigurationError. Plugins are called in the configured
    order. A hook is awaited on the event loop of the service, within the time limit of the execution.
    """

    #: The name in the configuration. A plugin that was passed to `CodeMode` is named after its class by default.
    name: str = ""

    #: What the ledger calls it before its name.
    kind: ClassVar[str] = "plugin"

    #: The version of the package that provides the plugin, if it was loaded from an entry point.
    version: str = ""

    def __init__(self, options: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.options = options

    async def before_call(self, call: PluginCall) -> str | None:
        """Return the reason to refuse a call that the policy allows, or None to let it pass.

        A refused call is recorded as denied, and nothing is sent. An exception refuses it as well. Calls that are
        answered from the record, or sent again after a crash, do not come here a second time.
        """
        return None

    async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
        """Return `answer` with another `value` for the program, or None to leave it.

        The new value is JSON data and is recorded, so a replay returns it without this hook. State and error cannot be
        changed. After an exception, the program receives the value as it was.
        """
        return None

    async def answer_approval(self, call: PluginCall) -> Approved | Rejected | None:
        """Answer a call that needs a person's approval, or return None to leave it to a person.

        A rejection always counts, an approval only if `call.low_risk`. After an exception, a person decides.
        """
        return None

    def format_result(self, outcome: ExecutionOutcome, text: str) -> str:
        """Return the text that a model reads of an outcome. `text` is the default, or that of the previous plugin."""
        return text

    async def aclose(self) -> None:
        """Release resources when the service closes."""
