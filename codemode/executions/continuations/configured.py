"""The continuations that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.continuations.continuations import Continuations
from codemode.executions.continuations.seal import Sealer, SealingKey
from codemode.executions.continuations.used import Used

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from codemode.executions.life.programs import Programs
    from codemode.settings import Secrets, Settings
    from codemode.shared.values import ValueStore


def continuations_of(
    settings: Settings,
    secrets: Secrets,
    programs: Programs,
    approvers: Callable[[], Collection[str]],
    store: ValueStore,
) -> Continuations | None:
    """Return the continuations of these settings, None without them.

    Raises ConfigurationError for a missing or short key.
    """
    wanted = settings.continuations
    if wanted is None:
        return None
    keys = [SealingKey(secrets.text(one)) for one in (wanted.key, *wanted.old_keys)]
    sealer = Sealer(keys, settings.project, expires_s=wanted.expires_s, limit_bytes=wanted.limit_bytes)
    return Continuations(sealer, programs, settings.journal, settings.project, approvers, Used(store))
