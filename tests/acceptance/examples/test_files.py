"""What the files of the examples say, without running them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from codemode.settings import load_settings

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


def test_the_list_names_every_example() -> None:
    listed = re.findall(r"\]\((.*)/README\.md\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())


#: The kind of `custom_source` and the plugin of `plugin` are known only where their packages are installed.
PACKAGES = {EXAMPLES / name / "codemode.yaml" for name in ("custom_source", "plugin")}
CONFIGURATIONS = sorted({*EXAMPLES.glob("*/codemode.yaml")} - PACKAGES)


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.parent.name)
def test_a_configuration_is_valid(file: Path) -> None:
    assert load_settings(file).sources


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads((EXAMPLES / "notebook" / "gym.ipynb").read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)


def test_the_containers_fit_the_image() -> None:
    compose = yaml.safe_load((EXAMPLES / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    server = compose["services"]["codemode"]
    _, _, port = server["ports"][0].rpartition(":")
    assert f"EXPOSE {port}" in dockerfile
    _, configuration, _ = server["volumes"][0].split(":")
    assert f'"--config", "{configuration}"' in dockerfile
    assert f"VOLUME {server['volumes'][1].rpartition(':')[2]}" in dockerfile
    settings = load_settings(EXAMPLES / "docker" / "codemode.yaml")
    assert {key.secret.env for key in settings.server.keys} <= server["environment"].keys()
    assert settings.sources["gym"].base_url == "http://gym:8137"
    assert "8137" in compose["services"]["gym"]["entrypoint"]


def test_docker_reads_the_compose_file() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("docker compose is not installed")
    command = [docker, "compose", "--file", str(EXAMPLES / "docker" / "compose.yaml"), "config", "--quiet"]
    checked = subprocess.run(command, env={"CODEMODE_API_KEY": "a-key"}, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
