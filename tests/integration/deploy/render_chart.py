"""Install a chart with Helm into a cluster that only records, and print the objects.

    python render_chart.py CHART < VALUES

Runs in the environment `.venv-servers/deploy`. Helm comes as a library that has `install` but no `template`. So a
server answers as the API server of Kubernetes does to a first installation: discovery, 404 for what is asked, 201 for
what is made.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import helm_sdkpy
import kubernetes_validate

RELEASE, NAMESPACE = "cm", "tests"
#: The versions of Kubernetes whose schemas the objects must match.
VERSIONS = ("1.30", "1.34")

_JSON = "application/json"

#: Kinds by group and version, with the name in URLs.
_KINDS = {
    "v1": {"ConfigMap": "configmaps", "Secret": "secrets", "Service": "services", "Namespace": "namespaces"},
    "apps/v1": {"Deployment": "deployments", "DaemonSet": "daemonsets"},
    "autoscaling/v2": {"HorizontalPodAutoscaler": "horizontalpodautoscalers"},
    "networking.k8s.io/v1": {"Ingress": "ingresses", "NetworkPolicy": "networkpolicies"},
    "policy/v1": {"PodDisruptionBudget": "poddisruptionbudgets"},
}


def _discovery() -> dict[str, Any]:
    """Return the answers about the kinds that the cluster has, by path."""
    groups = []
    answers: dict[str, Any] = {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
    }
    for version, kinds in _KINDS.items():
        verbs = ["create", "delete", "get", "list", "patch", "update"]
        resources = [
            {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}
            for kind, name in kinds.items()
        ]
        listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
        group, slash, number = version.partition("/")
        answers[f"/apis/{version}" if slash else f"/api/{version}"] = listed
        if slash:
            one = {"groupVersion": version, "version": number}
            groups.append({"name": group, "versions": [one], "preferredVersion": one})
    answers["/apis"] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    return answers


class Cluster(ThreadingHTTPServer):
    """The objects that were made, in order, but for the record that Helm keeps of the release."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.discovery = _discovery()
        self.objects: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Cluster

    def do_GET(self) -> None:
        """Answer discovery, an empty list, or that there is no such object."""
        path = urlsplit(self.path).path
        if path in self.server.discovery:
            self._answer(200, self.server.discovery[path])
        elif path.endswith("/secrets"):
            self._answer(200, {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []})
        else:
            failed = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            self._answer(404, failed)

    def do_POST(self) -> None:
        """Make an object. Only Helm's own record of the release comes as a protocol buffer."""
        made = self._body()
        if self.headers["Content-Type"] == _JSON:
            self.server.objects.append(json.loads(made))
        self._send(201, made, self.headers["Content-Type"])

    def do_PUT(self) -> None:
        """Take a changed record of the release."""
        self._send(200, self._body(), self.headers["Content-Type"])

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        self._send(status, json.dumps(content).encode(), _JSON)

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _kubeconfig(port: int) -> str:
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}
    users = [{"name": "u", "user": {}}]
    whole = {"clusters": [cluster], "contexts": [context], "users": users, "current-context": "c"}
    return json.dumps({"apiVersion": "v1", "kind": "Config", **whole})


def installed(chart: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of the chart. Raises the errors of Helm."""
    cluster = Cluster()
    threading.Thread(target=cluster.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kubeconfig")
        file.write_text(_kubeconfig(cluster.server_port), encoding="utf-8")
        with helm_sdkpy.Configuration(namespace=NAMESPACE, kubeconfig=str(file)) as configuration:
            asyncio.run(helm_sdkpy.Install(configuration).run(RELEASE, chart, values=values, wait=False))
    return cluster.objects


def main() -> None:
    """Print the objects as JSON, or the error and exit with 1."""
    try:
        objects = installed(sys.argv[1], json.load(sys.stdin))
    except helm_sdkpy.HelmError as error:
        sys.exit(f"{error}")
    for each in objects:
        for version in VERSIONS:
            kubernetes_validate.validate(each, version, strict=True)
    sys.stdout.write(json.dumps(objects))


if __name__ == "__main__":
    main()
