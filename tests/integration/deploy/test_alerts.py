"""`deploy/prometheus.yaml` and `deploy/alerts.yaml`, read and tested by promtool; the runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tests.integration.deploy.running import DEPLOY, program

if TYPE_CHECKING:
    from collections.abc import Iterator


def promtool(*arguments: str, folder: Path) -> str:
    ended = subprocess.run([program("promtool"), *arguments], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_prometheus_reads_its_configuration(tmp_path: Path) -> None:
    key = tmp_path / "metrics_key"
    key.write_text("a-key", encoding="utf-8")
    text = (DEPLOY / "prometheus.yaml").read_text(encoding="utf-8").replace("/run/secrets/metrics_key", str(key))
    (tmp_path / "prometheus.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "alerts.yaml").write_text((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert "10 rules found" in promtool("check", "config", "prometheus.yaml", folder=tmp_path)


def test_each_alert_fires_for_what_it_is_about(tmp_path: Path) -> None:
    for source, name in ((DEPLOY / "alerts.yaml", "rules.yaml"), (Path(__file__).parent / "alerts.yaml", "tests.yaml")):
        (tmp_path / name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    promtool("test", "rules", "tests.yaml", folder=tmp_path)


def alerts() -> Iterator[str]:
    for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"]:
        yield from (rule["alert"] for rule in group["rules"])


def test_the_runbook_has_a_section_for_each_alert() -> None:
    page = (DEPLOY.parent / "docs" / "how-to" / "runbook.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (Codemode\w+)$", page, re.MULTILINE) == [*alerts()]
