"""Modes are named on the command line, and become players."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.modes import MODES, PEERS, chosen_players
from codemode.errors import ConfigurationError
from codemode.settings import AgentSettings

if TYPE_CHECKING:
    from pathlib import Path

MODEL = AgentSettings(model="m")


def test_each_mode_becomes_a_player_in_the_given_order() -> None:
    players = chosen_players(MODEL, "menu, code,native,menu")
    assert [(one.model, one.mode) for one in players] == [("m", "menu"), ("m", "code"), ("m", "native")]


@pytest.mark.parametrize("name", ["gold", "idle"])
def test_a_player_without_a_model_has_one_mode(name: str) -> None:
    (player,) = chosen_players(AgentSettings(model=name), "code")
    assert player.model == name
    with pytest.raises(ConfigurationError, match=f"--model {name} asks no model: it has --mode code only"):
        chosen_players(AgentSettings(model=name), "code,native")


def test_an_unknown_mode_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"no mode 'nativ'.*native"):
        chosen_players(MODEL, "code,nativ")
    with pytest.raises(ConfigurationError, match=f"the modes are {', '.join(MODES)}"):
        chosen_players(MODEL, "xyz")


def test_a_peer_that_is_not_installed_is_named_with_where_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "fastmcp.py"
    missing.write_text("import a_package_that_is_missing", encoding="utf-8")
    monkeypatch.setitem(PEERS, "fastmcp", missing)
    with pytest.raises(ConfigurationError, match=r"fastmcp .*a_package_that_is_missing.*docs/how-to/bench\.md"):
        chosen_players(MODEL, "fastmcp")
