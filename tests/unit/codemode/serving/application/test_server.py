"""What a reload applies, and what waits for a restart."""

from __future__ import annotations

from codemode.serving.application.server import _waiting_for_restart
from codemode.settings import Settings


def waiting(before: dict[str, object], after: dict[str, object]) -> list[str]:
    return sorted(_waiting_for_restart(Settings.model_validate(before), Settings.model_validate(after)))


def test_changes_that_a_reload_does_not_apply_are_named_by_their_keys() -> None:
    after = {
        "server": {"keys": [{"env": "OTHER"}], "port": 1},
        "limits": {"wall_s": 5},
        "plugins": [],
        "state_folder": "x",
        "continuations": {"key": {"env": "K"}},
    }
    expected = ["continuations", "limits.wall_s", "server.keys", "server.port", "state_folder"]
    assert waiting({"server": {"keys": [{"env": "KEY"}]}}, after) == expected


def test_sources_policy_and_menus_are_applied() -> None:
    after = {
        "sources": {"gym": {"location": "gym.json"}},
        "policy": {"default": {"read": "ask"}},
        "menu": {"record_usage": False},
        "mcp_servers": ["x.json"],
    }
    assert waiting({}, after) == []
