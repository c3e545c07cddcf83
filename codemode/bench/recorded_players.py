"""Players whose model is recorded, or replayed from a recording."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager, closing
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from codemode.bench.record import ModelRecorder, ModelReplay
from codemode.errors import ConfigurationError
from codemode.serving.agent.models import model_of
from codemode.settings import Secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from codemode.bench.players import Player
    from codemode.bench.record import Models
    from codemode.bench.results import Key, Result
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentSettings


@runtime_checkable
class WithModel(Protocol):
    """A player that asks any `Model`. Players with a client of their own cannot be recorded."""

    def with_model(self, model: Model) -> Player:
        """Return a player with the same settings and another model."""
        ...


@asynccontextmanager
async def models_of(
    settings: AgentSettings, *, record: Path | None = None, replay: Path | None = None
) -> AsyncIterator[Models | None]:
    """Yield the models that are recorded or replayed, or None. Raises ConfigurationError."""
    if record is not None and replay is not None:
        raise ConfigurationError("--record and --replay exclude each other: a replayed run has the same turns")
    if replay is not None:
        yield ModelReplay(replay)
    elif record is not None:
        async with aclosing(model_of(settings.completed(), Secrets())) as model:
            with closing(ModelRecorder(record, model)) as recorder:
                yield recorder
    else:
        yield None


async def played(
    players: Sequence[Player],
    play: Callable[..., Awaitable[list[Result]]],
    settings: AgentSettings,
    *,
    record: Path | None = None,
    replay: Path | None = None,
) -> list[Result]:
    """Return the results of each player in turn, whose model is recorded or replayed if there is a file for it.

    `play` is `run_tasks` with all arguments but `player` and `player_of`. Raises ConfigurationError.
    """
    async with models_of(settings, record=record, replay=replay) as models:
        pairs = [(player, player_of(player, models)) for player in players]  # rejected before the first one plays
        return [result for player, of in pairs for result in await play(player, player_of=of)]


def player_of(player: Player, models: Models | None) -> Callable[[Key], Player]:
    """Return a function from the key of an attempt to its player.

    Raises ConfigurationError if the player cannot be recorded.
    """
    if models is None:
        return lambda _: player
    if not isinstance(player, WithModel):
        message = f"--record and --replay: the mode {player.mode} has a client of its own, which is not recorded"
        raise ConfigurationError(message)
    return lambda key: player.with_model(models.model_of(key))
