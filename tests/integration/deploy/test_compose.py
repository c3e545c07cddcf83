"""`deploy/compose.yaml` and the files that it mounts, each read by the program that it is for."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from codemode.settings import load_settings
from tests.integration.deploy.running import DEPLOY, environment
from tests.integration.servers.running import program

DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The file as Docker Compose understands it: merged, with all names resolved."""
    folder = tmp_path_factory.mktemp("compose")
    command = [
        program("deploy", "docker-compose"),
        "--file",
        str(DEPLOY / "compose.yaml"),
        "config",
        "--format",
        "json",
    ]
    checked = subprocess.run(command, env=environment(folder), capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    found: dict[str, Any] = json.loads(checked.stdout)
    return found


def test_every_container_is_confined(composed: dict[str, Any]) -> None:
    for name, service in composed["services"].items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_images_have_a_version_and_secrets_are_in_no_file(composed: dict[str, Any]) -> None:
    for name, service in composed["services"].items():
        assert re.search(r":(v?\d+\.\d+|local$)", service["image"]), name
        assert not [key for key in service.get("environment", ()) if re.search("PASSWORD$|KEY$", key)], name
    ignored = [(DEPLOY.parent / name).read_text(encoding="utf-8") for name in (".gitignore", ".dockerignore")]
    for secret in composed["secrets"].values():
        assert Path(secret["file"]).parent == DEPLOY / "secrets"
        assert all("deploy/secrets" in text for text in ignored)


def test_a_server_gets_what_its_configuration_names(composed: dict[str, Any]) -> None:
    settings = load_settings(DEPLOY / "codemode.yaml")
    references = [settings.journal.url, settings.journal.key, *(key.secret for key in settings.server.keys)]
    wanted = {str(reference.file) for reference in references if not isinstance(reference, str | None)}
    for name in ("codemode-1", "codemode-2"):
        service = composed["services"][name]
        assert {f"/run/secrets/{secret['source']}" for secret in service["secrets"]} == wanted
        assert int(service["stop_grace_period"].removesuffix("s")) > settings.server.drain_s
        (seccomp,) = [option for option in service["security_opt"] if option.startswith("seccomp=")]
        assert (DEPLOY / seccomp.removeprefix("seccomp=")).exists()
    assert composed["services"]["codemode-1"]["build"]["args"]["EXTRAS"].split(",")[:2] == ["postgres", "telemetry"]
    assert "--uid 10001" in DOCKERFILE


def test_mounted_files_exist(composed: dict[str, Any]) -> None:
    mounts = [mount for service in composed["services"].values() for mount in service.get("volumes", ())]
    assert [mount["source"] for mount in mounts if mount["type"] == "bind" and not Path(mount["source"]).exists()] == []


def test_servers_of_the_balancer_and_of_prometheus_are_services(composed: dict[str, Any]) -> None:
    balancer = re.findall(r"presetenv CODEMODE_SERVER_\d (\S+):8080", (DEPLOY / "haproxy.cfg").read_text("utf-8"))
    jobs = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    (scraped,) = [job["static_configs"][0]["targets"] for job in jobs if job["job_name"] == "codemode"]
    assert [f"{name}:8080" for name in balancer] == scraped
    assert {*balancer} <= composed["services"].keys()


def test_secrets_are_made_once(tmp_path: Path) -> None:
    for _ in range(2):
        subprocess.run(["sh", str(DEPLOY / "secrets.sh"), str(tmp_path / "secrets")], check=True)
        made = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    assert len(made["api_key"]) == 64
    assert made["api_key"] != made["journal_key"]
    assert made["postgres_password"] in made["journal_url"]
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    declared = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["secrets"]
    assert made.keys() == declared.keys()
