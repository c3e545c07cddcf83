"""Players whose model is recorded, or replayed from a recording."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from codemode.bench.players import AgentPlayer
from codemode.bench.record import ModelRecorder, ModelReplay
from codemode.errors import ConfigurationError
from codemode.serving.agent.models import model_of
from codemode.settings import Secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from codemode.bench.players import Player
    from codemode.bench.record import Models
    from codemode.bench.results import Key
    from codemode.settings import AgentSettings


@asynccontextmanager
async def players_of(
    settings: AgentSettings, *, record: Path | None = None, replay: Path | None = None
) -> AsyncIterator[Callable[[Key], Player] | None]:
    """Yield what returns the player of each attempt; None if nothing is recorded or replayed.

    Raises ConfigurationError.
    """
    if record is not None and replay is not None:
        raise ConfigurationError("--record and --replay exclude each other: a replayed run has the same turns")
    if replay is not None:
        yield _players(settings, ModelReplay(replay))
    elif record is not None:
        complete = settings.completed()
        model = model_of(complete, Secrets())
        try:
            yield _players(complete, ModelRecorder(record, model))
        finally:
            await model.aclose()
    else:
        yield None


def _players(settings: AgentSettings, models: Models) -> Callable[[Key], Player]:
    return lambda key: AgentPlayer(settings, models.model_of(key))
