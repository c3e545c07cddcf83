"""The share of one server process in the limits of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.settings import LoadSettings, Settings, SourceSettings


def share_of(settings: Settings, count: int) -> Settings:
    """Return the settings of one of `count` processes: its part of each limit, rounded up.

    Rates stay whole if the processes share them in PostgreSQL.
    """
    rates = 1 if settings.has_shared_store else count
    load = _load_share(settings.server.load, count, rates)
    sandbox = settings.sandbox.model_copy(update={"workers": _part(settings.sandbox.workers, count)})
    return settings.model_copy(
        update={
            "server": settings.server.model_copy(update={"load": load, "processes": count}),
            "sandbox": sandbox,
            "sources": {name: _source_share(source, count, rates) for name, source in settings.sources.items()},
        }
    )


def _load_share(load: LoadSettings, count: int, rates: int) -> LoadSettings:
    changes: dict[str, int | float] = {
        "running": _part(load.running, count),
        "waiting": _part(load.waiting, count),
    }
    if load.per_key_running is not None:
        changes["per_key_running"] = _part(load.per_key_running, count)
    if load.per_key_rate_per_s is not None:
        changes["per_key_rate_per_s"] = load.per_key_rate_per_s / rates
    return load.model_copy(update=changes)


def _source_share(source: SourceSettings, count: int, rates: int) -> SourceSettings:
    changes: dict[str, int | float] = {"concurrency": _part(source.concurrency, count)}
    if source.rate_per_s is not None:
        changes["rate_per_s"] = source.rate_per_s / rates
    return source.model_copy(update=changes)


def _part(whole: int, count: int) -> int:
    return -(-whole // count)
