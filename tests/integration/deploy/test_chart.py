"""`deploy/helm/codemode`, installed by Helm into a cluster that records: objects match the schemas of Kubernetes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from codemode import __version__
from codemode.observing.metrics import MetricsObserver
from codemode.settings import Settings, load_settings
from tests.integration.deploy.running import DEPLOY, environment
from tests.integration.servers.running import program

CHART = DEPLOY / "helm" / "codemode"
GYM = {"gym": {"location": "https://gym.example/openapi.json", "base_url": "https://gym.example"}}
ONE = {"config": {"sources": GYM}, "secret": {"existing": "ours"}}
TENANTS = {
    **ONE,
    "tenants": {
        "acme": {
            "replicas": 3,
            "secret": {
                "existing": "",
                "data": {"api_key": "a", "journal_url": "postgresql://acme", "journal_key": "j"},
            },
            "ingress": {"enabled": True, "host": "acme.example.com"},
            "runtimeClassName": "gvisor",
        },
        "globex": {"config": {"server": {"drain_s": 120}}, "secret": {"existing": "of-globex"}},
    },
}

Objects = dict[tuple[str, str], Any]


def helm(values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    command = [program("deploy", "python"), str(Path(__file__).parent / "render_chart.py"), str(CHART)]
    return subprocess.run(
        command, input=json.dumps(values), env=environment(Path("/nowhere")), capture_output=True, text=True
    )


def objects(**values: Any) -> Objects:
    """Return the objects of the chart by kind and name."""
    ended = helm(values)
    assert ended.returncode == 0, ended.stderr
    return {(each["kind"], each["metadata"]["name"]): each for each in json.loads(ended.stdout)}


def refusal(**values: Any) -> str:
    """Return what Helm says of these values."""
    ended = helm(values)
    assert ended.returncode == 1, ended.stdout
    return ended.stderr


def configured(found: Objects, name: str, folder: Path) -> Settings:
    file = folder / f"{name}.yaml"
    file.write_text(found["ConfigMap", name]["data"]["codemode.yaml"], encoding="utf-8")
    return load_settings(file)


def pod(found: Objects, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = found["Deployment", name]["spec"]["template"]["spec"]
    return spec


@pytest.fixture(scope="module")
def one() -> Objects:
    return objects(**ONE)


def test_a_release_is_two_servers_that_nothing_else_can_reach_out_of(one: Objects, tmp_path: Path) -> None:
    kinds = {"ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"}
    assert one.keys() == {(kind, "cm") for kind in kinds}
    assert one["Deployment", "cm"]["spec"]["replicas"] == 2
    settings = configured(one, "cm", tmp_path)
    assert settings.name == "cm"
    assert "namespaces" in settings.sandbox.require
    (dns,) = one["NetworkPolicy", "cm"]["spec"]["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}


def test_a_pod_is_confined_and_keeps_nothing(one: Objects) -> None:
    spec = pod(one, "cm")
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "Localhost", "localhostProfile": "codemode.json"}
    assert not spec["automountServiceAccountToken"]
    confined = container["securityContext"]
    assert confined["readOnlyRootFilesystem"]
    assert not confined["allowPrivilegeEscalation"]
    assert confined["capabilities"] == {"drop": ["ALL"]}
    assert {kind for volume in spec["volumes"] for kind in volume} == {"name", "configMap", "secret", "emptyDir"}


def test_a_pod_has_the_time_to_drain(one: Objects, tmp_path: Path) -> None:
    spec = pod(one, "cm")
    (_, pause_s) = spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    drain_s = configured(one, "cm", tmp_path).server.drain_s
    assert spec["terminationGracePeriodSeconds"] > int(pause_s) + drain_s


def test_each_tenant_has_servers_a_secret_and_a_name_of_its_own(tmp_path: Path) -> None:
    found = objects(**TENANTS)
    assert {name for kind, name in found if kind == "Deployment"} == {"cm-acme", "cm-globex"}
    assert {name for kind, name in found if kind == "NetworkPolicy"} == {"cm-acme", "cm-globex"}
    assert [configured(found, f"cm-{name}", tmp_path).name for name in ("acme", "globex")] == ["acme", "globex"]
    secrets = {name: pod(found, name)["volumes"][1]["secret"]["secretName"] for name in ("cm-acme", "cm-globex")}
    assert secrets == {"cm-acme": "cm-acme", "cm-globex": "of-globex"}
    assert found["Secret", "cm-acme"]["stringData"]["journal_url"] == "postgresql://acme"
    assert ("Secret", "cm-globex") not in found
    assert found["Deployment", "cm-acme"]["spec"]["replicas"] == 3
    assert pod(found, "cm-acme")["runtimeClassName"] == "gvisor"
    assert "runtimeClassName" not in pod(found, "cm-globex")
    assert found["Ingress", "cm-acme"]["spec"]["rules"][0]["host"] == "acme.example.com"
    assert pod(found, "cm-globex")["terminationGracePeriodSeconds"] == 135
    selectors = [found["Service", name]["spec"]["selector"] for name in ("cm-acme", "cm-globex")]
    assert selectors[0] != selectors[1]


def test_pods_are_scaled_by_a_metric_that_servers_report() -> None:
    scaled = {"enabled": True, "executions": 20}
    database = {"to": [{"podSelector": {"matchLabels": {"app": "postgres"}}}]}
    apis = [{"to": [{"ipBlock": {"cidr": "203.0.113.0/24"}}], "ports": [{"port": 443}]}]
    policy = {"database": database, "egress": apis}
    found = objects(**ONE, autoscaling=scaled, networkPolicy=policy, seccomp={"install": True})
    assert "replicas" not in found["Deployment", "cm"]["spec"]
    by_executions, by_processor = found["HorizontalPodAutoscaler", "cm"]["spec"]["metrics"]
    assert f"{by_executions['pods']['metric']['name']} 0.0" in MetricsObserver().text()[0].decode()
    assert by_processor["resource"]["target"]["averageUtilization"] == 70
    _, to_database, to_apis = found["NetworkPolicy", "cm"]["spec"]["egress"]
    assert to_database["ports"] == [{"port": 5432}]
    assert to_apis == apis[0]
    assert found["ConfigMap", "cm-seccomp"]["data"]["codemode.json"] == (DEPLOY / "seccomp.json").read_text("utf-8")
    assert ("DaemonSet", "cm-seccomp") in found


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"config": {"sources": GYM}}, "cm: set secret.existing to a Secret with api_key, journal_url and journal_key"),
        ({"secret": {"existing": "ours"}}, "cm: config.sources is empty: add an API"),
        ({**ONE, "replica": 3}, "additional properties 'replica' not allowed"),
        ({**ONE, "tenants": {"acme": {"replicas": 0}}}, "/tenants/acme/replicas"),
        (
            {**TENANTS, "config": {"sources": GYM, "name": "shop"}},
            "cm: config.name would be that of all tenants: remove it, or set it in tenants.NAME.config",
        ),
    ],
)
def test_a_mistake_in_the_values_is_named(values: dict[str, Any], message: str) -> None:
    assert message in refusal(**values)


def test_the_chart_is_of_this_version_and_has_the_profile() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"] == __version__
    assert (CHART / "files" / "seccomp.json").read_text("utf-8") == (DEPLOY / "seccomp.json").read_text("utf-8")
