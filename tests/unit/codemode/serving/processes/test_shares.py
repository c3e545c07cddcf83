"""The share of one server process in the limits of the server."""

from __future__ import annotations

from codemode.serving.processes.shares import share_of
from codemode.settings import Settings


def test_a_process_gets_its_part_of_each_limit_rounded_up() -> None:
    settings = Settings.model_validate(
        {
            "sources": {"gym": {"location": "gym.json", "concurrency": 5, "rate_per_s": 10}},
            "server": {"load": {"running": 9, "waiting": 0, "per_key_running": 1, "per_key_rate_per_s": 5}},
            "sandbox": {"workers": 3},
        }
    )
    share = share_of(settings, 2)
    assert share.server.processes == 2
    assert share.server.load.model_dump() == settings.server.load.model_dump() | {
        "running": 5,
        "waiting": 0,
        "per_key_running": 1,
        "per_key_rate_per_s": 2.5,
    }
    assert (share.sources["gym"].concurrency, share.sources["gym"].rate_per_s) == (3, 5)
    assert share.sandbox.workers == 2


def test_processes_on_one_postgresql_share_rates_as_they_are() -> None:
    settings = Settings.model_validate(
        {
            "sources": {"gym": {"location": "gym.json", "rate_per_s": 10}},
            "server": {"load": {"running": 8, "per_key_rate_per_s": 5}},
            "journal": {"url": "postgresql:///journal"},
        }
    )
    share = share_of(settings, 2)
    assert (share.server.load.running, share.server.load.per_key_rate_per_s) == (4, 5)
    assert share.sources["gym"].rate_per_s == 10


def test_a_limit_that_is_not_set_stays_unset() -> None:
    share = share_of(Settings.model_validate({"sources": {"gym": {"location": "gym.json"}}}), 2)
    assert share.server.load.per_key_running is None
    assert share.server.load.per_key_rate_per_s is None
    assert share.sources["gym"].rate_per_s is None
