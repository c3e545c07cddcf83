"""The mode of a request: the rules of the configuration, a default, and what the request asks for."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeVar, get_args

from codemode.errors import CodeModeError
from codemode.settings import AgentMode, ModeName
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.gateway.caller_view import Visible
    from codemode.settings import ModeRuleSettings

MODES: tuple[ModeName, ...] = get_args(ModeName)
AGENT_MODES: tuple[AgentMode, ...] = get_args(AgentMode)

#: Returns the tools that a role may use, None while the sources are unread.
Sees = Callable[[str], "Visible | None"]

M = TypeVar("M", ModeName, AgentMode)


def _nothing_known(_: str) -> Visible | None:
    """Return None: the sources are unread."""
    return None


class ModeRejected(CodeModeError):
    """The request asks for an unknown mode, for another mode than an enforced one, or for too many tools."""

    code = "mode_rejected"


def mode_of(
    rules: Iterable[ModeRuleSettings],
    default: ModeName,
    *,
    role: str,
    clients: Sequence[str] = (),
    wanted: str = "",
    sees: Sees = _nothing_known,
) -> ModeName:
    """Return the mode of a request. The first rule that matches decides, else `default`; `wanted` overrides both.

    `clients` are the names of the client; a rule matches one of them. `sees` returns the tools of a role. Raises
    ModeRejected.
    """
    rule = next((rule for rule in rules if _matches(rule, role, clients, "", sees)), None)
    return _chosen(rule, default, wanted, MODES)


def mode_of_agent(
    rules: Iterable[ModeRuleSettings],
    default: AgentMode,
    *,
    role: str,
    model: str,
    wanted: str = "",
    sees: Sees = _nothing_known,
) -> AgentMode:
    """Return the mode of an agent with a model of this name. See `mode_of`. Raises ModeRejected."""
    rule = next((rule for rule in rules if _matches(rule, role, (), model, sees)), None)
    return _chosen(rule, default, wanted, AGENT_MODES)


def _chosen(rule: ModeRuleSettings | None, default: M, wanted: str, modes: Sequence[M]) -> M:
    mode = next((one for one in modes if rule is not None and one == rule.mode), default)
    if not wanted:
        return mode
    known = next((one for one in modes if one == wanted), None)
    if known is None:
        message = f"there is no mode {wanted!r}; modes: {', '.join(modes)}{did_you_mean(wanted, modes)}"
        raise ModeRejected(message)
    if rule is not None and rule.enforced and known != mode:
        message = f"the mode {wanted} is not allowed here: the operator's configuration enforces {mode}"
        raise ModeRejected(message)
    return known


def native_tools(catalog: Catalog, most: int) -> list[Tool]:
    """Return all tools for the mode `native`, by id. Raises ModeRejected if there are more than `most`."""
    if len(catalog) > most:
        message = (
            f"the mode native would list {len(catalog):,} tools, and `native_tools` allows {most:,}: use the mode "
            "code, hybrid or menu, or give the role fewer tools (`policy`)"
        )
        raise ModeRejected(message)
    return sorted(catalog, key=lambda tool: tool.id)


def depends_on_tools(rules: Iterable[ModeRuleSettings]) -> bool:
    """Return whether a rule matches by the tools that a caller may use, so that the sources must have been read."""
    return any(rule.most_tools is not None or rule.sources for rule in rules)


def _matches(rule: ModeRuleSettings, role: str, clients: Sequence[str], model: str, sees: Sees) -> bool:
    is_role = not rule.roles or role in rule.roles
    return is_role and _fit(rule.clients, clients) and _fit(rule.models, (model,)) and _fit_tools(rule, role, sees)


def _fit_tools(rule: ModeRuleSettings, role: str, sees: Sees) -> bool:
    if not depends_on_tools((rule,)):
        return True
    visible = sees(role)
    if visible is None:
        return False
    is_few = rule.most_tools is None or visible.tools <= rule.most_tools
    return is_few and (not rule.sources or visible.sources <= set(rule.sources))


def _fit(patterns: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether a pattern matches a name. Without patterns, everything matches; an empty name matches none."""
    return not patterns or any(name and fnmatchcase(name.lower(), one.lower()) for name in names for one in patterns)
