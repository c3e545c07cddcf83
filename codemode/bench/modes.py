"""The modes in which a model can play: those of the agent, and the code modes of peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from codemode.bench.clone import member_of, names_of
from codemode.bench.players import AgentPlayer, GoldPlayer, IdlePlayer
from codemode.errors import ConfigurationError
from codemode.settings import AgentMode
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.players import Player
    from codemode.settings import AgentSettings

#: The file of each peer in a clone.
PEERS = names_of("peers")

#: Players that need no model, by the name that stands in its place.
WITHOUT_MODEL: dict[str, type[GoldPlayer | IdlePlayer]] = {"gold": GoldPlayer, "idle": IdlePlayer}

MODES: tuple[str, ...] = (*get_args(AgentMode), *PEERS)


def chosen_players(settings: AgentSettings, modes: str) -> Sequence[Player]:
    """Return a player for each of the modes, which are separated by commas. The models `gold` and `idle` are none.

    Raises ConfigurationError for an unknown mode, a peer that is not installed, and if no model is configured.
    """
    chosen = list(dict.fromkeys(one.strip() for one in modes.split(",")))
    unknown = next((one for one in chosen if one not in MODES), None)
    if unknown is not None:
        near = did_you_mean(unknown, MODES) or f"; the modes are {', '.join(MODES)}"
        message = f"--mode: there is no mode {unknown!r}{near}"
        raise ConfigurationError(message)
    if settings.model in WITHOUT_MODEL:
        if chosen != ["code"]:
            message = f"--model {settings.model} asks no model: it has --mode code only"
            raise ConfigurationError(message)
        return [WITHOUT_MODEL[settings.model]()]
    completed = settings.completed()
    return [_peer(one, completed) if one in PEERS else _agent(one, completed) for one in chosen]


def _agent(mode: str, settings: AgentSettings) -> AgentPlayer:
    return AgentPlayer(settings.model_copy(update={"mode": mode}))


def _peer(name: str, settings: AgentSettings) -> Player:
    player: Player = member_of(PEERS[name], "player")(settings)
    return player
