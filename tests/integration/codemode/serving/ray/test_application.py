"""The Serve application: its options from the configuration, and the number of replicas. Ray itself does not run."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("ray", reason="ray is not installed: make servers")

from ray.serve.config import AutoscalingConfig

from codemode.serving.ray import CLOSING_S, METRIC, Replica, StartRefused, app, replicas_for

JOURNAL = {"url": "postgresql://host/database", "key": {"env": "JOURNAL_KEY"}}


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., str]:
    def write(**sections: Any) -> str:
        content = {"sources": {"shop": {"location": "python:shop"}}, "journal": JOURNAL, **sections}
        file = tmp_path / "codemode.yaml"
        file.write_text(json.dumps(content), encoding="utf-8")
        return str(file)

    return write


def test_the_options_follow_from_the_server_section(config: Callable[..., str]) -> None:
    load = {"running": 10, "waiting": 30}
    path = config(server={"load": load, "drain_s": 20})
    deployment = app({"check": False, "config": path, "min_replicas": "2", "max_replicas": "5"})._bound_deployment
    assert deployment.name == "codemode"
    assert deployment.max_ongoing_requests == 40
    assert deployment.max_queued_requests == 30
    assert deployment._deployment_config.graceful_shutdown_timeout_s == 20 + CLOSING_S
    scaling = deployment._deployment_config.autoscaling_config
    assert (scaling.min_replicas, scaling.max_replicas, scaling.target_ongoing_requests) == (2, 5, 5)
    assert scaling.policy.policy_function == "codemode.serving.ray:replicas_for"


def test_the_configuration_may_be_named_by_a_variable(
    config: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEMODE_CONFIG", config(server={"load": {"running": 7, "waiting": 0}}))
    assert app({"check": False})._bound_deployment.max_ongoing_requests == 7


@pytest.mark.parametrize("journal", [{}, {**JOURNAL, "enabled": False}])
def test_a_journal_that_replicas_cannot_share_is_refused(config: Callable[..., str], journal: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"needs a journal in PostgreSQL.*set `journal: \{url: "):
        app({"config": config(journal=journal)})


def test_an_unknown_argument_is_refused_with_the_nearest_one(config: Callable[..., str]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        app({"config": config(), "min_replica": 2})
    assert "unknown argument 'min_replica'; did you mean 'min_replicas'? valid: config, " in str(refused.value)
    with pytest.raises(ConfigurationError, match="max_replicas: Input should be"):
        app({"config": config(), "max_replicas": 0})


def test_what_would_keep_every_replica_from_starting_is_refused_at_once_with_one_line(
    config: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JOURNAL_KEY", "short")
    with pytest.raises(StartRefused, match=r"journal\.key: the secret has 5 characters") as refused:
        app({"config": config()})
    refused.value.show()
    assert capsys.readouterr().err.splitlines() == [f"Error: {refused.value}"]
    assert refused.value.exit_code == 2
    monkeypatch.setenv("JOURNAL_KEY", "the key of all replicas")
    keys = {"keys": [{"env": "KEY_THAT_IS_NOT_SET"}]}
    with pytest.raises(StartRefused, match=r"server\.keys\.0: .*the environment variable KEY_THAT_IS_NOT_SET is empty"):
        app({"config": config(server=keys)})


@pytest.mark.skipif(programs() is None, reason="initdb and pg_ctl are not here: the distribution's package postgresql")
async def test_a_replica_without_a_key_does_not_start(
    config: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Replica, "__del__")  # Ray awaits it, and the collector cannot
    (tmp_path / "secret").write_text("the key of all replicas")
    with cluster() as url:
        path = config(
            name="on-ray", journal={"url": url, "key": {"file": str(tmp_path / "secret")}}, state_folder=str(tmp_path)
        )
        with pytest.raises(ConfigurationError, match=r"needs a key.*`codemode keys create`"):
            await Replica(path).__serve_build_asgi_app__()
    assert not [thread for thread in threading.enumerate() if thread.name == "codemode-shared"]


@dataclass
class Context:
    """The facts that Ray gives to a policy."""

    executions: dict[str, float]
    total_queued_requests: float | None = None
    config: AutoscalingConfig = field(default_factory=lambda: AutoscalingConfig(target_ongoing_requests=16))

    @property
    def aggregated_metrics(self) -> dict[str, dict[str, float]] | None:
        return {METRIC: self.executions} if self.executions else None


@pytest.mark.parametrize(
    ("executions", "queued", "replicas"),
    [({}, None, 0), ({"a": 8.0}, 0.0, 0.5), ({"a": 30.0, "b": 10.0}, 8.0, 3)],
    ids=["no reports yet", "half a replica", "three replicas with the queue of the proxies"],
)
def test_replicas_follow_the_executions_under_way(
    executions: dict[str, float], queued: float | None, replicas: float
) -> None:
    wanted, state = replicas_for(Context(executions, queued))
    assert (wanted, state) == (replicas, {})
