"""Load the configured plugins from their entry points, and check their hooks."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from importlib.metadata import entry_points
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, EnvironmentIncomplete, WrongArgument
from codemode.executions.plugins.hooks import NO_HOOKS, Hooks, overrides
from codemode.executions.plugins.plugin import Plugin
from codemode.settings import PLUGINS_GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.settings import PluginSettings

log = logging.getLogger(__name__)

#: The hooks that are coroutine functions, and all hooks.
_AWAITED = ("before_call", "after_call", "answer_approval")
_HOOKS = (*_AWAITED, "format_result")

#: The similarity (0 to 1) from which a method is a misspelt hook.
_SLIP = 0.85


def load_hooks(
    named: Sequence[PluginSettings],
    given: Sequence[Plugin] = (),
    *,
    first: Sequence[Plugin] = (),
    last: Sequence[Plugin] = (),
) -> Hooks:
    """Return the hooks of the named plugins, then those of the given ones; `first` and `last` are around them.

    Raises ConfigurationError for a plugin that cannot be loaded, has no hook, or a wrong one; EnvironmentIncomplete if
    a package is missing; WrongArgument if a given object is no Plugin.
    """
    if not (named or given or first or last):
        return NO_HOOKS
    for plugin in given:
        WrongArgument.unless(plugin, Plugin, "plugins", "derive its class from codemode.Plugin")
        plugin.name = plugin.name or type(plugin).__name__
    plugins = [*map(_loaded, named), *given]
    names = [plugin.name for plugin in plugins]
    for plugin in plugins:
        _check(plugin)
        if names.count(plugin.name) > 1:
            message = f"plugins: {plugin.name!r} is named twice"
            raise ConfigurationError(message)
    hooks = Hooks((*first, *plugins, *last))
    log.info("plugins: %s", hooks.identity)
    return hooks


def _loaded(settings: PluginSettings) -> Plugin:
    """Create a plugin. Only a ConfigurationError keeps its message, as that of another may hold secrets."""
    name = settings.name
    found = tuple(entry_points(group=PLUGINS_GROUP, name=name))
    if len(found) != 1:
        message = f"plugins: {len(found)} installed packages register {name!r}; keep one of them"
        raise ConfigurationError(message)
    (entry_point,) = found
    try:
        plugin = entry_point.load()(settings.options)
    except ConfigurationError as error:
        message = f"plugins: {name}: {error}"
        raise ConfigurationError(message) from error
    except ImportError as error:
        message = f"plugins: {name} cannot be imported: {error}"
        raise EnvironmentIncomplete(message) from error
    except Exception as error:
        message = f"plugins: {name} cannot be loaded from {entry_point.value}: it raised {type(error).__name__}"
        raise ConfigurationError(message) from error
    if not isinstance(plugin, Plugin):
        message = f"plugins: {name}: {entry_point.value} is no subclass of codemode.Plugin"
        raise ConfigurationError(message)
    plugin.name = name
    plugin.version = entry_point.dist.version if entry_point.dist is not None else ""
    return plugin


def _check(plugin: Plugin) -> None:
    """Raise ConfigurationError for a plugin without hooks, or with a misspelt or synchronous one."""
    for name in sorted(vars(type(plugin)).keys() - vars(Plugin).keys()):
        for hook in get_close_matches(name, _HOOKS, n=1, cutoff=_SLIP):
            message = f"plugins: {plugin.name} has {name!r}, which is no hook; did you mean {hook!r}?"
            raise ConfigurationError(message)
    for hook in _AWAITED:
        if overrides(plugin, hook) and not iscoroutinefunction(getattr(plugin, hook)):
            message = f"plugins: {plugin.name}.{hook} must be a coroutine function: `async def {hook}`"
            raise ConfigurationError(message)
    if not any(overrides(plugin, hook) for hook in _HOOKS):
        message = f"plugins: {plugin.name} implements no hook; valid: {', '.join(_HOOKS)}"
        raise ConfigurationError(message)
