"""`deploy/kuberay.yaml`: its pods by the schemas of Kubernetes, its Serve configuration by that of Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from codemode.settings import SecretReference, load_settings

pytest.importorskip("ray", reason="ray is not installed: make servers")

import kubernetes_validate
import ray
from ray.serve.schema import ServeDeploySchema

from codemode.serving.ray import Arguments

MANIFEST = Path(__file__).parents[5] / "deploy" / "kuberay.yaml"

#: Fields of `RayService` (ray.io/v1) that the manifest may have, by the CRD of KubeRay.
FIELDS = {
    "spec": {"excludeHeadPodFromServeSvc", "rayClusterConfig", "serveConfigV2"},
    "cluster": {"authOptions", "enableInTreeAutoscaling", "headGroupSpec", "rayVersion", "workerGroupSpecs"},
    "head": {"rayStartParams", "template"},
    "workers": {"groupName", "maxReplicas", "minReplicas", "rayStartParams", "replicas", "template"},
}


@pytest.fixture
def documents() -> tuple[dict[str, Any], dict[str, Any]]:
    configuration, service = yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))
    return configuration, service


def groups(service: dict[str, Any]) -> list[dict[str, Any]]:
    cluster = service["spec"]["rayClusterConfig"]
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


def test_pods_and_configuration_are_valid(documents: tuple[dict[str, Any], dict[str, Any]]) -> None:
    configuration, service = documents
    kubernetes_validate.validate(configuration, "1.34", strict=True)
    for group in groups(service):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": group["template"]["spec"]}
        kubernetes_validate.validate(pod, "1.34", strict=True)


def test_the_service_has_the_fields_of_its_kind(documents: tuple[dict[str, Any], dict[str, Any]]) -> None:
    _, service = documents
    assert (service["apiVersion"], service["kind"]) == ("ray.io/v1", "RayService")
    head, *workers = groups(service)
    assert service["spec"].keys() <= FIELDS["spec"]
    assert service["spec"]["rayClusterConfig"].keys() <= FIELDS["cluster"]
    assert head.keys() <= FIELDS["head"]
    for group in workers:
        assert group.keys() <= FIELDS["workers"]
    for group in groups(service):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
    assert service["spec"]["rayClusterConfig"]["rayVersion"] == ray.__version__


def test_the_serve_configuration_is_valid_and_fits_the_workers(
    documents: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    _, service = documents
    serve = ServeDeploySchema.model_validate(yaml.safe_load(service["spec"]["serveConfigV2"]))
    (application,) = serve.applications
    assert application.import_path == "codemode.serving.ray:app"
    arguments = Arguments.model_validate(application.args)
    _, workers = groups(service)
    assert (arguments.min_replicas, arguments.max_replicas) == (workers["minReplicas"], workers["maxReplicas"])


def test_the_configuration_is_one_that_ray_serve_accepts(
    documents: tuple[dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    configuration, service = documents
    file = tmp_path / "codemode.yaml"
    file.write_text(configuration["data"]["codemode.yaml"], encoding="utf-8")
    settings = load_settings(file)
    references = [settings.server.keys[0].secret, settings.journal.url, settings.journal.key]
    named = {one.env for one in references if isinstance(one, SecretReference)}
    assert len(named) == 3
    for group in groups(service):
        (container,) = group["template"]["spec"]["containers"]
        assert named <= {variable["name"] for variable in container["env"]}
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounts == {"configuration": "/etc/codemode"}
