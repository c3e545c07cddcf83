"""Load the configured reviewers, and put them in order around the plugins."""

from __future__ import annotations

from importlib import import_module
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError
from codemode.features.reviewers.reviewer import Reviewer
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from codemode.settings import ReviewerSettings, Settings


def load_reviewers(settings: Settings) -> tuple[list[Reviewer], list[Reviewer]]:
    """Return the configured reviewers: those that are asked before all plugins, and those that are asked after them.

    So no approval keeps a reviewer that only rejects from being asked. Raises ConfigurationError for a function that
    cannot be used.
    """
    reviewers = [Reviewer(one, _opinion(one)) for one in settings.reviewers]
    return [one for one in reviewers if not one.can_approve], [one for one in reviewers if one.can_approve]


def _opinion(settings: ReviewerSettings) -> Any:
    if settings.model is not None:
        from codemode.features.reviewers.model import ModelOpinion

        return ModelOpinion(settings.model)
    module_name, _, name = str(settings.function).partition(":")
    where = f"reviewers: {settings.name}: "
    try:
        module = import_module(module_name)
    except ImportError as error:
        message = f"{where}{module_name} cannot be imported: {error}"
        raise ConfigurationError(message) from error
    function = getattr(module, name, None)
    if function is None:
        message = f"{where}{module_name} has no function {name!r}{did_you_mean(name, dir(module))}"
        raise ConfigurationError(message)
    if not iscoroutinefunction(function):
        message = f"{where}{settings.function} must be a coroutine function: `async def {name}(call)`"
        raise ConfigurationError(message)
    return function
