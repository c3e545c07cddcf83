"""Calls the hooks of the plugins, and keeps their failures out of the records."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

from codemode.executions.plugins.plugin import Approved, CallAnswer, Plugin, Rejected
from codemode.executions.plugins.values import answer_of, call_of, shown_call_of, with_value
from codemode.shared.foreign_code import ForeignExit, await_contained, call_contained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.call import JudgedCall, ToolOutcome

log = logging.getLogger(__name__)

#: Characters of a plugin's reason that reach the program and the ledger.
_REASON_CHARACTERS = 300

_FAILED = "the plugin failed; the operator finds the place in the log"


class Hooks:
    """The hooks of plugins, in order. A plugin is called only for the hooks that it overrides.

    No exception of a plugin leaves these methods. It is logged by its type and place, as its message may hold secrets.
    """

    def __init__(self, plugins: Iterable[Plugin] = ()) -> None:
        self.plugins = tuple(plugins)
        self._before = self._overriding("before_call")
        self._after = self._overriding("after_call")
        self._approvers = self._overriding("answer_approval")
        self._formatters = self._overriding("format_result")

    async def before(self, judged: JudgedCall) -> JudgedCall:
        """Return an allowed call unchanged, or denied by the first plugin that refuses it or fails."""
        for plugin in self._before:
            try:
                reason = await await_contained(plugin.before_call(call_of(judged)))
                _require(reason, str)
            except Exception as error:  # noqa: BLE001 -- a plugin may raise anything
                _log(plugin, "before_call", error)
                reason = _FAILED
            if reason is not None:
                return judged.denied(_name(plugin), reason[:_REASON_CHARACTERS])
        return judged

    async def after(self, judged: JudgedCall, outcome: ToolOutcome, note: Callable[[str], None]) -> ToolOutcome:
        """Return the outcome of a sent call, with the value of the last plugin that replaced it.

        If a plugin fails, `note` receives a text for the outcome of the execution.
        """
        for plugin in self._after:
            answer = answer_of(outcome)
            try:
                replaced = await await_contained(plugin.after_call(call_of(judged), answer))
                _require(replaced, CallAnswer)
                if replaced is not None and replaced.value is not answer.value:
                    outcome = with_value(outcome, replaced.value)
            except Exception as error:  # noqa: BLE001 -- a plugin may raise anything
                _log(plugin, "after_call", error)
                note(f"{_name(plugin)} failed after a call of {outcome.tool}, so it did not change the answer")
        return outcome

    async def approval(self, judged: JudgedCall) -> tuple[str, Approved | Rejected] | None:
        """Return who answers a pending call and the answer, or None if a person must decide."""
        for plugin in self._approvers:
            try:
                answer = await await_contained(plugin.answer_approval(shown_call_of(judged)))
                _require(answer, Approved, Rejected)
            except Exception as error:  # noqa: BLE001 -- a plugin may raise anything
                _log(plugin, "answer_approval", error)
                continue
            if isinstance(answer, Rejected):
                return _name(plugin), Rejected(answer.reason[:_REASON_CHARACTERS])
            if answer is not None and judged.ruling is not None and judged.ruling.low_risk:
                return _approver(plugin, answer), answer
            if answer is not None:
                log.warning("%s may not approve %s: its rule is not low_risk", _name(plugin), judged.call.tool)
        return None

    def text(self, outcome: ExecutionOutcome, text: str) -> str:
        """Return the text that a model reads of an outcome. `text` is the default."""
        for plugin in self._formatters:
            try:
                formatted = call_contained(plugin.format_result, outcome, text)
                _require(formatted, str)
                text = formatted or text
            except Exception as error:  # noqa: BLE001 -- a plugin may raise anything
                _log(plugin, "format_result", error)
        return text

    @property
    def identity(self) -> str:
        """The names and versions of the plugins. A recorded execution is continued under the same ones."""
        return ", ".join(f"{plugin.name} {plugin.version}".rstrip() for plugin in self.plugins) or "none"

    async def aclose(self) -> None:
        """Close the plugins, the last one first."""
        for plugin in reversed(self.plugins):
            try:
                await await_contained(plugin.aclose())
            except Exception as error:  # noqa: BLE001 -- a plugin may raise anything
                _log(plugin, "aclose", error)

    def _overriding(self, hook: str) -> tuple[Plugin, ...]:
        return tuple(plugin for plugin in self.plugins if overrides(plugin, hook))


#: The hooks of no plugins.
NO_HOOKS = Hooks()


def overrides(plugin: Plugin, hook: str) -> bool:
    """Return whether a plugin implements a hook."""
    return getattr(type(plugin), hook) is not getattr(Plugin, hook)


def _require(answer: object, *kinds: type) -> None:
    """Raise TypeError unless the answer of a hook is None or of one of these classes."""
    if answer is not None and not isinstance(answer, kinds):
        message = f"expected {' or '.join(kind.__name__ for kind in kinds)} or None, not {type(answer).__name__}"
        raise TypeError(message)


def _name(plugin: Plugin) -> str:
    return f"{plugin.kind} {plugin.name}"


def _approver(plugin: Plugin, answer: Approved) -> str:
    """Return who approved a call, with the reason."""
    return f"{_name(plugin)}: {answer.reason[:_REASON_CHARACTERS]}" if answer.reason else _name(plugin)


def _log(plugin: Plugin, hook: str, error: Exception) -> None:
    """Log a failure by the type and the place of its exception."""
    cause = error.error if isinstance(error, ForeignExit) else error
    place = traceback.extract_tb(cause.__traceback__ or error.__traceback__)[-1]
    log.error(
        "%s failed in %s: %s at %s, line %s", _name(plugin), hook, type(cause).__name__, place.filename, place.lineno
    )
